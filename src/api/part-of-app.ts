/** Finds tasks, workflows and queues in the app that a program was connected with. */
import type { App } from "../core/app/app.ts";
import { didYouMean } from "../core/app/near.ts";
import { SluiceError } from "../core/error.ts";
import type { AnyTask } from "../core/task/definition.ts";
import { checkText, shortly } from "../core/text.ts";
import type { AnyWorkflow } from "../core/workflow/definition.ts";
import { neededApp } from "./unknown.ts";

/** A task by its definition or by its ID. */
export function taskOf(app: App | undefined, task: AnyTask | string): AnyTask {
  const id = idOf("a task", task);
  const { tasks } = neededApp(app, "To enqueue");
  const known = tasks.get(id);
  if (known) return known;
  throw new SluiceError(
    "UNKNOWN_TASK",
    `task ${shortly(id)} is not part of this app.${didYouMean(id, [...tasks.keys()])} Add it to defineApp({ tasks: [ … ] }).`,
  );
}

export function workflowOf(
  given: App | undefined,
  workflow: AnyWorkflow | string,
): { app: App; known: AnyWorkflow } {
  const id = idOf("a workflow", workflow);
  const app = neededApp(given, "To submit a run");
  const known = app.workflows.get(id);
  if (known) return { app, known };
  throw new SluiceError(
    "UNKNOWN_WORKFLOW",
    `workflow ${shortly(id)} is not part of this app.${didYouMean(id, [...app.workflows.keys()])} Add it to defineApp({ workflows: [ … ] }).`,
  );
}

/** Callers may not be type-checked, and may give anything. */
function idOf(what: string, given: { readonly id: string } | string): string {
  const id: unknown = typeof given === "object" && given !== null ? given.id : given;
  checkText(`The ID of ${what}`, id);
  return id;
}

/** A task can be enqueued only to a queue that the app declares. */
export function checkQueue(app: App | undefined, task: AnyTask, queue: string | undefined): void {
  if (queue === undefined || app?.queues.some(({ name }) => name === queue)) return;
  const known = (app?.queues ?? []).map(({ name }) => name);
  throw new SluiceError(
    "UNKNOWN_QUEUE",
    `task "${task.id}": there is no queue ${shortly(queue)}.${didYouMean(queue, known)} The app declares: ${known.join(", ")}.`,
  );
}
