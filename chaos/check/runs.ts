/**
 * C12, runs by their records: each step of a run, and each item of the list that was submitted, succeeded
 * exactly once, after the steps it needs, and was never claimed again. An ended run leaves nothing behind. A
 * run ends in another way only if one of its steps could not be finished.
 */
import { NEEDS } from "../app/needs.ts";
import type { Audited, Finding, Ordered, OutcomeRow, Tables, TaskRow } from "../history.ts";

export interface RunsOf {
  readonly audit: readonly Audited[];
  readonly tables: Tables;
  /** The runs that were submitted, with their items. */
  readonly ordered: readonly Ordered[];
  /** Runs that were cancelled on purpose. */
  readonly cancelled: ReadonlySet<string>;
}

export function checkRuns({ audit, tables, ordered, cancelled }: RunsOf): Finding {
  const outcomes = new Map(tables.outcomes.map((row) => [row.id, row]));
  const units = groupBy(tables.tasks, ({ run }) => run);
  const keys = new Map(tables.tasks.map(({ id, key }) => [id, key]));
  const orders = new Map(ordered.map((order) => [order.key, order]));
  const times = timesOf(audit);
  const violations = [...left(tables), ...again(tables, times)];
  let succeeded = 0;
  let items = 0;
  for (const { id, workflow, mark } of tables.runs) {
    const order = orders.get(keys.get(id) ?? "");
    if (mark === null && order?.workflow !== workflow)
      violations.push(`run ${id} (${workflow}) was never submitted`);
    const own = units.get(id) ?? [];
    const state = outcomes.get(id)?.state;
    if (state === undefined) violations.push(`run ${id} (${workflow}) has not ended`);
    else if (state === "succeeded") {
      succeeded += 1;
      items += own.filter(({ item }) => item !== null).length;
      for (const [step, needs] of Object.entries(NEEDS[workflow] ?? {}))
        violations.push(
          ...ofStep({ run: id, step, needs, own, items: itemsOf(step, order), outcomes, times }),
        );
    } else if (!cancelled.has(id) && !own.some((unit) => isUnfinished(outcomes.get(unit.id))))
      violations.push(`run ${id} (${workflow}) ended as ${state}, and all of its steps had succeeded`);
  }
  return {
    check: "C12 runs",
    figures: `${tables.runs.length} runs, ${succeeded} succeeded, ${items} items in them`,
    violations,
  };
}

interface OfStep {
  readonly run: string;
  readonly step: string;
  readonly needs: readonly string[];
  readonly own: readonly TaskRow[];
  /** The items of a list. A step without a list has one unit, which is no item. */
  readonly items: readonly (number | null)[];
  readonly outcomes: ReadonlyMap<string, OutcomeRow>;
  readonly times: Times;
}

function ofStep({ run, step, needs, own, items, outcomes, times }: OfStep): string[] {
  const units = own.filter((unit) => unit.step === step);
  const found: string[] = [];
  if (units.length !== items.length)
    found.push(`run ${run}: step ${step} was put in line ${units.length} times instead of ${items.length}`);
  const there = new Set(units.map(({ item }) => item));
  if (there.size !== units.length) found.push(`run ${run}: an item of ${step} is there twice`);
  const lost = items.filter((item) => !there.has(item));
  if (lost.length > 0)
    found.push(`run ${run}: of step ${step} is missing: ${lost.map((item) => item ?? "its unit")}`);
  const needed = own.filter((unit) => needs.includes(unit.step ?? ""));
  const ready = Math.max(0, ...needed.map(({ id }) => times.ended.get(id) ?? Number.POSITIVE_INFINITY));
  for (const { id } of units) {
    if (outcomes.get(id)?.state !== "succeeded")
      found.push(`run ${run} succeeded, but ${step} (${id}) is ${outcomes.get(id)?.state ?? "nowhere"}`);
    if ((times.claimed.get(id) ?? 0) < ready)
      found.push(`run ${run}: ${step} (${id}) was claimed before what it needs had ended`);
  }
  return found;
}

/** The items of a step, by the marks of what was submitted. */
function itemsOf(step: string, order: Ordered | undefined): (number | null)[] {
  const start = `${order?.key}/${step}/`;
  const marks = (order?.marks ?? []).filter((mark) => mark.startsWith(start));
  return marks.length > 0 ? marks.map((mark) => Number(mark.slice(start.length))) : [null];
}

interface Times {
  /** The first claim, the last claim and the outcome of each unit, as indexes into the audit. */
  readonly claimed: ReadonlyMap<string, number>;
  readonly lastClaimed: ReadonlyMap<string, number>;
  readonly ended: ReadonlyMap<string, number>;
}

function timesOf(audit: readonly Audited[]): Times {
  const claimed = new Map<string, number>();
  const lastClaimed = new Map<string, number>();
  const ended = new Map<string, number>();
  audit.forEach((event, index) => {
    if (event.kind === "claim") {
      if (!claimed.has(event.task)) claimed.set(event.task, index);
      lastClaimed.set(event.task, index);
    } else if (event.kind === "outcome") ended.set(event.task, index);
  });
  return { claimed, lastClaimed, ended };
}

/** A unit that has ended is not claimed again. */
function again({ tasks }: Tables, { lastClaimed, ended }: Times): string[] {
  return tasks.flatMap(({ id, step }) => {
    const end = ended.get(id);
    if (step === null || end === undefined || (lastClaimed.get(id) ?? -1) < end) return [];
    return [`${step} (${id}) was claimed again after it had ended`];
  });
}

/**
 * Gates that ended runs left behind, and news that calls for work. A worker that stops late, after everything
 * has ended, reports the end of its code. That leaves news of a run that is over, and nothing depends on it.
 */
function left({ news, gates, outcomes }: Tables): string[] {
  const own = gates.filter((gate) => gate.startsWith("run:"));
  const ended = new Set(outcomes.map(({ id }) => id));
  const unread = news.filter((run) => !ended.has(run) || own.some((gate) => gate.startsWith(`run:${run}/`)));
  return [
    ...(unread.length > 0
      ? [`${unread.length} news of runs that nobody looked at: ${unread.slice(0, 3).join(", ")}`]
      : []),
    ...(own.length > 0
      ? [`${own.length} gates of runs were left behind: ${own.slice(0, 3).join(", ")}`]
      : []),
  ];
}

const isUnfinished = (outcome: OutcomeRow | undefined): boolean =>
  outcome !== undefined && outcome.state !== "succeeded" && outcome.state !== "cancelled";

function groupBy<T>(rows: readonly T[], key: (row: T) => string | null): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const name = key(row);
    if (name !== null) groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return groups;
}
