/** Builds the view that a pass sees. */
import type { GateRow, LaneRow, Scope, Usage, View } from "sluice/store";
import { inForce } from "./gates.ts";
import type { Lane, World } from "./world.ts";
import { claims, inLine, isLost } from "./world.ts";

export function look(world: World, now: number, scope: Scope): View {
  const named = new Set(scope.lanes.map(({ id }) => id));
  const known = new Set([...named, ...scope.without]);
  const beyond = (queue: string): LaneRow[] =>
    [...world.lanes.values()]
      .filter((lane) => lane.queue === queue && lane.state !== "idle" && !known.has(lane.id))
      .sort((a, b) => inLine(a.head, b.head))
      .slice(0, scope.perQueue)
      .map(laneRow);
  return {
    now,
    gates: [...gateRows(world, scope.shared, false), ...gateRows(world, scope.exclusive, true)],
    usage: usage(world, now),
    lanes: [...named].flatMap((id) => world.lanes.get(id) ?? []).map(laneRow),
    heads: scope.lanes.flatMap(({ id, want }) => heads(world, id).slice(0, want)),
    prefetched: prefetched(world, now, scope),
    sessions: [...world.sessions.values()].filter(({ expiresAt }) => expiresAt > now),
    lost: lost(world, now),
    beyond: scope.intake ? scope.queues.flatMap(beyond) : [],
  };
}

const laneRow = (lane: Lane): LaneRow => ({ ...lane, rank: 100 });

const heads = (world: World, lane: string): View["heads"] =>
  [...world.units.values()]
    .filter((unit) => unit.lane.id === lane && unit.place === "waiting" && world.lanes.has(lane))
    .sort(inLine)
    .map(({ id, priority, at, goodUntil }) => ({ id, lane, priority, at, goodUntil }));

const gateRows = (world: World, keys: readonly string[], locked: boolean): GateRow[] =>
  keys.flatMap((key) => {
    const gate = world.gates.get(key);
    return gate ? [{ key, ...inForce(world.gates, gate), locked }] : [];
  });

export function usage(world: World, now: number): Usage[] {
  const rows = new Map<string, Usage>();
  for (const { unit, claim } of claims(world)) {
    const { session, held } = claim;
    const lost = isLost(world, now, claim);
    const key = JSON.stringify([unit.lane.id, session, held, lost]);
    const units = (rows.get(key)?.units ?? 0) + 1;
    rows.set(key, { lane: unit.lane.id, asks: unit.lane.asks, session, held, lost, units });
  }
  return [...rows.values()];
}

function prefetched(world: World, now: number, { session, prefetching }: Scope): View["prefetched"] {
  const shown = new Map<string, number>();
  return claims(world)
    .filter(({ claim }) => claim.session === session && !claim.held && !isLost(world, now, claim))
    .filter(({ unit }) => unit.goodUntil === null || unit.goodUntil > now)
    .sort((a, b) => inLine(a.unit, b.unit))
    .filter(({ unit }) => {
      const place = (shown.get(unit.lane.id) ?? 0) + 1;
      shown.set(unit.lane.id, place);
      return place <= prefetching;
    })
    .map(({ unit: { id, lane, priority, at, goodUntil }, claim: { epoch } }) => {
      return { id, lane: lane.id, priority, at, goodUntil, epoch };
    });
}

const lost = (world: World, now: number): View["lost"] =>
  claims(world)
    .filter(({ claim }) => isLost(world, now, claim))
    .sort((a, b) => (a.unit.id < b.unit.id ? -1 : 1))
    .map(({ unit: { id, lane, attempt, losses, goodUntil, options, input }, claim }) => {
      const { epoch, held, isStarted } = claim;
      const seen = { options, input: options.includes('"onFailure"') ? input : null };
      return { id, epoch, lane: lane.id, started: held || isStarted, attempt, losses, goodUntil, ...seen };
    });
