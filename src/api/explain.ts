/** Why does it wait? The same `admit` that the pass uses answers, on what the store shows at one instant. */
import { describe, remedy } from "../core/gate/describe.ts";
import type { Reason } from "../core/gate/reason.ts";
import { eachFrontOnce } from "../core/gate/reason.ts";
import type { Wait } from "../engine/claiming/wait.ts";
import { reasonsOf } from "../engine/claiming/wait.ts";
import type { TaskState, WaitView } from "../store/store.ts";

export type { Wait };

export interface Explanation {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly state: TaskState;
  /** Every gate in the way, and what else it waits for. Empty when nothing is: then it starts with the next pass. */
  readonly reasons: readonly Reason[];
  /** The same as sentences, each with the command that would change it. */
  readonly sentences: readonly { readonly text: string; readonly remedy?: string | undefined }[];
  /** What it waited for before, in order. */
  readonly waits: readonly Wait[];
}

export function explainWait(view: WaitView): Explanation {
  const { task, now } = view;
  const reasons = reasonsOf(view);
  return {
    id: task.id,
    name: task.name,
    queue: task.queue,
    state: task.state,
    // As data, a front that several reasons lead to is told once; sentences follow it wherever they need it.
    reasons: eachFrontOnce(reasons),
    sentences: reasons.map((reason) => ({ text: describe(reason, { now }), remedy: remedy(reason) })),
    waits: [],
  };
}
