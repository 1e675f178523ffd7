/** When units stood in line. */
import type { Stay } from "../in-line.ts";
import { staysOf } from "../in-line.ts";
import { events } from "./read.ts";
import type { Tables } from "./tables.ts";

/** Every time in line of a unit that is there, or was. */
export function stays(tables: Tables, id: string): Stay[] {
  const task = tables.task.get(id);
  const all = task ? staysOf(task.createdAt, events(tables, id)) : [];
  return tables.later.has(id) ? all.filter(({ until }) => until !== null) : all;
}
