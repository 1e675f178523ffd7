/** Ids that nothing in the store has. */
import { SluiceError } from "../core/error.ts";

export const unknownTask = (id: string): SluiceError =>
  new SluiceError("UNKNOWN_ID", `There is no task ${id} in this store.`, {
    remedies: [{ action: "listTasks" }],
  });

export const unknownRun = (id: string): SluiceError =>
  new SluiceError("UNKNOWN_ID", `There is no run ${id} in this store.`, {
    remedies: [{ action: "listRuns" }],
  });
