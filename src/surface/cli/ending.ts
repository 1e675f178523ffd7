/** How a finished task ended, as a sentence. */
import type { TaskView } from "../../api/task-view.ts";
import { isoTime } from "../../core/time.ts";
import { ago, count } from "./say.ts";

/** Undefined if the task has not ended. */
export function endingOf(task: TaskView, now: number): string | undefined {
  const time = ago(task.at, now);
  switch (task.state) {
    case "succeeded":
      return `succeeded ${time}, on attempt ${task.attempt}.`;
    case "failed":
      return `failed ${time}, after ${count(task.attempt, "attempt")}: ${errorOf(task)}`;
    case "cancelled":
      return `was cancelled ${time}${byWhom(task)}.`;
    case "expired":
      return `expired ${time}: its deadline ${task.goodUntil === null ? "" : `${isoTime(task.goodUntil)} `}passed before it could start.`;
    case "quarantined":
      return `was quarantined ${time}: its process or worker died ${count(task.losses, "time")} while running it, so it is not retried automatically.`;
    default:
      return undefined;
  }
}

export function errorOf({ error }: TaskView): string {
  if (!error) return "no error was stored";
  return `${error.name ?? "Error"}${error.code ? ` ${error.code}` : ""}: ${error.message ?? JSON.stringify(error)}`;
}

function byWhom({ error }: TaskView): string {
  const by = (error as { by?: unknown } | undefined)?.by;
  return typeof by === "string" ? ` by ${by}` : "";
}
