/**
 * Explains why a unit waits. The answer comes from the same `admit` that the pass uses, applied to what the
 * store shows at one instant.
 */
import { describe } from "../core/gate/describe.ts";
import { familyOf } from "../core/gate/key.ts";
import type { Reason } from "../core/gate/reason.ts";
import { eachFrontOnce } from "../core/gate/reason.ts";
import { remedies } from "../core/gate/remedy.ts";
import { shownName } from "../core/lock/request.ts";
import type { Remedy } from "../core/remedy.ts";
import type { Wait } from "../engine/claiming/wait.ts";
import { reasonsOf } from "../engine/claiming/wait.ts";
import type { Stay } from "../store/in-line.ts";
import { staysOf } from "../store/in-line.ts";
import type { EventRow, Replaced, TaskRow, TaskState, WaitView } from "../store/store.ts";

export type { Wait };

/** A reason in words. */
export interface Sentence {
  readonly text: string;
  /** Actions that would change it, the surest first. Empty if only time or other work can. */
  readonly remedies: readonly Remedy[];
}

/** Reasons as data and as sentences. */
export interface Told {
  readonly reasons: readonly Reason[];
  readonly sentences: readonly Sentence[];
}

export interface Explanation {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly state: TaskState;
  /** Every gate in the way, and anything else it waits for. If empty, it starts in the next pass. */
  readonly reasons: readonly Reason[];
  /** The same reasons as sentences, each with the actions that would change it. */
  readonly sentences: readonly Sentence[];
  /** Its earlier waits, in order. */
  readonly waits: readonly Wait[];
}

export function explainWait(view: WaitView, replaced: readonly Replaced[] = []): Explanation {
  const { task, now } = view;
  // A task that has its slots waits for no gate, only for its code to begin.
  const reasons = task.holds ? [] : reasonsOf(view).map((reason) => withReplaced(reason, replaced));
  return {
    id: task.id,
    name: shownName(task.name),
    queue: task.queue,
    state: task.state,
    ...told(reasons, now),
    waits: [],
  };
}

/**
 * In the data, a front that several reasons share appears once; the sentences repeat it wherever they need
 * it.
 */
export function told(reasons: readonly Reason[], now: number): Told {
  return {
    reasons: eachFrontOnce(reasons),
    sentences: reasons.map((reason) => ({
      text: describe(reason, { now }),
      remedies: remedies(reason),
    })),
  };
}

/** A delayed task is not in line. Once due, it has been in line since it came due. */
export function timesInLine({ state, createdAt, since }: TaskRow, own: readonly EventRow[]): Stay[] {
  return staysOf(createdAt, own).flatMap((stay): Stay[] => {
    if (stay.until !== null) return [stay];
    return state === "waiting" ? [{ from: since, until: null }] : [];
  });
}

/** Whether to ask the store which limits were declared before. */
export const isUnset = ({ reasons }: Explanation): boolean =>
  reasons.some((reason) => reason.kind === "unset" && reason.undeclared);

/** Adds the limit that an app declared for this gate before a later deploy left it out, if there was one. */
function withReplaced(reason: Reason, all: readonly Replaced[]): Reason {
  if (reason.kind !== "unset" || !reason.undeclared) return reason;
  const found = all.find(({ gate }) => gate === (familyOf(reason.gate) ?? reason.gate));
  if (!found) return reason;
  const { app, limit, at } = found;
  return { ...reason, replaced: { app, limit, at } };
}
