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
import { flag } from "../row.ts";
import type { Dialect, Sql } from "../sql.ts";
import { each, forUpdateSkipLocked, now, rows, sql } from "../sql.ts";
import type { HeadRow, LanePlace, Swap, SwapLane, Swapped } from "../store.ts";
import type { ClaimedThere } from "./claim.ts";
import { byEpoch, claim, claimChosen, markStarted, startPrefetched } from "./claim.ts";
import { headRow, selectNow, UNIT } from "./look.ts";
import { tellExits } from "./pass-write.ts";
import { exitOf, SETTLED, settle, settleUnheard } from "./settle.ts";
import { lanesOf, readyOf, selectOpen, selectReady, startAhead } from "./swap-ahead.ts";
import { isUnchanged, OPEN, shareGates } from "./swap-checks.ts";
import { selectListening, tellClaimed, tellStarted } from "./tell.ts";

export const swap = (given: Swap, dialect: Dialect): Flow<Swapped | undefined> =>
  dialect === "postgres" ? swapAtOnce(given) : swapInSteps(given, dialect);

function* swapAtOnce(given: Swap): Flow<Swapped | undefined> {
  const { settled, shared, claimed, ahead } = yield* lastFlight({
    settled: settleUnheard(given.finished.map(exitOf)),
    begun: given.started.length > 0 && markStarted(given.started),
    shared: shareGates(given),
    claimed: given.lanes.length > 0 && claimNext(given),
    ahead: given.ahead.length > 0 && startAhead(given),
  });
  if (settled.length === 0) return undefined;
  claimed.sort((a, b) => byEpoch(a.claim, b.claim));
  const from = new Map<string, LanePlace>();
  for (const { claim: one, priority, at } of claimed)
    if (!from.has(one.lane)) from.set(one.lane, { priority, at, id: one.id });
  return {
    now: shared[0] ?? null,
    claimed: claimed.map(({ claim: one }) => one),
    started: ahead,
    accepted: acceptedOf(given, settled),
    from,
  };
}

function acceptedOf({ finished }: Swap, settled: readonly number[]): Set<string> {
  const epochs = new Set(settled);
  return new Set(finished.filter(({ epoch }) => epochs.has(epoch)).map(({ id }) => id));
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
    open: selectOpen(lanesOf(given)),
    heads: given.lanes.length > 0 && selectNext(given.lanes),
    ready: given.ahead.length > 0 && selectReady(given.ahead),
    listening: selectListening(),
  });
  const accepted = acceptedOf(given, seen.settled);
  const clock = seen.clock[0] ?? 0;
  const mayStart = accepted.size === given.finished.length && seen.unchanged[0] === true;
  const next = mayStart ? nextOf(given, seen.heads, new Set(seen.open)) : [];
  const start = mayStart ? readyOf(given, seen.ready, new Set(seen.open)) : [];
  const ids = next.map(({ id }) => id);
  const { session, claimLeaseMs: leaseMs, leaseMs: ownLeaseMs } = given;
  const quiet = seen.listening.length === 0;
  const { claimed, started } = yield* lastFlight({
    tellSettled: !quiet && tellExits(exits.filter(({ id }) => accepted.has(id))),
    claimed: ids.length > 0 && claim({ ids, session, held: true, leaseMs, ownLeaseMs }, dialect),
    tellClaimed: !quiet && ids.length > 0 && tellClaimed(ids, session),
    started: start.length > 0 && startPrefetched(start),
    tellStarted: !quiet && start.length > 0 && tellStarted(start),
  });
  const from = new Map(next.toReversed().map(({ lane, priority, at, id }) => [lane, { priority, at, id }]));
  return { now: clock, claimed: claimed.sort(byEpoch), started, accepted, from };
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
