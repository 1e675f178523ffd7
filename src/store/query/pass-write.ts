/** The second flight of a pass: writes the decisions and takes in the arrivals, in lock order. */
import { lastFlight } from "../flow.ts";
import type { Dialect, Sql } from "../sql.ts";
import type { Claimed, Moves, News, NewTask, Scope } from "../store.ts";
import { HANDED_MS } from "../store.ts";
import { unbornIn } from "../unborn.ts";
import type { Announced, Arrived } from "./arrival.ts";
import { bestPerLane, deleteArrivals, insertGates, takeIn } from "./arrival.ts";
import { claim, startPrefetched } from "./claim.ts";
import { endStopped } from "./end-line.ts";
import { insertAlso } from "./enqueue.ts";
import { expireWaiting } from "./expire.ts";
import { lockLanes, moveLanes } from "./lanes.ts";
import { followers, insertNews, insertNewsUnless, sorted } from "./news.ts";
import type { Looked, PassSeen } from "./pass-look.ts";
import { isEnding } from "./pass-look.ts";
import type { Exit } from "./settle.ts";
import { exitOf, exitOfLost, settle } from "./settle.ts";
import { release } from "./stopping.ts";
import { tellClaimed, tellEnded, tellMoved, tellStarted } from "./tell.ts";

/** Everything that a pass has to write. */
interface Decided extends Looked {
  readonly scope: Scope;
  readonly seen: PassSeen;
  readonly moves: Moves;
  /** Units whose reports were accepted. */
  readonly accepted: ReadonlySet<string>;
  /** Lanes with units to take in. */
  readonly opened: readonly Announced[];
}

export const secondFlight = (decided: Decided, dialect: Dialect) => {
  const { seen, moves, lapsed, opened } = decided;
  const touched = [...moves.lanes.map(({ lane }) => lane), ...opened.map(({ lane }) => lane)];
  const news = newsOf(decided);
  const recovered = moves.recover.map(exitOfLost);
  const quiet = seen.listening.length === 0;
  const ending = { dialect, quiet };
  const unborn = unbornIn(decided.view);
  return lastFlight({
    tellSettled: !quiet && tellExits(settledExits(decided)),
    recovered: settle(recovered, dialect),
    tellRecovered: !quiet && tellExits(recovered),
    released: lapsed.length > 0 && release(lapsed),
    takenIn: seen.arrivals.length > 0 && deleteArrivals(seen.arrivals.map(({ arrival }) => arrival.seq)),
    // They handle failures that this pass has recorded.
    handlers: insertAlso(handlersOf(decided)),
    expired: moves.expire.length > 0 && expireWaiting(moves.expire, ending),
    // This comes before the claims and the starts, so that none of the ended units starts.
    ended: news.flatMap((each) => endStopped(each, ending)),
    claimed: claims(decided, dialect),
    news: tellNews(news, decided),
    tellClaimed: !quiet && moves.claim.length > 0 && tellClaimed(idsOf(moves.claim), decided.scope.session),
    started: moves.start.length > 0 && startPrefetched(moves.start),
    tellStarted: !quiet && moves.start.length > 0 && tellStarted(moves.start),
    locked: touched.length > 1 && lockLanes(touched),
    // Decisions come before arrivals: an arrival changes the stamp on which a move was decided.
    moved: moves.lanes.length > 0 && moveLanes(moves.lanes, [...idsOf(moves.claim), ...moves.expire]),
    opened: opened.length > 0 && takeIn(opened),
    unborn: unborn.length > 0 && insertGates(unborn),
  });
};

/** Reports of the first flight whose epoch was still current. */
function settledExits({ scope, seen }: Decided): Exit[] {
  const current = new Set(seen.settled);
  const exits = scope.finished.filter(isEnding).map(exitOf);
  return exits.filter(({ epoch }) => current.has(epoch));
}

/** Reports what became of claims that were settled in this pass, before anything is claimed again. */
export function tellExits(exits: readonly Exit[]): Sql[] {
  const ended = idsOf(exits.filter(({ to }) => to === "outcome"));
  const moved = idsOf(exits.filter(({ to }) => to !== "outcome" && to !== "gone"));
  return [...(ended.length > 0 ? [tellEnded(ended)] : []), ...(moved.length > 0 ? [tellMoved(moved)] : [])];
}

const idsOf = (units: readonly { readonly id: string }[]): string[] => units.map(({ id }) => id);

/** Arrivals for a lane that is set aside do not open it. Their units wait there with the others. */
export const openedBy = (arrivals: readonly Arrived[]): Announced[] =>
  bestPerLane(arrivals.flatMap(({ arrival, aside }) => (aside ? [] : [arrival])));

export function acceptedOf({ finished }: Scope, { settled }: PassSeen): Set<string> {
  const epochs = new Set(settled);
  return new Set(finished.filter(({ epoch }) => epochs.has(epoch)).map(({ id }) => id));
}

const newsOf = ({ scope, accepted, moves }: Decided): News[] => [
  ...(scope.news ?? []),
  ...newsOfFinished(scope, accepted),
  ...(moves.news ?? []),
];

const newsOfFinished = ({ finished }: Scope, accepted: ReadonlySet<string>): News[] =>
  finished.flatMap(({ id, news }) => (news && accepted.has(id) ? [news] : []));

/** A report that came too late has failed nothing. Lost claims are locked, so their failures are certain. */
function handlersOf({ scope, accepted, moves, view }: Decided): NewTask[] {
  const lost = new Set(view.lost.map(({ epoch }) => epoch));
  const failures = [
    ...scope.finished.filter(({ id }) => accepted.has(id)),
    ...moves.recover.filter(({ epoch }) => lost.has(epoch)),
  ];
  return failures.flatMap((one) => ("handler" in one && one.handler) || []);
}

function tellNews(news: readonly News[], { scope, view, moves }: Decided): Sql[] {
  const { atOnce, unlessFollowed } = sorted(news);
  return [
    ...(atOnce.length > 0 ? [insertNews(atOnce)] : []),
    ...(unlessFollowed.length > 0 ? [insertNewsUnless(unlessFollowed, followers(scope, view, moves))] : []),
  ];
}

interface Alike {
  readonly ids: string[];
  readonly held: boolean;
  readonly ownLeaseMs: number | null;
  /** The session that they are handed to, if it is not the claimer's. */
  readonly handedTo: string | undefined;
}

const claims = ({ scope, moves }: Decided, dialect: Dialect): Sql<Claimed>[] =>
  alike(moves).flatMap(({ handedTo, ...group }) => {
    const leaseMs = handedTo === undefined ? moves.claimLeaseMs : HANDED_MS;
    return claim({ ...group, session: handedTo ?? scope.session, leaseMs }, dialect);
  });

/** Claims of the same kind are made by one statement. There are hardly ever more than two kinds. */
function alike({ claim: claims }: Moves): Alike[] {
  const groups = new Map<string, Alike>();
  for (const { id, held, leaseMs = null, session } of claims) {
    const key = `${held ? 0 : 1} ${leaseMs} ${session ?? ""}`;
    const group = groups.get(key);
    if (group) group.ids.push(id);
    else groups.set(key, { ids: [id], held, ownLeaseMs: leaseMs, handedTo: session });
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}
