/**
 * The swap: complete finished claims, share the gates, and claim the next units of the same lanes.
 *
 * Its order of locks is that of a pass: claims, gates by name, waiting units. It shares the gates, because it
 * changes no usage. So a change of a limit, and a pass that decides about one of these gates, wait for it, and
 * it waits for them. What must still be so is read after that wait, in a later statement than the locks.
 *
 * On PostgreSQL everything travels in one flight with the commit, and the conditions are part of the last
 * statement. Elsewhere the units to claim are chosen between two flights, as in a pass.
 */
import type { Flow } from "../flow.ts";
import { flight, lastFlight } from "../flow.ts";
import { END, isBefore } from "../lane-place.ts";
import { flag, idOf, int } from "../row.ts";
import type { Dialect, Sql } from "../sql.ts";
import {
  each,
  forShare,
  forUpdateSkipLocked,
  leaseNow,
  now,
  oneOf,
  raw,
  rows,
  sql,
  throughKey,
} from "../sql.ts";
import type { HeadRow, LanePlace, Swap, SwapLane, Swapped } from "../store.ts";
import type { ClaimedThere } from "./claim.ts";
import { byEpoch, claim, claimChosen, markStarted } from "./claim.ts";
import { laneStateNumber } from "./lane-row.ts";
import { headRow, selectNow, UNIT } from "./look.ts";
import { tellExits } from "./pass-write.ts";
import { exitOf, SETTLED, settle, settleUnheard } from "./settle.ts";
import { selectListening, tellClaimed } from "./tell.ts";

export const swap = (given: Swap, dialect: Dialect): Flow<Swapped | undefined> =>
  dialect === "postgres" ? swapAtOnce(given) : swapInSteps(given, dialect);

function* swapAtOnce(given: Swap): Flow<Swapped | undefined> {
  const { settled, shared, claimed } = yield* lastFlight({
    settled: settleUnheard(given.finished.map(exitOf)),
    begun: given.started.length > 0 && markStarted(given.started),
    shared: shareGates(given),
    claimed: claimNext(given),
  });
  if (settled.length === 0) return undefined;
  claimed.sort((a, b) => byEpoch(a.claim, b.claim));
  const from = new Map<string, LanePlace>();
  for (const { claim: one, priority, at } of claimed)
    if (!from.has(one.lane)) from.set(one.lane, { priority, at, id: one.id });
  return {
    now: shared[0] ?? null,
    claimed: claimed.map(({ claim: one }) => one),
    accepted: acceptedOf(given, settled),
    from,
  };
}

function acceptedOf({ finished }: Swap, settled: readonly number[]): Set<string> {
  const epochs = new Set(settled);
  return new Set(finished.filter(({ epoch }) => epochs.has(epoch)).map(({ id }) => id));
}

/** Returns the store's time, once per gate. */
const shareGates = ({ gates }: Swap): Sql<number> =>
  sql`SELECT ${now} AS now FROM sluice_gate WHERE name ${oneOf(gates.map(({ key }) => key))} ORDER BY name${forShare}`.as(
    (row) => int(row.now),
  );

const RULE = { name: "text", capacity: "int", paused: "int", line: "text", lease: "int" } as const;
/** Stands for NULL. */
const NONE = -9;

/** True if the session is alive and the gates are as they were seen. The gates are locked by now. */
function isUnchanged({ session, sessions, gates, parkedOn }: Swap): Sql {
  const none = raw(String(NONE));
  const count = raw(String(gates.length));
  const seen = gates.map(({ key, limit, paused, line, leaseMs }) => {
    return { name: key, capacity: limit ?? NONE, paused: paused ? 1 : 0, line, lease: leaseMs ?? NONE };
  });
  // One for its own session, nothing for those that were seen, too much for a new one.
  const alive = sql`SELECT COALESCE(sum(CASE WHEN s.id = ${session} THEN 1 WHEN s.id ${oneOf(sessions)} THEN 0 ELSE 2 END), 0)
    FROM sluice_session s WHERE ${throughKey("s.id")} AND s.expires_at > ${leaseNow}`;
  return sql`(${alive}) = 1
    AND (SELECT l.id FROM sluice_lane l WHERE l.parked ${oneOf(parkedOn)} LIMIT 1) IS NULL
    AND (SELECT count(*) FROM ${rows("g", RULE, seen)} WHERE (SELECT k.name FROM sluice_gate k WHERE k.name = g.name AND k.paused = g.paused
      AND COALESCE(k.capacity, ${none}) = g.capacity AND k.line = g.line AND COALESCE(k.lease_ms, ${none}) = g.lease) IS NOT NULL) = ${count}`;
}

