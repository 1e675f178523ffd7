/** What people ask about runs: one with its steps, lists, a whole line, who holds a gate. Nothing here is locked. */
import type { Flow, Row } from "../flow.ts";
import { flight } from "../flow.ts";
import { inLineSince } from "../in-line.ts";
import { asksOf } from "../lane.ts";
import type {
  GateHolder,
  ItemCounts,
  ItemRow,
  LineView,
  RunDetail,
  RunFilter,
  RunRow,
  RunState,
  Standstill,
  StepRow,
} from "../runs.ts";
import { RUNS } from "../runs.ts";
import type { Sql } from "../sql.ts";
import { by, leaseNow, oneOf, raw, sql } from "../sql.ts";
import type { FinalState } from "../store.ts";
import { asideRow, selectAsideAmong } from "./aside.ts";
import type { Moves } from "./in-line.ts";
import { FIRST_TOLD, movesOf, stays } from "./in-line.ts";
import { LOST, selectNow, selectSessions, selectUsage } from "./look.ts";
import type { Spot } from "./near.ts";
import { countOfQueue, knownIn, lanesFrom, selectFirst, selectLanesNamed, selectOfQueue } from "./near.ts";
import { headRow, usageRow } from "./pass.ts";
import { gateInfos, selectGates } from "./read.ts";
import { HOLDING, toldStopping } from "./stopping.ts";

const STATE =
  "CASE WHEN o.state IN ('succeeded', 'cancelled') THEN o.state WHEN o.state IS NOT NULL THEN 'failed' WHEN c.started_at IS NOT NULL THEN 'started' WHEN c.id IS NOT NULL THEN 'notStarted' ELSE 'queued' END";

const RUN = raw(
  `u.id, u.workflow, u.tags, u.source, u.rerun_of, u.paused, t.priority, t.input, t.idem_key, t.created_at, ${STATE} AS state, d.id AS later_id,
   COALESCE(w.at, d.at, c.at, t.created_at) AS queued_at, COALESCE(c.claimed_at, o.claimed_at) AS dequeued_at,
   COALESCE(c.started_at, (SELECT MIN(x.created_at) FROM sluice_task x WHERE x.run = u.id)) AS started_at, o.finished_at, o.body`,
);
const FROM = raw(
  "sluice_run u JOIN sluice_task t ON t.id = u.id LEFT JOIN sluice_waiting w ON w.id = u.id LEFT JOIN sluice_later d ON d.id = u.id LEFT JOIN sluice_running c ON c.id = u.id LEFT JOIN sluice_outcome o ON o.id = u.id",
);

const number = (value: unknown): number | null =>
  value === null || value === undefined ? null : Number(value);

const runRow = (row: Row): RunRow => ({
  id: row.id as string,
  workflow: row.workflow as string,
  state: row.state as RunState,
  paused: Number(row.paused) === 1,
  later: row.later_id !== null,
  priority: Number(row.priority),
  tags: row.tags as string,
  source: row.source as string,
  rerunOf: row.rerun_of as string | null,
  input: row.input as string,
  key: row.idem_key as string | null,
  createdAt: Number(row.created_at),
  queuedAt: Number(row.queued_at),
  dequeuedAt: number(row.dequeued_at),
  startedAt: number(row.started_at),
  finishedAt: number(row.finished_at),
  body: row.body as string | null,
});

const EXISTS = (query: Sql): Sql => sql`SELECT CASE WHEN EXISTS (${query}) THEN 1 ELSE 0 END AS there`;

export function* stirring(): Flow<{ news: boolean; queued: boolean }> {
  const answers = yield* flight(
    EXISTS(sql`SELECT 1 FROM sluice_news`),
    EXISTS(sql`SELECT 1 FROM sluice_lane WHERE queue = ${RUNS} AND state <> 0`),
    EXISTS(sql`SELECT 1 FROM sluice_arrival WHERE queue = ${RUNS}`),
  );
  const [news, open, arrived] = answers.map((rows) => Number(rows[0]?.there) === 1);
  return { news: news === true, queued: open === true || arrived === true };
}

export function* run(id: string): Flow<RunDetail | undefined> {
  const [found = [], graph = [], steps = []] = yield* flight(
    sql`SELECT ${RUN} FROM ${FROM} WHERE u.id = ${id}`,
    sql`SELECT g.body FROM sluice_run u JOIN sluice_graph g ON g.hash = u.graph WHERE u.id = ${id}`,
    selectSteps(id),
  );
  if (!found[0]) return undefined;
  const fans = steps.filter((row) => row.lane !== null);
  const counted =
    fans.length > 0 ? yield* flight(...fans.map((row) => countItems(id, row.name as string))) : [];
  const moves = yield* movesOf(
    steps.filter((row) => row.unit !== null),
    "unit",
  );
  const counts = new Map(fans.map((row, index) => [row.name, itemCounts(row, counted[index] ?? [])]));
  return {
    run: runRow(found[0]),
    graph: graph[0]?.body as string,
    steps: steps.map((row) => stepRow(row, counts.get(row.name) ?? null, moves)),
  };
}

