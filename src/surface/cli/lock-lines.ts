/** The whole lines of the locks that something waits for. */
import type { LockWaiter } from "../../api/locks.ts";
import type { Sluice } from "../../api/sluice.ts";
import { gateTitle } from "../../core/gate/kind.ts";
import { isLock } from "../../core/gate/lock.ts";
import type { Reason } from "../../core/gate/reason.ts";
import { lineText } from "./locks.ts";
import { safe } from "./text.ts";

type Lines = Readonly<Record<string, readonly LockWaiter[]>>;

export async function linesOf(sluice: Sluice, reasons: readonly Reason[]): Promise<Lines> {
  const gates = reasons.flatMap((reason) => ("gate" in reason && isLock(reason.gate) ? [reason.gate] : []));
  const lines = await Promise.all(
    [...new Set(gates)].map(async (gate) => [gate, await sluice.locks.line(gate)] as const),
  );
  return Object.fromEntries(lines);
}

/** Nothing if there are none. */
export const sayLines = (lines: Lines, now: number): string[] =>
  Object.entries(lines).map(
    ([gate, line]) => `  The line of ${safe(gateTitle(gate))}:\n${indented(lineText(line, now))}`,
  );

const indented = (text: string): string => text.trimEnd().replace(/^/gm, "    ");
