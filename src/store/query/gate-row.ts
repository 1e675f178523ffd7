/** A gate's own row, before its family is considered. */
import { lineFrom } from "../../core/gate/gate.ts";
import type { Own } from "../family.ts";
import type { Row } from "../row.ts";
import { flag, intOrNull, text, textOrNull } from "../row.ts";

export interface NamedGate {
  readonly key: string;
  readonly own: Own;
}

export const ownGate = (row: Row): Own => ({
  limit: intOrNull(row.capacity),
  declared: intOrNull(row.declared),
  setBy: textOrNull(row.set_by),
  paused: flag(row.paused),
  line: lineFrom(text(row.line)),
  leaseMs: intOrNull(row.lease_ms),
});
