/** The steps of a run that are no longer pending. */
import type { Fan, FinalState, StepMove, StepSeen } from "../store.ts";
import { isLeft } from "./item.ts";
import type { StepRecord, Tables } from "./tables.ts";
import { pairKey } from "./tables.ts";

export const stepsOf = (tables: Tables, run: string): StepRecord[] =>
  tables.step.of(run).sort((a, b) => (a.name < b.name ? -1 : 1));

/** Writes a step. The fields about its items stay until a move replaces them. */
export function putStep(tables: Tables, run: string, { name, state, unit, body, fan }: StepMove): void {
  const known = fan ?? tables.step.get(pairKey(run, name));
  const { lane = null, total = null, created = null } = known ?? {};
  tables.step.put({ run, name, state, unit, body, lane, total, created });
}

/** The end of its unit and its remaining items matter only for an open step. */
export function stepSeen(tables: Tables, step: StepRecord): StepSeen {
  const { name, state, unit } = step;
  const fan = fanOf(step);
  const left = fan !== null && state === "open" && isLeft(tables, fan.lane);
  const body = state === "skipped" ? step.body : cancelledBody(tables, step);
  const answer = state === "open" ? tables.wait.get(pairKey(step.run, name))?.state : undefined;
  return {
    name,
    state,
    unit,
    body,
    ended: endedOf(tables, step),
    answer: answer ?? null,
    fan: fan && { ...fan, left },
  };
}

/** Who cancelled the unit of an open step. */
function cancelledBody(tables: Tables, { state, unit }: StepRecord): string | null {
  const outcome = state === "open" ? tables.outcome.get(unit ?? "") : undefined;
  return outcome?.state === "cancelled" ? outcome.body : null;
}

/** Null if the step is not over a list. */
export function fanOf({ lane, total, created }: StepRecord): Fan | null {
  return lane === null || total === null || created === null ? null : { lane, total, created };
}

export function endedOf(tables: Tables, { state, unit }: StepRecord): FinalState | null {
  const ended = state === "open" ? tables.outcome.get(unit ?? "")?.state : undefined;
  return ended ?? null;
}
