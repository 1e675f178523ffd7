/**
 * The pass: complete what finished, lock, look, decide, write; two flights and one commit.
 *
 * What finished is completed before the gates are locked: that can only lower usage, and it need not keep others
 * waiting. It cannot deadlock with recovery, which passes over claims that somebody has in hand. From then on the
 * order of locks is the same everywhere: gates by name, lost claims, waiting units, lanes by id.
 * Nothing is awaited between the first lock and the commit but the database's own answers.
 */

import { familyIn } from "../../core/gate/key.ts";
import { inherit } from "../family.ts";
import type { Flight, Flow, Row } from "../flow.ts";
import { flight, lastFlight } from "../flow.ts";
import type { ParkedLists } from "../parked.ts";
import { parkedLists, parkedView } from "../parked.ts";
import type { Dialect, Sql } from "../sql.ts";
import { read } from "../sql.ts";
import type {
  Claimed,
  Finished,
  GateRow,
  HeadRow,
  LostRow,
  Moves,
  News,
  Passed,
  Scope,
  SessionRow,
  Stopped,
  Usage,
  View,
} from "../store.ts";
import { isStopped } from "../store.ts";
import { unlessInHand } from "../usage.ts";
import { bestPerLane, deleteArrivals, selectArrivals, takeIn } from "./arrival.ts";
import { claim, markStarted, startPrefetched } from "./claim.ts";
import { endItems, expireWaiting } from "./expire.ts";
import { ownGate } from "./gate-row.ts";
import { laneRow, lockLanes, moveLanes } from "./lanes.ts";
import * as look from "./look.ts";
import { followers, insertNews, insertNewsUnless, sorted } from "./news.ts";
import type { Exit, Settling } from "./settle.ts";
import { exitOf, exitOfLost, lockClaims, settle } from "./settle.ts";
import { holdLapsed, release, selectLapsed } from "./stopping.ts";
import { selectListening, tellClaimed, tellEnded, tellMoved, tellStarted } from "./tell.ts";

const SHORT_LINE = 64;

