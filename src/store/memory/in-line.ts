/** When units were in line. */
import type { Stay } from "../in-line.ts";
import { staysOf } from "../in-line.ts";
import { events } from "./read.ts";
import type { Tables } from "./tables.ts";

/** Every stay in line of a unit, including the current one. */
export function stays(tables: Tables, id: string): Stay[] {
  const task = tables.task.get(id);
  const all = task ? staysOf(task.createdAt, events(tables, id)) : [];
  return tables.later.has(id) ? all.filter(({ until }) => until !== null) : all;
}
