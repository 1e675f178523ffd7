/** The rows of a run's steps and items, and how items are counted. */
import type { Flow } from "../flow.ts";
import type { Row } from "../row.ts";
import { int, intOrNull, text, textOrNull, word, wordOrNull } from "../row.ts";
import type { ItemCounts, ItemRow, StepRow } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { raw, sql } from "../sql.ts";
import type { ToldRow } from "./in-line.ts";
import { earlierClaim, firstTold, selectFirstTold, stays, withMoves } from "./in-line.ts";
import { joinPlaces, stateFrom } from "./place.ts";

const PLACE = raw(stateFrom("NULL"));

/** A step from its own rows, without its history. */
type ToldStep = ToldRow<Omit<StepRow, "inLine">>;
type ToldItem = ToldRow<Omit<ItemRow, "inLine">>;

export const selectSteps = (run: string): Sql<ToldStep> =>
  sql`SELECT s.name, s.state, s.unit, s.body, s.lane, s.total, s.created, t.name AS task, t.run AS of_run, t.created_at, ${PLACE} AS place, o.state AS ended, o.body AS result,
      COALESCE(o.attempt, r.attempt, w.attempt, d.attempt, 0) AS attempt, COALESCE(r.claimed_at, o.claimed_at) AS claimed_at, o.finished_at, r.progress, ${selectFirstTold}
    FROM sluice_step s LEFT JOIN sluice_task t ON t.id = s.unit ${raw(joinPlaces("s.unit"))} WHERE s.run = ${run} ORDER BY s.name`.as(
    (row) => ({ unit: textOrNull(row.unit) ?? "", first: firstTold(row), row: stepRow(row) }),
  );

/** A step without a unit never stood in line. */
export const stepRows = (found: readonly ToldStep[]): Flow<StepRow[]> =>
  withMoves(found, (step, moves) => {
    const { enqueuedAt } = step;
    return { ...step, inLine: enqueuedAt === null ? [] : stays({ ...step, enqueuedAt }, moves) };
  });

/** Items are counted separately. */
const stepRow = (row: Row): ToldStep["row"] => ({
  name: text(row.name),
  state: word(row.state),
  unit: textOrNull(row.unit),
  body: textOrNull(row.body),
  fan: row.lane === null ? null : { lane: text(row.lane), total: int(row.total), created: int(row.created) },
  ended: row.state === "open" ? wordOrNull(row.ended) : null,
  items: null,
  task: textOrNull(row.task),
  ofRun: textOrNull(row.of_run),
  place: wordOrNull(row.place),
  attempt: int(row.attempt),
  wait: null,
  enqueuedAt: intOrNull(row.created_at),
  claimedAt: intOrNull(row.claimed_at),
  finishedAt: intOrNull(row.finished_at),
  progress: textOrNull(row.progress),
  result: textOrNull(row.result),
});

/** The items of a step that are in the same place. */
export interface Counted {
  readonly step: string;
  readonly place: string | null;
  readonly units: number;
  readonly firstInLine: number | null;
  readonly firstClaim: number | null;
  readonly lastEnd: number | null;
}

export const countItems = (run: string, step: string): Sql<Counted> =>
  sql`SELECT ${PLACE} AS place, count(*) AS units, MIN(s.created_at) AS first_in_line, MIN(COALESCE(${earlierClaim("s.id", "first")}, r.claimed_at, o.claimed_at)) AS first_claim, MAX(o.finished_at) AS last_end FROM sluice_task s
    ${raw(joinPlaces("s.id"))}
    WHERE s.run = ${run} AND s.step = ${step} AND s.item IS NOT NULL GROUP BY 1`.as((row) => ({
    step,
    place: textOrNull(row.place),
    units: int(row.units),
    firstInLine: intOrNull(row.first_in_line),
    firstClaim: intOrNull(row.first_claim),
    lastEnd: intOrNull(row.last_end),
  }));

export function itemCounts(
  { total, created }: NonNullable<StepRow["fan"]>,
  all: readonly Counted[],
): ItemCounts {
  const sum = (...places: readonly string[]): number =>
    all.reduce((sum, { place, units }) => sum + (place !== null && places.includes(place) ? units : 0), 0);
  const times = (pick: (counted: Counted) => number | null): number[] =>
    all.flatMap((each) => pick(each) ?? []);
  return {
    total,
    created,
    waiting: sum("waiting", "later"),
    running: sum("running", "claimed"),
    succeeded: sum("succeeded"),
    failed: sum("failed", "expired", "quarantined"),
    cancelled: sum("cancelled"),
    enqueuedAt: earliest(times(({ firstInLine }) => firstInLine)),
    since: earliest(times(({ firstClaim }) => firstClaim)),
    until: latest(times(({ lastEnd }) => lastEnd)),
  };
}

const earliest = (times: readonly number[]): number | null => (times.length > 0 ? Math.min(...times) : null);
const latest = (times: readonly number[]): number | null => (times.length > 0 ? Math.max(...times) : null);

export const selectItems = (run: string, step: string, after: number, limit: Sql): Sql<ToldItem> =>
  sql`SELECT s.item, s.id, s.input, ${PLACE} AS place, COALESCE(o.attempt, r.attempt, w.attempt, d.attempt, 0) AS attempt, o.body AS result, s.created_at, COALESCE(r.claimed_at, o.claimed_at) AS claimed_at, o.finished_at, ${selectFirstTold} FROM sluice_task s
      ${raw(joinPlaces("s.id"))}
      WHERE s.run = ${run} AND s.step = ${step} AND s.item > ${after} ORDER BY s.item LIMIT ${limit}`.as(
    (row) => ({ unit: text(row.id), first: firstTold(row), row: itemRow(row) }),
  );

export const itemRows = (found: readonly ToldItem[]): Flow<ItemRow[]> =>
  withMoves(found, (item, moves) => ({ ...item, inLine: stays(item, moves) }));

const itemRow = (row: Row): ToldItem["row"] => ({
  item: int(row.item),
  unit: text(row.id),
  // The doctor reports an item that is in no place.
  place: word(row.place === null ? "unknown" : row.place),
  attempt: int(row.attempt),
  input: text(row.input),
  result: textOrNull(row.result),
  enqueuedAt: int(row.created_at),
  claimedAt: intOrNull(row.claimed_at),
  finishedAt: intOrNull(row.finished_at),
});