export function* pass(scope: Scope, decide: (view: View) => Moves, dialect: Dialect): Flow<Passed> {
  const first = new Statements();
  const exits = scope.finished.filter(isEnding).map(exitOf);
  const settled = first.settle(settle(exits, dialect));
  const stopped = scope.finished.filter(isStopped);
  // After what has ended: of one claim, both may be said in one breath.
  if (stopped.length > 0) first.addAll(release(stopped));
  first.add(scope.started.length > 0 && markStarted(scope.started));
  const locks = look.inLockOrder(scope).map(({ keys, mode }) => ({
    mode,
    answer: first.add(look.lockGates(keys, mode)),
  }));
  const arrivals = first.add(scope.intake && selectArrivals());
  const usage = first.add(read(look.selectUsage()));
  const laneIds = scope.lanes.map(({ id }) => id);
  const lanes = first.add(laneIds.length > 0 && read(look.selectLanes(laneIds)));
  const line = look.selectHeads(scope.lanes, { skipLocked: scope.skipLocked, arriving: scope.intake });
  // A long line is better off as rows than gathered into a text.
  const short = scope.lanes.reduce((sum, { want }) => sum + want, 0) <= SHORT_LINE && !scope.skipLocked;
  const heads = first.add(laneIds.length > 0 && (short ? read(line) : line));
  const parked = first.add(scope.unpark.length > 0 && read(look.selectParkedQueues(scope.unpark)));
  const beyond = first.add(scope.intake && scope.queues.length > 0 && read(look.selectBeyond(scope)));
  const prefetched = first.add(
    scope.prefetching > 0 && read(look.selectPrefetched(scope.session, scope.prefetching)),
  );
  const sessions = first.add(read(look.selectClockAndSessions()));
  const listening = first.add(selectListening());
  const seen = yield* flight(...first.list);

  const usageRows = seen[usage]?.map(usageRow) ?? [];
  const gates = gateRows(
    locks.map(({ mode, answer }) => ({ locked: mode === "exclusive", rows: seen[answer] ?? [] })),
  );
  const parkedAt = (seen[parked] ?? []).filter(({ queue }) => queue !== null);
  const lists = parkedLists(parkedAt as never, scope.queues, gates, unlessInHand(usageRows, []));
  const more = yield* lookFurther(usageRows, lists, laneIds);
  const view: View = {
    now: Number(seen[sessions]?.[0]?.now),
    gates,
    usage: unlessInHand(usageRows, [...more.lost, ...more.lapsed].map(inHand)),
    lanes: (seen[lanes] ?? []).map(laneRow),
    heads: (seen[heads] ?? []).map(headRow),
    prefetched: (seen[prefetched] ?? []).map((row) => ({ ...headRow(row), epoch: Number(row.epoch) })),
    sessions: (seen[sessions] ?? []).flatMap(sessionRow).sort(byId),
    lost: more.lost.map(lostRow),
    beyond: (seen[beyond] ?? []).map(laneRow),
    ...parkedView(lists, { fitting: more.parked.map(laneRow), fronts: more.fronts.map(laneRow) }, laneIds),
  };
  const moves = decide(view);

  const second = new Statements();
  const quiet = (seen[listening] ?? []).length === 0;
  const current = new Set(settled.flatMap((index) => seen[index] ?? []).map(({ epoch }) => Number(epoch)));
  const accepted = acceptedOf(scope, current);
  if (!quiet) second.addAll(tellExits(exits.filter(({ epoch }) => current.has(epoch))));
  const recovered = moves.recover.map(exitOfLost);
  second.settle(settle(recovered, dialect));
  if (!quiet) second.addAll(tellExits(recovered));
  if (more.lapsed.length > 0) second.addAll(release(more.lapsed.map(claimOf)));
  const arrived = seen[arrivals] ?? [];
  // What arrives in a lane that was set aside waits there with the others.
  const opened = bestPerLane(arrived.filter((row) => Number(row.aside) === 0));
  if (arrived.length > 0) second.add(deleteArrivals(arrived.map((row) => Number(row.seq))));
  if (moves.expire.length > 0) second.addAll(expireWaiting(moves.expire, dialect, quiet));
  const news = [...(scope.news ?? []), ...newsOfFinished(scope, accepted), ...(moves.news ?? [])];
  const { atOnce, unlessFollowed } = sorted(news);
  // Before anything is claimed: what was to be claimed of them is gone.
  for (const { run, failed } of news.filter(({ stops }) => stops))
    second.addAll(endItems({ run, step: failed as string, inFlight: false }, dialect, quiet));
  const claims = alike(moves).map((group) =>
    second.addAll(claim({ ...group, session: scope.session, leaseMs: moves.claimLeaseMs }, dialect)),
  );
  second.add(atOnce.length > 0 && insertNews(atOnce));
  second.add(unlessFollowed.length > 0 && insertNewsUnless(unlessFollowed, followers(scope, view, moves)));
  if (!quiet && moves.claim.length > 0)
    second.add(
      tellClaimed(
        moves.claim.map(({ id }) => id),
        scope.session,
      ),
    );
  const started = moves.start.length > 0 ? second.addAll(startPrefetched(moves.start)) : -1;
  if (!quiet && moves.start.length > 0) second.add(tellStarted(moves.start));
  const touched = [...moves.lanes.map(({ lane }) => lane), ...opened.map((row) => row.lane as string)];
  if (touched.length > 1) second.add(lockLanes(touched));
  // First what was decided, then what has arrived: an arrival changes the stamp that a move was decided on.
  if (moves.lanes.length > 0) second.addAll(moveLanes(moves.lanes));
  if (opened.length > 0) second.addAll(takeIn(opened));
  const written = yield* lastFlight(...second.list);
  return {
    now: view.now,
    claimed: claims.flatMap((index) => inEpochs(written[index] ?? [])),
    started: (written[started] ?? []).map((row) => row.id as string),
    accepted,
    arrived: opened.map(
      (row) => ({ id: row.lane, queue: row.queue, task: row.task, asks: row.asks }) as never,
    ),
  };
}

/** What became of claims that were settled in this pass, before anything is claimed again. */
function tellExits(exits: readonly Exit[]): Sql[] {
  const ended = exits.filter(({ to }) => to === "outcome").map(({ id }) => id);
  const moved = exits.filter(({ to }) => to !== "outcome").map(({ id }) => id);
  return [...(ended.length > 0 ? [tellEnded(ended)] : []), ...(moved.length > 0 ? [tellMoved(moved)] : [])];
}

/** Only where there is something to see: claims of lost holders, and lanes parked where there is room now. */
function* lookFurther(usage: readonly Usage[], lists: ParkedLists, known: readonly string[]) {
  const statements = new Statements();
  const someLost = usage.some((row) => row.lost);
  const lost = statements.add(someLost && look.selectLost());
  const lapsed = statements.add(someLost && selectLapsed());
  const parked = statements.add(lists.fitting.length > 0 && look.selectParked(lists.fitting, known));
  const fronts = statements.add(lists.fronts.length > 0 && look.selectParked(lists.fronts, []));
  const seen: Row[][] = statements.list.length > 0 ? yield* flight(...statements.list) : [];
  return {
    lost: yield* holdLost(seen[lost] ?? []),
    lapsed: yield* holdLapsed(seen[lapsed] ?? []),
    parked: seen[parked] ?? [],
    fronts: seen[fronts] ?? [],
  };
}

