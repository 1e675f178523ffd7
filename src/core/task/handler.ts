/** A task's definition as the options that are stored with its units, and with the units it handles. */
import { APP_DEFAULTS } from "../app/app.ts";
import { asksFor, asksOfEveryTask, storedAsk } from "../gate/asks.ts";
import { DEFAULT_NAMESPACE } from "../gate/key.ts";
import { isText, locksOf } from "../gate/lock.ts";
import { parseDuration } from "../time.ts";
import type { OptionsOfTask } from "../unit-options.ts";
import { optionsOfTask } from "../unit-options.ts";
import type { AnyTask, FailureHandler } from "./definition.ts";
import { retryPolicy } from "./retry.ts";
import type { StoredHandler } from "./stored-handler.ts";

/** The options that a unit of this task has outside of a run. */
export function ownOptions(task: AnyTask): OptionsOfTask {
  const handler = storedHandler(task.onFailure, { kind: "task", name: task.id });
  return {
    retry: retryPolicy(task.retry),
    timeoutMs: task.timeout === undefined ? null : parseDuration(task.timeout),
    ...(handler ? { onFailure: handler } : {}),
  };
}

/** A handler may have a handler of its own. */
export function storedHandler(
  handler: FailureHandler | undefined,
  of: StoredHandler["of"],
): StoredHandler | undefined {
  if (handler === undefined) return undefined;
  const { queue = APP_DEFAULTS.queue, priority = 0, goodUntil, pools } = handler;
  const fixed = typeof pools === "function" ? {} : pools;
  const locks = locksOf(handler, isText);
  return {
    task: handler.id,
    queue,
    priority,
    asks: [...asksOfEveryTask(queue), ...asksFor({ pools: fixed, locks }, DEFAULT_NAMESPACE)].map(storedAsk),
    goodForMs: goodUntil === undefined ? null : parseDuration(goodUntil),
    options: optionsOfTask(ownOptions(handler)),
    of,
  };
}
