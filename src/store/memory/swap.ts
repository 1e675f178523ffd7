/** The swap: finished units are replaced by the next of their lanes, if nothing has changed that a pass would decide about. */
import { END, isBefore } from "../lane-place.ts";
import type { AheadClaim, HeadRow, Swap, SwapLane, Swapped } from "../store.ts";
import { claim, markStarted, startPrefetched } from "./claim.ts";
import { headRow } from "./look.ts";
import { exitOf, settle } from "./settle.ts";
import type { Tables } from "./tables.ts";
import { inLine } from "./tables.ts";

export function swap(tables: Tables, now: number, given: Swap): Swapped {
  const settled = settle(tables, now, given.finished.map(exitOf));
  markStarted(tables, now, given.started);
  const done = given.finished.filter(({ epoch }) => settled.has(epoch));
  const mayStart = done.length === given.finished.length && isUnchanged(tables, now, given);
  const units = mayStart ? given.lanes.flatMap((lane) => next(tables, now, lane)) : [];
  const started = mayStart ? startPrefetched(tables, now, readyOf(tables, now, given)) : [];
  const claims = units.map(({ id }) => ({ id, held: true, leaseMs: given.leaseMs }));
  const claimed = claim(tables, now, claims, { session: given.session, leaseMs: given.claimLeaseMs });
  const from = new Map(units.toReversed().map(({ lane, priority, at, id }) => [lane, { priority, at, id }]));
  return { now, claimed, started, accepted: new Set(done.map(({ id }) => id)), from };
}

function readyOf(tables: Tables, now: number, { ahead }: Swap): AheadClaim[] {
  const isGood = ({ epoch, lane }: AheadClaim): boolean =>
    tables.lane.get(lane)?.state === "open" && (tables.running.get(epoch)?.goodUntil ?? now + 1) > now;
  return ahead.filter(isGood);
}

function isUnchanged(tables: Tables, now: number, { session, sessions, gates, parkedOn }: Swap): boolean {
  const keys = new Set(parkedOn);
  if (tables.lane.all().some(({ parked }) => parked !== null && keys.has(parked))) return false;
  const seen = new Set([session, ...sessions]);
  const living = tables.session.all().filter(({ expiresAt }) => expiresAt > now);
  if (living.some(({ id }) => !seen.has(id)) || living.every(({ id }) => id !== session)) return false;
  return gates.every(({ key, limit, paused, line, leaseMs }) => {
    const gate = tables.gate.get(key);
    const isSame = gate?.capacity === limit && gate.paused === paused;
    return isSame && gate.line === line && gate.leaseMs === leaseMs;
  });
}

function next(tables: Tables, now: number, { id, want, from, before }: SwapLane): HeadRow[] {
  if (tables.lane.get(id)?.state !== "open") return [];
  const line = tables.waiting.of(id).sort(inLine).map(headRow);
  const ready = line.filter((unit) => !isBefore(unit, from) && (unit.goodUntil ?? now + 1) > now);
  return ready.slice(0, want).filter((unit) => isBefore(unit, before ?? END));
}
