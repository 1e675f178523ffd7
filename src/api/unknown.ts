/** Errors for unknown IDs, for tasks that cannot be repeated, and for calls that need an app if there is none. */
import type { App } from "../core/app/app.ts";
import { SluiceError } from "../core/error.ts";
import type { TaskRow } from "../store/store.ts";

export const unknownTask = (id: string): SluiceError =>
  new SluiceError("UNKNOWN_ID", `There is no task ${id} in this store.`, {
    remedies: [{ action: "listTasks" }],
  });

export const unknownRun = (id: string): SluiceError =>
  new SluiceError("UNKNOWN_ID", `There is no run ${id} in this store.`, {
    remedies: [{ action: "listRuns" }],
  });

/** Returns the app that was connected, or throws. `what` begins the message: "To enqueue". */
export function neededApp(app: App | undefined, what: string): App {
  if (app) return app;
  throw new SluiceError("NO_APP", `${what}, you need an app: connect({ app }).`);
}

/** A step or a run is repeated with a rerun of its whole tree, so that the steps after it run too. */
export function notRetried({ id, state }: TaskRow, root: string | undefined): SluiceError {
  if (root === undefined)
    return new SluiceError(
      "NOT_FINISHED",
      `task ${id} is ${state}; only a finished task can be put back in line.`,
    );
  const what = root === id ? "a run" : `a step of run ${root}`;
  return new SluiceError("PART_OF_A_RUN", `${id} is ${what}.`, {
    remedies: [{ action: "rerun", run: root }],
  });
}
