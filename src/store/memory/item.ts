/** The items of a step over a list: units that know their run, their step and their place in the list. */
import { inLineSince } from "../in-line.ts";
import type { ItemCounts, ItemRow, ItemSeen, Standstill } from "../runs.ts";
import { stays } from "./in-line.ts";
import { events, stateOf } from "./read.ts";
import type { StepRecord, Tables, TaskRecord } from "./tables.ts";
import { inLine } from "./tables.ts";

type Item = TaskRecord & { readonly item: number };

export const unitsOf = (tables: Tables, run: string, step: string): TaskRecord[] =>
  tables.task.all().filter((task) => task.run === run && task.step === step);

const itemsOf = (tables: Tables, run: string, step: string): Item[] =>
  unitsOf(tables, run, step)
    .filter((task): task is Item => task.item !== null)
    .sort((a, b) => a.item - b.item);

/** Whether any item is in line, delayed or running. */
export const isLeft = (tables: Tables, lane: string): boolean =>
  tables.waiting.of(lane).length > 0 ||
  [...tables.later.all(), ...tables.running.all()].some((unit) => unit.lane === lane);

/** The outcomes of the items that have ended. */
export function itemsSeen(tables: Tables, run: string, step: string): ItemSeen[] {
  return itemsOf(tables, run, step).flatMap(({ id, item }): ItemSeen[] => {
    const outcome = tables.outcome.get(id);
    return outcome ? [{ item, state: outcome.state, body: outcome.body }] : [];
  });
}

export function itemCounts(tables: Tables, step: StepRecord): ItemCounts | null {
  if (step.total === null || step.created === null) return null;
  const all = itemsOf(tables, step.run, step.name);
  const ids = all.map(({ id }) => id);
  const created = all.map(({ createdAt }) => createdAt);
  const outcomes = ids.flatMap((id) => tables.outcome.get(id) ?? []);
  const claims = ids.flatMap((id) => tables.running.of(id));
  const succeeded = outcomes.filter(({ state }) => state === "succeeded").length;
  const cancelled = outcomes.filter(({ state }) => state === "cancelled").length;
  const times = ids.flatMap((id) => claimsOf(tables, id));
  const ended = outcomes.map(({ finishedAt }) => finishedAt);
  return {
    total: step.total,
    created: step.created,
    waiting: ids.filter((id) => tables.waiting.has(id) || tables.later.has(id)).length,
    running: claims.length,
    succeeded,
    failed: outcomes.length - succeeded - cancelled,
    cancelled,
    enqueuedAt: created.length > 0 ? created.reduce((a, b) => Math.min(a, b)) : null,
    since: times.length > 0 ? times.reduce((a, b) => Math.min(a, b)) : null,
    until: ended.length > 0 ? ended.reduce((a, b) => Math.max(a, b)) : null,
  };
}

export function items(
  tables: Tables,
  run: string,
  step: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): ItemRow[] {
  const found = itemsOf(tables, run, step).filter(({ item }) => item > after);
  return found.slice(0, Math.trunc(limit)).map((unit) => itemRow(tables, unit));
}

function itemRow(tables: Tables, { id, item, input, createdAt }: Item): ItemRow {
  const outcome = tables.outcome.get(id);
  const [claim] = tables.running.of(id);
  const unit = outcome ?? claim ?? tables.waiting.get(id) ?? tables.later.get(id);
  return {
    item,
    unit: id,
    place: stateOf(tables, id),
    attempt: unit?.attempt ?? 0,
    input,
    result: outcome?.body ?? null,
    enqueuedAt: createdAt,
    claimedAt: claim?.claimedAt ?? outcome?.claimedAt ?? null,
    finishedAt: outcome?.finishedAt ?? null,
    inLine: stays(tables, id),
  };
}

const MOST_WAITING = 200;

export function standstill(tables: Tables, lane: string): Standstill | undefined {
  const step = tables.step.all().find((each) => each.lane === lane);
  if (!step) return undefined;
  const ids = unitsOf(tables, step.run, step.name).map(({ id }) => id);
  const claims = ids.flatMap((id) => claimsOf(tables, id));
  return {
    open: step.state === "open",
    claimedAt: claims.length > 0 ? claims.reduce((a, b) => Math.max(a, b)) : null,
    waiting: tables.waiting
      .of(lane)
      .sort(inLine)
      .slice(0, MOST_WAITING)
      .map(({ id, at }) => ({ id, at: inLineSince(at, events(tables, id)) })),
  };
}

const claimsOf = (tables: Tables, id: string): number[] =>
  events(tables, id).flatMap(({ kind, at }) => (kind === "TaskClaimed" ? [at] : []));
