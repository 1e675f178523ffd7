/** What a gate's own row says, before its family is looked at. */
import { lineFrom } from "../../core/gate/gate.ts";
import type { Own } from "../family.ts";
import type { Row } from "../flow.ts";

export const ownGate = (row: Row): Own => ({
  limit: row.capacity === null ? null : Number(row.capacity),
  declared: row.declared === null ? null : Number(row.declared),
  setBy: row.set_by as string | null,
  paused: Number(row.paused) === 1,
  line: lineFrom(row.line as string),
  leaseMs: row.lease_ms === null ? null : Number(row.lease_ms),
});
