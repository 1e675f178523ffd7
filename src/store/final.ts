import type { FinalState, TaskState } from "./store.ts";

const FINAL: ReadonlySet<TaskState> = new Set<FinalState>([
  "succeeded",
  "failed",
  "cancelled",
  "expired",
  "quarantined",
]);

/** Whether a task stays in this state unless somebody puts it back in line by hand. */
export const isFinal = (state: TaskState): state is FinalState => FINAL.has(state);
