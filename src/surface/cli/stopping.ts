/**
 * Describes code that should have ended: where it runs, since when, and that its slots stay held until it
 * ends.
 */
import type { StoppingView } from "../../api/stopping.ts";
import { sayStopping } from "../../core/gate/describe.ts";
import { safe } from "./text.ts";

/** "its code still runs on worker w1, stopping for 3s (cancelled)". For a run, it names the step. */
function stillRuns({ step, item, worker, ...stopping }: StoppingView, now: number): string {
  const which = item === null ? "" : `, item ${item},`;
  const whose = step === null ? "its code" : `the code of step ${safe(step)}${which}`;
  const where = worker === null ? " on a worker that is gone" : ` on worker ${safe(worker)}`;
  return `${whose} still runs${where}, ${sayStopping(stopping, now)}`;
}

/** For a task, or for the steps of a run. A run itself has no code. */
export const stoppingLines = (all: readonly StoppingView[], now: number): string[] =>
  all
    .filter(({ kind }) => kind === "task")
    .map((each) => `${stillRuns(each, now)}; its slots are freed when it ends`);
