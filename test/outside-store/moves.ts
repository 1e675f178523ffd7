/** The writes of a pass: claims begin and end, and units and lanes move. */
import type {
  Claimed,
  Ended,
  Epoch,
  EventKind,
  FinalState,
  LaneMove,
  Moves,
  Recovery,
  Revoked,
} from "sluice/store";
import type { Claim, Unit, World } from "./world.ts";
import { current, inLine, tell } from "./world.ts";

const ENDED: Readonly<Record<FinalState, EventKind>> = {
  succeeded: "TaskSucceeded",
  failed: "TaskFailed",
  cancelled: "TaskCancelled",
  expired: "TaskExpired",
  quarantined: "TaskQuarantined",
};

/** True if the report was about the current claim. Any other report changes nothing. */
export function settle(world: World, now: number, report: Ended | Revoked): boolean {
  if ("revoked" in report) return recover(world, now, report);
  const found = current(world, report);
  if (!found) return false;
  const { to, body, delayMs } = report;
  if (to === "gone") world.units.delete(report.id);
  else if (to === "returned") giveBack(world, now, found.unit);
  else if (to === "retry") {
    const data = `{"delayMs":${delayMs},"error":${body ?? "null"}}`;
    tell(world, report.id, { kind: "TaskRetried", at: now, data });
    putInLine(world, found.unit, now + delayMs, delayMs > 0);
  } else end(world, now, found.unit, to, body);
  return true;
}

export function recover(world: World, now: number, { to, body, ...held }: Recovery): boolean {
  const found = current(world, held);
  if (!found) return false;
  if (to === "waiting") {
    giveBack(world, now, found.unit);
    return true;
  }
  found.unit.losses += 1;
  if (to === "gone") world.units.delete(held.id);
  else if (to === "retry") {
    tell(world, held.id, { kind: "TaskLost", at: now, data: body });
    putInLine(world, found.unit, now, false);
  } else end(world, now, found.unit, to, body);
  return true;
}

/** Puts the unit back in its old place and gives its attempt back. */
function giveBack(world: World, now: number, unit: Unit): void {
  unit.attempt -= 1;
  tell(world, unit.id, { kind: "TaskReturned", at: now, data: null });
  putInLine(world, unit, unit.at, false);
  unit.since = now;
}

function putInLine(world: World, unit: Unit, at: number, isLater: boolean): void {
  unit.place = isLater ? "later" : "waiting";
  unit.at = at;
  unit.since = at;
  unit.claim = null;
  if (!isLater) world.arrivals.add(unit.id);
}

export function end(world: World, now: number, unit: Unit, to: FinalState, body: string | null): void {
  if (unit.place !== "claimed") unit.claim = null;
  unit.place = to;
  unit.endedAt = now;
  unit.body = body;
  tell(world, unit.id, { kind: ENDED[to], at: now, data: to === "succeeded" ? null : body });
}

export function begin(world: World, now: number, claim: Epoch): void {
  const found = current(world, claim)?.claim;
  if (!found?.held || found.isStarted || (found.until ?? 0) <= now) return;
  found.isStarted = true;
  found.until = null;
}

/** A claim made ahead of time takes its slots. */
export function start(world: World, now: number, claim: Epoch): boolean {
  const found = current(world, claim)?.claim;
  if (!found || found.held || (found.until ?? 0) <= now) return false;
  Object.assign(found, { held: true, isStarted: true, until: null });
  tell(world, claim.id, { kind: "TaskStarted", at: now, data: null });
  return true;
}

export function claim(world: World, now: number, session: string, moves: Moves): Claimed[] {
  const wanted = new Map(moves.claim.map((one) => [one.id, one]));
  return [...world.units.values()]
    .filter(({ id, place }) => place === "waiting" && wanted.has(id))
    .sort(inLine)
    .map((unit) => {
      const { held = false, leaseMs = null } = wanted.get(unit.id) ?? {};
      const until = now + Math.min(moves.claimLeaseMs, leaseMs ?? moves.claimLeaseMs);
      world.epoch += 1;
      const begun = { epoch: world.epoch, session, claimedAt: now, leaseMs };
      const made: Claim = { ...begun, held, until, isStarted: false, progress: null };
      Object.assign(unit, { place: "claimed", attempt: unit.attempt + 1, claim: made });
      const data = JSON.stringify({ attempt: unit.attempt, epoch: made.epoch, session });
      tell(world, unit.id, { kind: "TaskClaimed", at: now, data });
      return claimedRow(unit, made);
    });
}

export function claimedRow(unit: Unit, { epoch, held, leaseMs }: Claim): Claimed {
  const { id, name, lane, attempt, losses, input, options, goodUntil } = unit;
  return { id, name, lane: lane.id, epoch, attempt, losses, held, input, options, goodUntil, leaseMs };
}

/** The move is dropped if the lane has changed since it was seen. */
export function moveLane(
  world: World,
  now: number,
  { lane: id, stamp, head, slots: _, ...to }: LaneMove,
): void {
  const lane = world.lanes.get(id);
  if (lane?.stamp !== stamp) return;
  world.lanes.set(id, { ...lane, ...to, head: head ?? lane.head, stamp: stamp + 1 });
  if (to.blocked !== lane.blocked) tell(world, id, { kind: "LaneWaiting", at: now, data: to.blocked });
}
