/** Errors for unknown IDs, and for calls that need an app if there is none. */
import type { App } from "../core/app/app.ts";
import { SluiceError } from "../core/error.ts";

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
