/**
 * The task that handles a failure. It is made here, next to the decision that a unit has failed, and written
 * in the transaction that records the failure: there is never the one without the other.
 */
import { askOf } from "../../core/gate/asks.ts";
import { endError } from "../../core/task/end-error.ts";
import type { Failure, FailureError } from "../../core/task/failure.ts";
import { storedOptions } from "../../core/unit-options.ts";
import { laneOf } from "../../store/lane.ts";
import type { LostRow, Moves, NewTask, View } from "../../store/store.ts";

/** A unit that has failed. */
interface Failing {
  readonly id: string;
  /** JSON text; empty if there is none. */
  readonly input: string | null;
  readonly options: string;
  readonly attempt: number;
}

interface HowItEnded {
  readonly to: string;
  /** JSON text of the error. */
  readonly body: string | null;
}

/** Undefined if the unit has not failed, or nobody handles its failures. */
export function handlerOf(unit: Failing, { to, body }: HowItEnded, newId: () => string): NewTask | undefined {
  if (to !== "failed" && to !== "quarantined") return undefined;
  const { onFailure } = storedOptions(unit.options);
  if (!onFailure) return undefined;
  const { task, queue, priority, asks, goodForMs, options } = onFailure;
  const lane = laneOf(queue, task, asks.map(askOf));
  const input = JSON.stringify(failureOf(unit, to, body));
  const never = { key: null, runAt: null, delayMs: null, goodUntil: null };
  return { id: newId(), name: task, priority, lane, input, options, goodForMs, ...never };
}

function failureOf(
  { id, input, options, attempt }: Failing,
  state: Failure["state"],
  body: string | null,
): Failure {
  const { onFailure, step } = storedOptions(options);
  return {
    kind: onFailure?.of.kind ?? "task",
    name: onFailure?.of.name ?? "",
    id,
    input: parsed(input),
    state,
    attempt,
    error: endError(state, parsed(body)) as FailureError,
    ...(step ? { run: step.run, step: step.name } : {}),
  };
}

/** A text that a damaged row holds must not keep the failure from being recorded. */
function parsed(text: string | null): unknown {
  if (text === null || text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The same report, with the task that handles it. */
export function withHandler<Report extends HowItEnded>(
  report: Report,
  unit: Failing,
  newId: () => string,
): Report & { readonly handler?: NewTask } {
  const handler = handlerOf(unit, report, newId);
  return handler ? { ...report, handler } : report;
}

/** The same for the units that a pass gives up. */
export function withHandlers(moves: Moves, view: View, newId: () => string): Moves {
  if (moves.recover.length === 0) return moves;
  const lost = new Map<string, LostRow>(view.lost.map((row) => [row.id, row]));
  const recover = moves.recover.map((each) => {
    const unit = lost.get(each.id);
    return unit ? withHandler(each, unit, newId) : each;
  });
  return { ...moves, recover };
}
