// A connection that is closed while its calls are under way.

import type { Sluice } from "../../src/index.ts";

const LONG_MS = 2_000;

/** What became of a call: its code, "nothing" if it was not refused, or "open" if it lasted on after the close. */
function outcomeOf(call: Promise<unknown>): Promise<string> {
  const open = new Promise<string>((resolve) => setTimeout(resolve, LONG_MS, "open"));
  const refusal = call.then(
    () => "nothing",
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );
  return Promise.race([refusal, open]);
}

/** Closes while somebody waits for the end of a task and a feed has just begun. Returns what became of the wait. */
export async function closedWhileWaiting(sluice: Sluice, id: string): Promise<string> {
  const waiting = sluice.ended(id);
  waiting.catch(() => {});
  await sluice.changes({}).begin();
  await sluice.close();
  return outcomeOf(waiting);
}

/** Closes in the same turn in which these calls begin. Returns what became of each. */
export async function closedAtOnce(
  sluice: Sluice,
  calls: readonly ((sluice: Sluice) => Promise<unknown>)[],
): Promise<string[]> {
  const made = calls.map((call) => call(sluice));
  for (const each of made) each.catch(() => {});
  await sluice.close();
  return Promise.all(made.map(outcomeOf));
}
