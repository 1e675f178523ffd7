/** Takes a unit from wherever it is and gives it an outcome: cancelled, failed, or the end of a run. */
import type { FinalState } from "../store.ts";
import type { MemoryEnding } from "./settle.ts";
import { finish } from "./settle.ts";
import { keepStopping } from "./stopping.ts";
import type { Tables } from "./tables.ts";

type Place = "waiting" | "later" | "claimed" | "running";

export interface WithdrawVerdict {
  readonly state: "succeeded" | "failed" | "cancelled";
  readonly body: string | null;
}

const KINDS = { succeeded: "TaskSucceeded", failed: "TaskFailed", cancelled: "TaskCancelled" } as const;

export const cancelledBy = (by: string): WithdrawVerdict => ({
  state: "cancelled",
  body: JSON.stringify({ by }),
});

/** Its place; undefined if it has an outcome. */
function placeOf(tables: Tables, id: string): Place | undefined {
  if (tables.waiting.has(id)) return "waiting";
  if (tables.later.has(id)) return "later";
  const [claim] = tables.running.of(id);
  if (!claim) return undefined;
  return claim.startedAt === null && !claim.held ? "claimed" : "running";
}

/**
 * Returns the unit's former place. A unit that has ended is left alone. A result is stored once, in the
 * outcome. A claim with its slots keeps them until its code has ended.
 */
export function withdraw(
  tables: Tables,
  now: number,
  id: string,
  verdict: WithdrawVerdict,
  holdsOn = true,
): Place | undefined {
  const place = placeOf(tables, id);
  const [claim] = tables.running.of(id);
  const unit: MemoryEnding | undefined = tables.waiting.get(id) ?? tables.later.get(id) ?? claim;
  if (!place || !unit) return undefined;
  const { state, body } = verdict;
  tables.waiting.delete(id);
  tables.later.delete(id);
  if (claim && holdsOn) keepStopping(tables, now, claim, state);
  if (claim) tables.running.delete(claim.epoch);
  finish(tables, now, unit, state satisfies FinalState, body);
  const data = state === "succeeded" ? null : body;
  tables.event.insert({ subject: id, n: unit.n + 1, kind: KINDS[state], at: now, data });
  return place;
}