/** Only numbers and our own ids, so that the index of the line can be searched between them. */
const LANE = {
  lane: "text",
  want: "int",
  from_precedence: "int",
  from_at: "int",
  from_id: "text",
  before_precedence: "int",
  before_at: "int",
  before_id: "text",
} as const;

function spansOf({ id, want, from, before }: SwapLane) {
  const end = before ?? END;
  return {
    lane: id,
    want,
    from_precedence: 0 - from.priority,
    from_at: from.at,
    from_id: from.id,
    before_precedence: 0 - end.priority,
    before_at: end.at,
    before_id: end.id,
  };
}

const OPEN = raw(String(laneStateNumber("open")));

/** Units that another transaction has locked are skipped: it is claiming or ending them. */
function claimNext(given: Swap): Sql<ClaimedThere> {
  const { session, claimLeaseMs: leaseMs, leaseMs: ownLeaseMs, finished, lanes } = given;
  const next = sql`SELECT x.id FROM ${rows("i", LANE, lanes.map(spansOf))} JOIN sluice_lane l ON l.id = i.lane AND l.state = ${OPEN}, LATERAL (
      SELECT w.id FROM sluice_waiting w WHERE w.lane = i.lane AND (w.precedence, w.at, w.id) >= (i.from_precedence, i.from_at, i.from_id)
        AND (w.precedence, w.at, w.id) < (i.before_precedence, i.before_at, i.before_id) AND (w.good_until IS NULL OR w.good_until > ${now})
      ORDER BY w.precedence, w.at, w.id LIMIT i.want FOR UPDATE OF w SKIP LOCKED) AS x
    WHERE (SELECT ${SETTLED} = ${String(finished.length)} AND ${isUnchanged(given)})`;
  return claimChosen(next, { session, held: true, leaseMs, ownLeaseMs });
}

function* swapInSteps(given: Swap, dialect: "sqlite" | "mysql"): Flow<Swapped> {
  const exits = given.finished.map(exitOf);
  const seen = yield* flight({
    settled: settle(exits, dialect),
    begun: given.started.length > 0 && markStarted(given.started),
    shared: shareGates(given),
    clock: selectNow(),
    unchanged: sql`SELECT CASE WHEN ${isUnchanged(given)} THEN 1 ELSE 0 END AS so`.as(({ so }) => flag(so)),
    open: sql`SELECT l.id FROM sluice_lane l WHERE l.id ${oneOf(given.lanes.map(({ id }) => id))} AND l.state = ${OPEN}`.as(
      idOf,
    ),
    heads: selectNext(given.lanes),
    listening: selectListening(),
  });
  const accepted = acceptedOf(given, seen.settled);
  const clock = seen.clock[0] ?? 0;
  const mayStart = accepted.size === given.finished.length && seen.unchanged[0] === true;
  const next = mayStart ? nextOf(given, seen.heads, new Set(seen.open)) : [];
  const ids = next.map(({ id }) => id);
  const { session, claimLeaseMs: leaseMs, leaseMs: ownLeaseMs } = given;
  const quiet = seen.listening.length === 0;
  const { claimed } = yield* lastFlight({
    tellSettled: !quiet && tellExits(exits.filter(({ id }) => accepted.has(id))),
    claimed: ids.length > 0 && claim({ ids, session, held: true, leaseMs, ownLeaseMs }, dialect),
    tellClaimed: !quiet && ids.length > 0 && tellClaimed(ids, session),
  });
  const from = new Map(next.toReversed().map(({ lane, priority, at, id }) => [lane, { priority, at, id }]));
  return { now: clock, claimed: claimed.sort(byEpoch), accepted, from };
}

/** The end of the span is compared later: no index leads to it here, and without one the whole line is read. */
const selectNext = (lanes: Swap["lanes"]): Sql<HeadRow> =>
  each(
    LANE,
    lanes.map(spansOf),
    (of) =>
      sql`${UNIT} FROM sluice_waiting w WHERE w.lane = ${of("lane")} AND (w.precedence, w.at, w.id) >= (${of("from_precedence")}, ${of("from_at")}, ${of("from_id")})
      AND (w.good_until IS NULL OR w.good_until > ${now}) ORDER BY w.precedence, w.at, w.id LIMIT ${of("want")}${forUpdateSkipLocked}`,
  ).as(headRow);

function nextOf({ lanes }: Swap, heads: readonly HeadRow[], open: ReadonlySet<string>): HeadRow[] {
  const before = new Map(lanes.map((lane) => [lane.id, lane.before]));
  const mayGo = (head: HeadRow): boolean =>
    open.has(head.lane) && isBefore(head, before.get(head.lane) ?? END);
  return heads.filter(mayGo);
}
