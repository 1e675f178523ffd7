/**
 * The first flight of a pass, and the view that it gives. Finished claims are completed, the gates are
 * locked, and everything that the decision looks at is read in statements after the locks.
 */
import { familyIn } from "../../core/gate/key.ts";
import { inherit } from "../family.ts";
import type { Flow } from "../flow.ts";
import { flight } from "../flow.ts";
import type { ParkedLists } from "../parked.ts";
import { parkedLists, parkedView } from "../parked.ts";
import { only } from "../row.ts";
import type { Dialect } from "../sql.ts";
import { read } from "../sql.ts";
import type { Finished, GateRow, LaneRow, Scope, Stopped, Usage, View } from "../store.ts";
import { isStopped } from "../store.ts";
import { unlessInHand } from "../usage.ts";
import { selectArrivals } from "./arrival.ts";
import { lockById, markStarted } from "./claim.ts";
import * as look from "./look.ts";
import type { LostInHand } from "./lost.ts";
import { holdLost, selectLost } from "./lost.ts";
import { exitOf, settle } from "./settle.ts";
import type { LapsedInHand } from "./stopping.ts";
import { holdLapsed, release, selectLapsed } from "./stopping.ts";
import { selectListening } from "./tell.ts";

const SHORT_LINE = 64;

export const firstFlight = (scope: Scope, dialect: Dialect) => {
  const stopped = scope.finished.filter(isStopped);
  const laneIds = scope.lanes.map(({ id }) => id);
  const line = look.selectHeads(scope.lanes, { skipLocked: scope.sideBySide, arriving: scope.intake });
  // A long line is cheaper as rows than gathered into one text.
  const short = scope.lanes.reduce((sum, { want }) => sum + want, 0) <= SHORT_LINE && !scope.sideBySide;
  const ending = scope.finished.filter(isEnding);
  const ofRuns = ending.filter(({ news }) => news);
  return flight({
    inOrder: dialect === "postgres" && ofRuns.length > 1 && lockById(ofRuns),
    settled: settle(ending.map(exitOf), dialect),
    // This comes after `settled`, because a pass may report both for the same claim.
    released: stopped.length > 0 && release(stopped),
    begun: scope.started.length > 0 && markStarted(scope.started),
    gates: look.inLockOrder(scope).map(look.lockGates),
    arrivals: scope.intake && selectArrivals(),
    usage: read(look.selectUsage()),
    lanes: laneIds.length > 0 && read(look.selectLanes(laneIds)),
    heads: laneIds.length > 0 && (short ? read(line) : line),
    parked: scope.parkedOn.length > 0 && read(look.selectParkedQueues(scope.parkedOn)),
    beyond: scope.intake && scope.queues.length > 0 && read(look.selectBeyond(scope)),
    prefetched: scope.prefetching > 0 && read(look.selectPrefetched(scope.session, scope.prefetching)),
    sessions: read(look.selectClockAndSessions()),
    listening: selectListening(),
  });
};

export const isEnding = (finished: Finished): finished is Exclude<Finished, Stopped> => !isStopped(finished);

type Answered<F> = F extends Flow<infer T> ? T : never;

/** The answers of the first flight. */
export type PassSeen = Answered<ReturnType<typeof firstFlight>>;

/** The view of the decision, and the lapsed claims of stopping code that the pass has locked. */
export interface Looked {
  readonly view: View;
  readonly lapsed: readonly LapsedInHand[];
}

export function* lookAround(scope: Scope, seen: PassSeen): Flow<Looked> {
  const gates = gateRows(seen.gates);
  const parkedAt = seen.parked.flatMap(({ gate, queue }) => (queue === null ? [] : [{ gate, queue }]));
  const lists = parkedLists(
    parkedAt,
    [...scope.queues, ...scope.elsewhere],
    gates,
    unlessInHand(seen.usage, []),
  );
  const laneIds = scope.lanes.map(({ id }) => id);
  const { lost, lapsed, ...more } = yield* lookFurther(seen.usage, lists, laneIds);
  const view: View = {
    now: only(seen.sessions).now,
    gates,
    usage: unlessInHand(seen.usage, [...lost, ...lapsed]),
    lanes: seen.lanes,
    heads: seen.heads,
    prefetched: seen.prefetched,
    sessions: seen.sessions.flatMap(({ session }) => session ?? []).sort(byId),
    lost: lost.map(({ claim }) => claim),
    beyond: seen.beyond,
    ...parkedView(lists, more, laneIds),
  };
  return { view, lapsed };
}

interface Further {
  readonly lost: readonly LostInHand[];
  readonly lapsed: readonly LapsedInHand[];
  readonly fitting: readonly LaneRow[];
  readonly fronts: readonly LaneRow[];
}

/** Reads more only if there is something to see: lost claims, and lanes parked on gates that now have room. */
function* lookFurther(usage: readonly Usage[], lists: ParkedLists, known: readonly string[]): Flow<Further> {
  const someLost = usage.some((row) => row.lost);
  const { lost, lapsed, fitting, fronts } = yield* flight({
    lost: someLost && selectLost(),
    lapsed: someLost && selectLapsed(),
    fitting: lists.fitting.length > 0 && look.selectParked(lists.fitting, known),
    fronts: lists.fronts.length > 0 && look.selectParked(lists.fronts, []),
  });
  return { lost: yield* holdLost(lost), lapsed: yield* holdLapsed(lapsed), fitting, fronts };
}

function gateRows(found: readonly look.LockedGate[]): GateRow[] {
  const all = new Map(found.map(({ key, own }) => [key, own]));
  return found.map(({ key, own, locked }) => ({ key, ...inherit(key, own, familyIn(all, key)), locked }));
}

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);
