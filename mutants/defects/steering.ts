/** Errors by which code decides about its next attempt. */
import type { Defect } from "../defect.ts";

export const defects: readonly Defect[] = [
  {
    id: "when-answer-ignored",
    means: "a task is tried again although its retry.when says that it is no use",
    file: "src/executor/function/thrown.ts",
    from: "(await when(thrown)) !== false",
    to: "(await when(thrown)) !== undefined",
    noticedBy: { file: "src/executor/function/thrown.test.ts" },
  },
  {
    id: "when-not-awaited",
    means: "a retry.when that answers later is not heard",
    file: "src/executor/function/thrown.ts",
    from: "(await when(thrown)) !== false",
    to: "when(thrown) !== false",
    noticedBy: { file: "src/executor/function/thrown.test.ts" },
  },
  {
    id: "when-failure-decides",
    means: "a retry.when with a mistake in it takes all attempts from a task",
    file: "src/executor/function/thrown.ts",
    from: "{ error: storedError(error).message });\n    return true;",
    to: "{ error: storedError(error).message });\n    return false;",
    noticedBy: { file: "src/executor/function/thrown.test.ts" },
  },
  {
    id: "retry-after-lost-in-pod",
    means: "a pod's RetryAfter is taken for a damaged message",
    file: "src/executor/kubernetes/report.ts",
    from: "nextDueOf(next) !== undefined",
    to: "nextDueOf(next) === undefined",
    noticedBy: { file: "src/executor/kubernetes/report.test.ts" },
  },
  {
    id: "retry-after-ignored",
    means: "RetryAfter has no effect: the delay of the policy counts",
    file: "src/engine/worker/verdict.ts",
    from: ": ending.next;",
    to: ": undefined;",
    noticedBy: { file: "src/engine/worker/verdict.test.ts" },
  },
  {
    id: "retry-at-in-the-past",
    means: "RetryAfter with an instant that has passed makes a negative delay",
    file: "src/core/task/retry.ts",
    from: "Math.max(now, due.at)",
    to: "due.at",
    noticedBy: { file: "src/core/task/retry.test.ts" },
  },
];
