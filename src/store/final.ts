import type { FinalState, TaskState } from "./store.ts";

const FINAL: ReadonlySet<TaskState> = new Set<FinalState>([
  "succeeded",
  "failed",
  "cancelled",
  "expired",
  "quarantined",
]);

/** Whether a task stays in this state unless an operator puts it back in line. */
export const isFinal = (state: TaskState): state is FinalState => FINAL.has(state);
