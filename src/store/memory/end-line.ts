/** Ends units that may not start any more, because an item or a step has failed. */
import { bodyOfStopped } from "../../core/run/fail-fast.ts";
import { HANDLES_FAILURE } from "../../core/unit-options.ts";
import { failureOf } from "../failure-of.ts";
import type { RunMove } from "../runs.ts";
import { RUNS } from "../runs.ts";
import type { News } from "../store.ts";
import { cutOff } from "./child.ts";
import { unitsOf } from "./item.ts";
import type { Tables } from "./tables.ts";
import { forgetTimers } from "./timer.ts";
import type { WithdrawVerdict } from "./withdraw.ts";
import { cancelledBy, withdraw } from "./withdraw.ts";

/** Cancels items that must not start any more. It leaves no news, because the caller knows. */
export function endItems(
  tables: Tables,
  now: number,
  run: string,
  { step, inFlight }: RunMove["endItems"][number],
): void {
  for (const { id } of unitsOf(tables, run, step)) {
    if (!inFlight) endUnstarted(tables, now, id, cancelledBy("onFailure"));
    else if (withdraw(tables, now, id, cancelledBy("onFailure")) !== undefined) cutOff(tables, id);
    if (tables.outcome.has(id)) forgetTimers(tables, id);
  }
}

/** Cancels the units of a run that have not started, except those that handle failures. */
export function endLine(tables: Tables, now: number, run: string, because: string): void {
  const verdict = { state: "cancelled", body: bodyOfStopped(because) } as const;
  for (const { id, options } of tables.task.all().filter((task) => task.run === run)) {
    if (options.includes(HANDLES_FAILURE) || attemptsOf(tables, id) > 0) continue;
    endUnstarted(tables, now, id, verdict);
    if (tables.outcome.has(id)) forgetTimers(tables, id);
  }
}

/** Ends what may no longer start after this failure. */
export function endStopped(tables: Tables, now: number, { run, failed, stops }: News): void {
  if (stops === undefined || failed === null) return;
  if (stops === "run") endLine(tables, now, run, failed);
  else endItems(tables, now, run, { step: failed, inFlight: false });
}

/** The same for a unit that did not succeed. */
export function endStoppedBy(tables: Tables, now: number, id: string): void {
  const news = failureOf(tables.task.get(id)?.options ?? "");
  if (news) endStopped(tables, now, news);
}

/** In line, delayed, prefetched, or admitted and not started, as a child run can be. Nothing of it runs. */
function endUnstarted(tables: Tables, now: number, id: string, verdict: WithdrawVerdict): void {
  const [claim] = tables.running.of(id);
  const waits = !claim || (claim.startedAt === null && (!claim.held || claim.session === RUNS));
  if (waits) withdraw(tables, now, id, verdict, false);
}

/** A prefetched claim counts an attempt that has not begun, and so does the claim of a child run. */
function attemptsOf(tables: Tables, id: string): number {
  const [claim] = tables.running.of(id);
  if (claim) return claim.session === RUNS ? 0 : claim.attempt - 1;
  return (tables.waiting.get(id) ?? tables.later.get(id))?.attempt ?? 0;
}
