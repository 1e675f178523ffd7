/** The pass: it records finished units, looks, decides and writes. Nothing interleaves, so there is nothing to lock. */
import { familyOf } from "../../core/gate/key.ts";
import { parkedLists, parkedView } from "../parked.ts";
import type { GateRow, LaneMove, Moves, Passed, Scope, View } from "../store.ts";
import { isStopped } from "../store.ts";
import { unbornIn } from "../unborn.ts";
import { arrivals, beget, takeIn } from "./arrival.ts";
import { claim, markStarted, startPrefetched } from "./claim.ts";
import { endStopped } from "./end-line.ts";
import { enqueue } from "./enqueue.ts";
import * as look from "./look.ts";
import { followers, leaveNews, sorted } from "./news.ts";
import { gateInForce } from "./read.ts";
import { exitOf, exitOfLost, expire, settle } from "./settle.ts";
import { lapsed, release } from "./stopping.ts";
import type { StoppingRecord, Tables } from "./tables.ts";
import { eventKey, negated } from "./tables.ts";

export function pass(tables: Tables, now: number, scope: Scope, decide: (view: View) => Moves): Passed {
  const endings = scope.finished.flatMap((one) => (isStopped(one) ? [] : [one]));
  const settled = settle(tables, now, endings.map(exitOf));
  release(tables, scope.finished.filter(isStopped));
  markStarted(tables, now, scope.started);
  const arrived = scope.intake ? arrivals(tables) : [];
  const gone = lapsed(tables, now);
  const view = lookAround(tables, now, scope, gone);
  const moves = decide(view);

  const recovered = settle(tables, now, moves.recover.map(exitOfLost));
  release(tables, gone);
  const accepted = scope.finished.filter(({ epoch }) => settled.has(epoch));
  const news = [...(scope.news ?? []), ...accepted.flatMap((one) => one.news ?? []), ...(moves.news ?? [])];
  const { atOnce, unlessFollowed } = sorted(news);
  // This comes before the claims and the starts, so that none of the ended units starts.
  for (const one of news) endStopped(tables, now, one);
  const failed = [...accepted, ...moves.recover.filter(({ epoch }) => recovered.has(epoch))];
  enqueue(
    tables,
    now,
    failed.flatMap((one) => ("handler" in one && one.handler) || []),
  );
  dropExpired(tables, now, moves.expire);
  const claimer = { session: scope.session, leaseMs: moves.claimLeaseMs };
  const claimed = claim(tables, now, moves.claim, claimer);
  leaveNews(tables, atOnce);
  const following = followers(scope, view, moves);
  leaveNews(
    tables,
    unlessFollowed.filter(({ lane = "" }) => !tables.running.of(following.get(lane) ?? "").length),
  );
  const started = startPrefetched(tables, now, moves.start);
  for (const move of moves.lanes) moveLane(tables, now, move);
  const opened = takeIn(tables, arrived);
  for (const gate of unbornIn(view)) beget(tables, gate);
  return { now, claimed, started, accepted: new Set(accepted.map(({ id }) => id)), arrived: opened };
}

function lookAround(tables: Tables, now: number, scope: Scope, gone: readonly StoppingRecord[]): View {
  const named = scope.lanes.map(({ id }) => id);
  const gates = gatesOf(tables, scope);
  const parkedAt = scope.parkedOn.flatMap((gate) => look.parkedQueues(tables, gate).slice(0, 1));
  const lists = parkedLists(
    parkedAt,
    [...scope.queues, ...scope.elsewhere],
    gates,
    look.usage(tables, now, []),
  );
  const known = new Set([...named, ...scope.without]);
  const lost = look.lost(tables, now);
  return {
    now,
    gates,
    usage: look.usage(tables, now, [...lost, ...gone]),
    lanes: look.lanesNamed(tables, named),
    heads: look.heads(tables, scope.lanes),
    prefetched: look.prefetched(tables, now, scope.session, scope.prefetching),
    sessions: look.alive(tables, now),
    lost,
    beyond: look.openBeyond(tables, scope.intake ? scope.queues : [], known, scope.perQueue),
    ...parkedView(
      lists,
      {
        fitting: look.parkedOn(tables, lists.fitting, new Set(named)),
        fronts: look.parkedOn(tables, lists.fronts, new Set()),
      },
      named,
    ),
  };
}

/** A gate of one value has its family's limit if the scope names the family too. */
function gatesOf(tables: Tables, { shared, exclusive }: Scope): GateRow[] {
  const named = new Set([...shared, ...exclusive]);
  const rows = (keys: readonly string[], locked: boolean): GateRow[] =>
    [...new Set(keys)].sort().flatMap((key): GateRow[] => {
      const gate = tables.gate.get(key);
      if (!gate) return [];
      const family = familyOf(key);
      const inherited = family !== null && named.has(family) ? tables.gate.get(family) : undefined;
      return [{ key, ...gateInForce(gate, inherited), locked }];
    });
  return [...rows(shared, false), ...rows(exclusive, true)];
}

function dropExpired(tables: Tables, now: number, ids: readonly string[]): void {
  const units = [...new Set(ids)].flatMap((id) => tables.waiting.get(id) ?? []);
  expire(tables, now, units);
  for (const { id } of units) tables.waiting.delete(id);
}

/**
 * Drops the move if the lane has changed since it was read. A change of the gates it waits for is recorded as
 * an event.
 */
function moveLane(tables: Tables, now: number, move: LaneMove): void {
  const lane = tables.lane.get(move.lane);
  if (!lane || lane.stamp !== move.stamp) return;
  const { state, parked, slots = 1, mark, blocked, head } = move;
  const n = blocked === lane.blocked ? lane.n : lane.n + 1;
  tables.lane.put({
    ...lane,
    state,
    parked,
    parkedSlots: slots,
    blocked,
    n,
    markUnit: mark?.unit ?? null,
    markPassed: mark?.passed ?? 0,
    markSince: mark?.since ?? 0,
    ...(head && { headPrecedence: negated(head.priority), headAt: head.at, headId: head.id }),
    stamp: lane.stamp + 1,
  });
  if (n > 0 && !tables.event.has(eventKey(lane.id, n)))
    tables.event.insert({ subject: lane.id, n, kind: "LaneWaiting", at: now, data: blocked });
}
