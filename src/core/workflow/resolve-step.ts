/** A planned step that calls a task, with every default filled in. */
import { APP_DEFAULTS } from "../app/app.ts";
import { asksFor, storedAsk } from "../gate/asks.ts";
import type { AnyTask } from "../task/definition.ts";
import { storedHandler } from "../task/handler.ts";
import { retryPolicy } from "../task/retry.ts";
import type { Duration } from "../time.ts";
import { parseDuration } from "../time.ts";
import type { PlannedEach } from "./each.ts";
import type { GraphEach, TaskStep } from "./graph.ts";
import { lockField, locksOfTask } from "./locks.ts";
import type { PlannedTask } from "./steps.ts";

/** The step's own options come first, then those of its task. */
export function taskStep(
  { name, input, each, needs, when, options, locks }: PlannedTask,
  task: AnyTask,
): Omit<TaskStep, "gate" | "pod"> {
  const handler = storedHandler(task.onFailure, { kind: "task", name: task.id });
  const pools = options.pools ?? (typeof task.pools === "function" ? {} : task.pools);
  return {
    name,
    task: task.id,
    queue: options.queue ?? task.queue ?? APP_DEFAULTS.queue,
    priority: options.priority ?? task.priority ?? null,
    input,
    each: each && eachOf(each),
    needs,
    when,
    asks: asksFor({ pools }, "").map(storedAsk),
    ...lockField([...locksOfTask(task), ...(locks ?? [])]),
    retry: retryPolicy(options.retry ?? task.retry),
    timeoutMs: millis(options.timeout ?? task.timeout),
    ...(handler ? { onFailure: handler } : {}),
    mayFail: options.mayFail ?? false,
  };
}

export function eachOf({ items, concurrency = null, onFailure = "run-all" }: PlannedEach): GraphEach {
  return { items, concurrency, onFailure };
}

export function millis(duration: Duration | undefined): number | null {
  return duration === undefined ? null : parseDuration(duration);
}
