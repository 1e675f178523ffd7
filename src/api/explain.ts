/** Why does it wait? The same `admit` that the pass uses answers, on what the store shows at one instant. */
import { describe } from "../core/gate/describe.ts";
import { familyOf } from "../core/gate/key.ts";
import type { Reason } from "../core/gate/reason.ts";
import { eachFrontOnce } from "../core/gate/reason.ts";
import { remedies } from "../core/gate/remedy.ts";
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
  /** What would change it, the surest first; empty where only time or other work can. */
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
  /** Every gate in the way, and what else it waits for. Empty when nothing is: then it starts with the next pass. */
  readonly reasons: readonly Reason[];
  /** The same as sentences, each with what would change it. */
  readonly sentences: readonly Sentence[];
  /** What it waited for before, in order. */
  readonly waits: readonly Wait[];
}

export function explainWait(view: WaitView, replaced: readonly Replaced[] = []): Explanation {
  const { task, now } = view;
  // Who has its slots waits for no gate, only for its code to begin.
  const reasons = task.holds ? [] : reasonsOf(view).map((reason) => withReplaced(reason, replaced));
  return {
    id: task.id,
    name: task.name,
    queue: task.queue,
    state: task.state,
    ...told(reasons, now),
    waits: [],
  };
}

/** As data, a front that several reasons lead to is told once; sentences follow it wherever they need it. */
export function told(reasons: readonly Reason[], now: number): Told {
  return {
    reasons: eachFrontOnce(reasons),
    sentences: reasons.map((reason) => ({
      text: describe(reason, { now }),
      remedies: remedies(reason),
    })),
  };
}

/** A task that is put off does not stand in line; one that was put off stands there since it came due. */
export function timesInLine({ state, createdAt, since }: TaskRow, own: readonly EventRow[]): Stay[] {
  return staysOf(createdAt, own).flatMap((stay): Stay[] => {
    if (stay.until !== null) return [stay];
    return state === "waiting" ? [{ from: since, until: null }] : [];
  });
}

/** Whether it is worth asking what was declared once. */
export const isUnset = ({ reasons }: Explanation): boolean =>
  reasons.some((reason) => reason.kind === "unset" && reason.undeclared);

/** Nobody declares it: somebody may have, until a later deploy left it out. */
function withReplaced(reason: Reason, all: readonly Replaced[]): Reason {
  if (reason.kind !== "unset" || !reason.undeclared) return reason;
  const found = all.find(({ gate }) => gate === (familyOf(reason.gate) ?? reason.gate));
  if (!found) return reason;
  const { app, limit, at } = found;
  return { ...reason, replaced: { app, limit, at } };
}