/** Its holder may still be alive and just reporting: what is gone, started or renewed by the time we hold it is not lost. */
function* holdLost(candidates: readonly Row[]): Generator<Flight, Row[], Row[][]> {
  if (candidates.length === 0) return [];
  const byEpoch = new Map(candidates.map((row) => [Number(row.epoch), row]));
  const [held = []] = yield* flight(
    lockClaims(candidates.map((row) => ({ id: row.id as string, epoch: Number(row.epoch) }))),
  );
  return held.flatMap((row) => {
    const seen = byEpoch.get(Number(row.epoch));
    const isAsSeen = seen?.started_at === row.started_at && seen?.until_at === row.until_at;
    return seen && isAsSeen ? [{ ...row, options: seen.options }] : [];
  });
}

/** Claims of one kind are made by one statement; hardly ever are there more than two kinds. */
function alike({ claim: claims }: Moves): { ids: string[]; held: boolean; ownLeaseMs: number | null }[] {
  const groups = new Map<string, { ids: string[]; held: boolean; ownLeaseMs: number | null }>();
  for (const { id, held, leaseMs = null } of claims) {
    const key = `${held ? 0 : 1} ${leaseMs}`;
    const group = groups.get(key);
    if (group) group.ids.push(id);
    else groups.set(key, { ids: [id], held, ownLeaseMs: leaseMs });
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

const acceptedOf = ({ finished }: Scope, current: ReadonlySet<number>): Set<string> =>
  new Set(finished.filter(({ epoch }) => current.has(epoch)).map(({ id }) => id));

const isEnding = (finished: Finished): finished is Exclude<Finished, Stopped> => !isStopped(finished);

const claimOf = (row: Row) => ({ id: row.id as string, epoch: Number(row.epoch) });

const newsOfFinished = ({ finished }: Scope, accepted: ReadonlySet<string>): News[] =>
  finished.flatMap(({ id, news }) => (news && accepted.has(id) ? [news] : []));

function gateRows(
  answers: readonly { readonly locked: boolean; readonly rows: readonly Row[] }[],
): GateRow[] {
  const all = new Map(answers.flatMap(({ rows }) => rows.map((row) => [row.name as string, ownGate(row)])));
  return answers.flatMap(({ locked, rows }) =>
    rows.map((row): GateRow => {
      const key = row.name as string;
      return { key, ...inherit(ownGate(row), familyIn(all, key)), locked };
    }),
  );
}

export const usageRow = (row: Row): Usage => ({
  lane: row.lane as string,
  asks: row.asks as string,
  session: row.session as string,
  held: Number(row.held) === 1,
  lost: Number(row.lost) === 1,
  units: Number(row.units),
});

export const headRow = (row: Row): HeadRow => ({
  id: row.id as string,
  lane: row.lane as string,
  priority: 0 - Number(row.precedence),
  at: Number(row.at),
  goodUntil: row.good_until === null ? null : Number(row.good_until),
});

const inHand = (row: Row) => ({
  lane: row.lane as string,
  session: row.session as string,
  held: Number(row.held) === 1,
});

const lostRow = (row: Row): LostRow => ({
  id: row.id as string,
  epoch: Number(row.epoch),
  lane: row.lane as string,
  // A claim with its slots may have begun even if nobody has said so yet.
  started: row.started_at !== null || Number(row.held) === 1,
  attempt: Number(row.attempt),
  losses: Number(row.losses),
  goodUntil: row.good_until === null ? null : Number(row.good_until),
  options: row.options as string,
});

/** The clock's row has no session when none is alive. */
const sessionRow = (row: Row): SessionRow[] =>
  row.id === null ? [] : [{ id: row.id as string, slots: Number(row.slots), serves: row.serves as string }];

/** Sorted here: MySQL would sort whole inputs on disk. */
export const inEpochs = (rows: readonly Row[]): Claimed[] =>
  rows.map(claimedRow).sort((a, b) => a.epoch - b.epoch);

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);

const claimedRow = (row: Row): Claimed => ({
  id: row.id as string,
  name: row.name as string,
  lane: row.lane as string,
  epoch: Number(row.epoch),
  attempt: Number(row.attempt),
  losses: Number(row.losses),
  held: Number(row.held) === 1,
  input: row.input as string,
  options: row.options as string,
  goodUntil: row.good_until === null ? null : Number(row.good_until),
  leaseMs: row.lease_ms === null ? null : Number(row.lease_ms),
});

/** Collects the statements of a flight and remembers where each answer will stand. */
class Statements {
  readonly list: Sql[] = [];

  /** The index of its answer; -1 for one that is not needed. */
  add(statement: Sql | false): number {
    return statement ? this.list.push(statement) - 1 : -1;
  }

  /** Where the answers stand that name what was still current. */
  settle({ statements, accepted }: Settling): number[] {
    const base = this.list.length;
    this.addAll(statements);
    return accepted.map((index) => base + index);
  }

  /** The index of the last one's answer. */
  addAll(statements: readonly Sql[]): number {
    for (const statement of statements) this.list.push(statement);
    return this.list.length - 1;
  }
}