/** A claim that the rows of a unit do not tell any more: the first or the last of those. */
const earlierClaim = (unit: string, order: string): Sql =>
  raw(
    `CASE WHEN ${FIRST_TOLD} > 2 THEN (SELECT e.at FROM sluice_event e WHERE e.subject = ${unit}.id AND e.kind = 'TaskClaimed' ${order} LIMIT 1) END`,
  );

const countItems = (run: string, step: string): Sql =>
  sql`SELECT ${raw(PLACE)} AS place, count(*) AS units, MIN(s.created_at) AS first_in_line, MIN(COALESCE(${earlierClaim("s", "ORDER BY e.n")}, r.claimed_at, o.claimed_at)) AS first_claim, MAX(o.finished_at) AS last_end FROM sluice_task s
    LEFT JOIN sluice_waiting w ON w.id = s.id LEFT JOIN sluice_later d ON d.id = s.id LEFT JOIN sluice_running r ON r.id = s.id LEFT JOIN sluice_outcome o ON o.id = s.id
    WHERE s.run = ${run} AND s.step = ${step} AND s.item IS NOT NULL GROUP BY 1`;

function itemCounts(step: Row, counted: readonly Row[]): ItemCounts {
  const sum = (...places: string[]): number =>
    counted.reduce((all, row) => all + (places.includes(row.place as string) ? Number(row.units) : 0), 0);
  const times = (name: "first_in_line" | "first_claim" | "last_end"): number[] =>
    counted.flatMap((row) => (row[name] === null ? [] : [Number(row[name])]));
  const [enqueued, begun, ended] = [times("first_in_line"), times("first_claim"), times("last_end")];
  return {
    total: Number(step.total),
    created: Number(step.created),
    waiting: sum("waiting", "later"),
    running: sum("running", "claimed"),
    succeeded: sum("succeeded"),
    failed: sum("failed", "cancelled", "expired", "quarantined"),
    cancelled: sum("cancelled"),
    enqueuedAt: enqueued.length > 0 ? Math.min(...enqueued) : null,
    since: begun.length > 0 ? Math.min(...begun) : null,
    until: ended.length > 0 ? Math.max(...ended) : null,
  };
}

