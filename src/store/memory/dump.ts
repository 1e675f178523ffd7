/**
 * All rows of the store, named and sorted like the SQL tables, so that tests can compare them. The history is
 * complete here, while the SQL stores leave out events that other rows imply. Compare it by `events`.
 */
import type { LaneState } from "../store.ts";
import type { Tables } from "./tables.ts";

export type Dump = Readonly<Record<TableName, readonly Readonly<Record<string, unknown>>[]>>;

const NAMES = [
  "gate",
  "queue",
  "declared",
  "deploy",
  "lane",
  "arrival",
  "task",
  "waiting",
  "later",
  "deadline",
  "running",
  "stopping",
  "outcome",
  "event",
  "session",
  "run",
  "graph",
  "step",
  "news",
  "timer",
  "success",
  "trigger",
  "aside",
] as const;

type TableName = (typeof NAMES)[number];

const STATES: readonly unknown[] = ["idle", "open", "parked", "aside"] satisfies LaneState[];

export function dump(tables: Tables): Dump {
  const all = NAMES.map((name) => [name, tables[name].all().map((row) => columns(name, row))]);
  return Object.fromEntries(all) as Dump;
}

function columns(table: TableName, row: object): Record<string, unknown> {
  const entries = Object.entries(row).map(([field, value]): [string, unknown] => {
    const column = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (typeof value === "boolean") return [column, Number(value)];
    if (table === "lane" && field === "state") return [column, STATES.indexOf(value)];
    return [column, value];
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
