/** Rules for `onFailure` of a task or a workflow. */
import type { AppDefinition } from "./definition.ts";
import { unknownAmong } from "./near.ts";
import type { Problems } from "./rule.ts";
import { isRecord, shown } from "./rule.ts";

export function* handlerProblems(field: string, handler: unknown, { tasks }: AppDefinition): Problems {
  if (handler === undefined) return;
  const known = (Array.isArray(tasks) ? tasks : []).filter(isRecord);
  if (!isRecord(handler) || typeof handler.id !== "string") {
    yield {
      field,
      rule: `must be a task, but is ${shown(handler)}`,
      cure: "Write the task itself, like onFailure: tellUs",
    };
    return;
  }
  const ids = known.map(({ id }) => String(id));
  if (!ids.includes(handler.id))
    yield {
      field,
      rule: `there is no task "${handler.id}" in this app${unknownAmong(handler.id, ids)}`,
      cure: "Add it to tasks",
    };
  else if (!known.includes(handler))
    yield {
      field,
      rule: `is another task than the one with the id "${handler.id}" in tasks`,
      cure: "Name the task that is in tasks",
    };
  if (typeof handler.pools === "function")
    yield {
      field,
      rule: `the pools of "${handler.id}" are a function, but it is put in line where no code of the app runs`,
      cure: "Give it fixed pools, like { database: 1 }",
    };
}