export function* items(
  run: string,
  step: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Flow<ItemRow[]> {
  const [found = []] = yield* flight(
    sql`SELECT s.item, s.id, s.input, ${raw(PLACE)} AS place, COALESCE(o.attempt, r.attempt, w.attempt, d.attempt, 0) AS attempt, o.body AS result, s.created_at, COALESCE(r.claimed_at, o.claimed_at) AS claimed_at, o.finished_at, ${raw(FIRST_TOLD)} AS first_told FROM sluice_task s
      LEFT JOIN sluice_waiting w ON w.id = s.id LEFT JOIN sluice_later d ON d.id = s.id LEFT JOIN sluice_running r ON r.id = s.id LEFT JOIN sluice_outcome o ON o.id = s.id
      WHERE s.run = ${run} AND s.step = ${step} AND s.item > ${after} ORDER BY s.item LIMIT ${raw(String(Math.trunc(limit)))}`,
  );
  const moves = yield* movesOf(found);
  return found.map((row) => ({
    item: Number(row.item),
    unit: row.id as string,
    place: row.place as ItemRow["place"],
    attempt: Number(row.attempt),
    input: row.input as string,
    result: row.result as string | null,
    enqueuedAt: Number(row.created_at),
    claimedAt: number(row.claimed_at),
    finishedAt: number(row.finished_at),
    inLine: stays(row, moves.get(row.id as string)),
  }));
}

/** The last claim is found among what has ended and what runs; so it is asked when a timer rings, not at each item. */
export function* standstill(lane: string): Flow<Standstill | undefined> {
  const [step = [], waiting = []] = yield* flight(
    sql`SELECT s.run, s.name, s.state FROM sluice_step s WHERE s.lane = ${lane}`,
    sql`SELECT w.id, w.at, w.n + 1 AS first_told FROM sluice_waiting w WHERE w.lane = ${lane} ORDER BY w.precedence, w.at, w.id LIMIT 200`,
  );
  const found = step[0];
  if (!found) return undefined;
  const [claims = []] = yield* flight(
    sql`SELECT MAX(COALESCE(r.claimed_at, o.claimed_at, ${earlierClaim("t", "ORDER BY e.n DESC")})) AS claimed_at FROM sluice_task t LEFT JOIN sluice_running r ON r.id = t.id LEFT JOIN sluice_outcome o ON o.id = t.id
      LEFT JOIN sluice_waiting w ON w.id = t.id LEFT JOIN sluice_later d ON d.id = t.id
      WHERE t.run = ${found.run} AND t.step = ${found.name}`,
  );
  const moves = yield* movesOf(waiting);
  return {
    open: found.state === "open",
    claimedAt: number(claims[0]?.claimed_at),
    waiting: waiting.map((row) => {
      const id = row.id as string;
      return { id, at: inLineSince(Number(row.at), moves.get(id) ?? []) };
    }),
  };
}

const PLACE =
  "CASE WHEN o.state IS NOT NULL THEN o.state WHEN r.epoch IS NOT NULL THEN CASE WHEN r.started_at IS NULL AND r.progress IS NULL THEN 'claimed' ELSE 'running' END WHEN w.id IS NOT NULL THEN 'waiting' WHEN d.id IS NOT NULL THEN 'later' ELSE NULL END";

const selectSteps = (run: string): Sql =>
  sql`SELECT s.name, s.state, s.unit, s.body, s.lane, s.total, s.created, t.name AS task, t.run AS of_run, t.created_at, ${raw(PLACE)} AS place, o.state AS ended, o.body AS result,
      COALESCE(o.attempt, r.attempt, w.attempt, d.attempt, 0) AS attempt, COALESCE(r.claimed_at, o.claimed_at) AS claimed_at, o.finished_at, r.progress, ${raw(FIRST_TOLD)} AS first_told
    FROM sluice_step s LEFT JOIN sluice_task t ON t.id = s.unit LEFT JOIN sluice_waiting w ON w.id = s.unit LEFT JOIN sluice_later d ON d.id = s.unit
    LEFT JOIN sluice_running r ON r.id = s.unit LEFT JOIN sluice_outcome o ON o.id = s.unit WHERE s.run = ${run} ORDER BY s.name`;

const stepRow = (row: Row, counts: ItemCounts | null, moves: Moves): StepRow => ({
  name: row.name as string,
  state: row.state as StepRow["state"],
  unit: row.unit as string | null,
  body: row.body as string | null,
  fan:
    row.lane === null
      ? null
      : { lane: row.lane as string, total: Number(row.total), created: Number(row.created) },
  ended: row.state === "open" ? (row.ended as FinalState | null) : null,
  items: counts,
  task: row.task as string | null,
  ofRun: row.of_run as string | null,
  place: row.place as StepRow["place"],
  attempt: Number(row.attempt),
  enqueuedAt: number(row.created_at),
  claimedAt: number(row.claimed_at),
  finishedAt: number(row.finished_at),
  inLine: row.created_at === null ? [] : stays(row, moves.get(row.unit as string)),
  progress: row.progress as string | null,
  result: row.result as string | null,
});

export function* runs({ state, workflow, tag, before, ids, limit }: RunFilter): Flow<RunRow[]> {
  const where = [sql`1 = 1`];
  if (state) where.push(sql`${raw(STATE)} = ${state}`);
  if (workflow) where.push(sql`u.workflow = ${workflow}`);
  if (tag) where.push(hasTag(tag));
  if (before) where.push(sql`u.id < ${before}`);
  if (ids) where.push(sql`u.id ${oneOf(ids)}`);
  const all = where.reduce((left, right) => sql`${left} AND ${right}`);
  const [found = []] = yield* flight(
    sql`SELECT ${RUN} FROM ${FROM} WHERE ${all} ORDER BY u.id DESC LIMIT ${raw(String(Math.trunc(limit)))}`,
  );
  return found.map(runRow);
}

/** Tags are kept as the JSON text of strings, so a key and its value stand in it in one way only. */
function hasTag(tag: string): Sql {
  const equals = tag.indexOf("=");
  const key = JSON.stringify(equals < 0 ? tag : tag.slice(0, equals));
  const part = equals < 0 ? `${key}:` : `${key}:${JSON.stringify(tag.slice(equals + 1))}`;
  return by({
    postgres: sql`strpos(u.tags, ${part}) > 0`,
    sqlite: sql`instr(u.tags, ${part}) > 0`,
    mysql: sql`INSTR(u.tags, ${part}) > 0`,
  });
}

export function* laterRuns(limit: number, offset: number): Flow<RunRow[]> {
  const [found = []] = yield* flight(
    sql`SELECT ${RUN} FROM ${FROM} WHERE d.id IS NOT NULL ORDER BY d.at, d.id LIMIT ${whole(limit)} OFFSET ${whole(offset)}`,
  );
  return found.map(runRow);
}

const whole = (number: number): Sql => raw(String(Math.trunc(number)));

/** So long a line is read from its front on; of a longer one, the first units of each lane. */
const FRONT = 5_000;

export function* line(queue: string, limit: number, offset = 0): Flow<LineView> {
  const from = offset + limit <= FRONT ? 0 : offset;
  const [clock = [], gates = [], usage = [], sessions = [], totals = [], units = []] = yield* flight(
    selectNow(),
    selectGates(),
    selectUsage(),
    selectSessions(),
    sql`SELECT (SELECT count(*) FROM sluice_waiting w WHERE ${isOfQueue(queue)}) AS total,
      (SELECT count(*) FROM sluice_later d JOIN sluice_task t ON t.id = d.id WHERE t.queue = ${queue}) AS later`,
    sql`SELECT w.id, w.lane, w.precedence, w.at, w.good_until FROM sluice_waiting w WHERE ${isOfQueue(queue)}
      ORDER BY w.precedence, w.at, w.id LIMIT ${whole(limit + offset - from)} OFFSET ${whole(from)}`,
  );
  const [before, page] = [units.slice(0, offset - from), units.slice(offset - from)];
  const [first] = page;
  const spot = first && {
    rank: 0,
    precedence: Number(first.precedence),
    at: Number(first.at),
    id: first.id as string,
  };
  const [found, ahead] = yield* aheadOf(queue, spot, units, from > 0);
  const lanes = lanesFrom(found);
  const far = from > 0 ? (yield* flight(...selectFirst(lanes, knownIn(found)))).flat() : before;
  const shown = new Set(page.map((row) => row.id));
  const total = Number(totals[0]?.total);
  const [aside = []] = yield* flight(
    selectAsideAmong([...new Set([...page, ...far].map((row) => row.lane as string))]),
  );
  return {
    now: Number(clock[0]?.now),
    gates: gateInfos(gates),
    usage: usage.map(usageRow),
    lanes,
    heads: page.map(headRow),
    front: far.filter((row) => !shown.has(row.id)).map(headRow),
    ahead,
    sessions: sessions.map((row) => ({
      id: row.id as string,
      slots: Number(row.slots),
      serves: row.serves as string,
    })),
    cut: total > offset + page.length,
    total,
    later: Number(totals[0]?.later),
    aside: aside.map(asideRow),
  };
}

/** The lanes of these units, and where they are not all of the line's front, the best of the queue; who is ahead of them. */
function* aheadOf(
  queue: string,
  spot: Spot | undefined,
  units: readonly Row[],
  isFar: boolean,
): Flow<[Row[], LineView["ahead"]]> {
  if (!spot) return [[], []];
  const ids = [...new Set(units.map((row) => row.lane as string))];
  const [counts = [], ...found] = yield* flight(
    countOfQueue(queue, spot),
    selectLanesNamed(ids),
    ...(isFar ? [selectOfQueue(queue)] : []),
  );
  const ahead = counts.map((row) => ({
    lane: row.lane as string,
    asks: row.asks as string,
    units: Number(row.units),
  }));
  return [found.flat(), ahead];
}

const isOfQueue = (queue: string): Sql =>
  sql`w.lane IN (SELECT l.id FROM sluice_lane l WHERE l.queue = ${queue} UNION SELECT a.lane FROM sluice_arrival a WHERE a.queue = ${queue})`;

export function* holders(gate: string): Flow<GateHolder[]> {
  const [found = []] = yield* flight(
    sql`SELECT r.id, r.session, r.claimed_at, CASE WHEN r.lease_ms IS NULL THEN NULL ELSE r.until_at - ${leaseNow} END AS lease_left, r.since, r.because, l.asks, t.name, t.run, t.step
      FROM ${HOLDING} AS r JOIN sluice_lane l ON l.id = r.lane JOIN sluice_task t ON t.id = r.id LEFT JOIN sluice_session s ON s.id = r.session
      WHERE r.held = 1 AND NOT ${LOST} ORDER BY r.epoch`,
  );
  return found.flatMap((row): GateHolder[] => {
    const ask = asksOf(row.asks as string).find((each) => each.gate === gate);
    if (!ask) return [];
    return [
      {
        id: row.id as string,
        name: row.name as string,
        run: row.run as string | null,
        step: row.step as string | null,
        slots: ask.slots,
        session: row.session as string,
        claimedAt: Number(row.claimed_at),
        leaseLeftMs: number(row.lease_left),
        ...toldStopping(row),
      },
    ];
  });
}
