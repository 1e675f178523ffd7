/** A store as an outside author might write it: the fewest ports that can process units, over plain maps. */
import { SluiceError } from "sluice";
import type { Capabilities, LaneSpec, PassPort, SessionPort, StoreWith } from "sluice/store";
import { asksOf, heldPerGate, isStopped, NOTHING_SERVED } from "sluice/store";
import { beget, gatePort } from "./gates.ts";
import { look, usage } from "./look.ts";
import { begin, claim, claimedRow, end, moveLane, recover, settle, start } from "./moves.ts";
import { enqueue, taskRow, tasks } from "./units.ts";
import type { Unit, World } from "./world.ts";
import { claims, current, emptyWorld, inLine, tell } from "./world.ts";

const PORTS = ["units", "passes", "sessions", "gates", "maintenance"] as const;
const AN_HOUR_MS = 3_600_000;

export const TOY: Capabilities = {
  ports: PORTS,
  durable: false,
  shared: false,
  passesAtOnce: false,
  callerTransaction: false,
  parking: false,
};

type ToyStore = StoreWith<(typeof PORTS)[number]>;

/** A world, and verbs on it that are atomic. */
class Toy {
  world: World = emptyWorld();
  readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  async write<T>(verb: (world: World, now: number) => T): Promise<T> {
    const before = structuredClone(this.world);
    try {
      return verb(this.world, this.now());
    } catch (error) {
      this.world = before;
      throw error;
    }
  }
}

export function openToy(now: () => number): ToyStore {
  const toy = new Toy(now);
  return {
    kind: "toy",
    capabilities: TOY,
    close: async () => {},
    migrate: async () => {},
    verify: async () => {},
    now: async () => now(),
    tend: () => toy.write(tend),
    enqueue: async (given, within) => {
      if (within !== undefined) throw new SluiceError("NO_CALLER_TRANSACTION", "A toy has no transactions.");
      return toy.write((world, at) => enqueue(world, at, given));
    },
    task: async (id) => {
      const unit = toy.world.units.get(id);
      return unit && taskRow(unit);
    },
    tasksById: async (ids) =>
      [...new Set(ids)].flatMap((id) => {
        const unit = toy.world.units.get(id);
        return unit ? [taskRow(unit)] : [];
      }),
    tasks: async (filter) => tasks(toy.world, filter),
    ended: async (ids) => ids.filter((id) => (toy.world.units.get(id)?.endedAt ?? 1) > 0),
    find: async (prefix) => [...toy.world.units.keys()].filter((id) => id.startsWith(prefix)).sort(),
    events: async (subject) => toy.world.events.get(subject) ?? [],
    ...sessionPort(toy),
    ...passPort(toy),
    ...gatePort({
      now,
      rows: () => toy.world.gates,
      heldPerGate: () => heldPerGate(usage(toy.world, now())),
      isAsked: (key) => [...toy.world.units.values()].some((unit) => isAsking(unit, key)),
      tell: (key, kind, data) => tell(toy.world, key, { kind, at: now(), data }),
    }),
  };
}

const isAsking = ({ lane, endedAt }: Unit, key: string): boolean =>
  endedAt === 0 && asksOf(lane.asks).some(({ gate }) => gate === key);

const passPort = (toy: Toy): PassPort => ({
  pass: (scope, decide) =>
    toy.write((world, now) => {
      const reports = scope.finished.flatMap((one) => (isStopped(one) ? [] : [one]));
      const accepted = new Set(reports.filter((one) => settle(world, now, one)).map(({ id }) => id));
      for (const one of scope.started) begin(world, now, one);
      const arriving = scope.intake ? [...world.arrivals] : [];
      const moves = decide(look(world, now, scope));
      const recovered = moves.recover.filter((one) => recover(world, now, one));
      const failed = [...reports.filter(({ id }) => accepted.has(id)), ...recovered];
      enqueue(
        world,
        now,
        failed.flatMap(({ handler }) => handler ?? []),
      );
      for (const id of moves.expire) {
        const unit = world.units.get(id);
        if (unit?.place === "waiting") end(world, now, unit, "expired", null);
      }
      const claimed = claim(world, now, scope.session, moves);
      const started = moves.start.filter((one) => start(world, now, one)).map(({ id }) => id);
      for (const move of moves.lanes) moveLane(world, now, move);
      return { now, claimed, started, accepted, arrived: takeIn(world, arriving) };
    }),
});

/** Creates lanes and gates with the first unit that needs them. */
function takeIn(world: World, ids: readonly string[]): LaneSpec[] {
  const arrived = new Map<string, LaneSpec>();
  for (const id of ids) {
    world.arrivals.delete(id);
    const unit = world.units.get(id);
    if (!unit) continue;
    const { lane, priority, at } = unit;
    for (const { gate } of asksOf(lane.asks)) beget(world.gates, gate);
    const head = { priority, at, id };
    const known = world.lanes.get(lane.id);
    const isNew = known === undefined || known.state === "idle";
    const first = isNew || inLine(head, known.head) < 0 ? head : known.head;
    const stamp = known ? known.stamp + Number(!arrived.has(lane.id)) : 0;
    const state = isNew ? "open" : known.state;
    const rest = known ?? { parked: null, mark: null, blocked: "[]" };
    world.lanes.set(lane.id, { ...rest, ...lane, head: first, stamp, state });
    arrived.set(lane.id, lane);
  }
  return [...arrived.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

const sessionPort = (toy: Toy): SessionPort => ({
  openSession: (session) =>
    toy.write((world, now) => {
      world.sessions.set(session.id, { ...session, expiresAt: now + session.leaseMs });
    }),
  renewSession: (id, leaseMs) =>
    toy.write((world, now) => {
      const known = world.sessions.get(id);
      if (!known || known.expiresAt <= now) return false;
      world.sessions.set(id, { ...known, expiresAt: now + leaseMs });
      return true;
    }),
  retireSession: (id) =>
    toy.write((world) => {
      const known = world.sessions.get(id);
      if (known) world.sessions.set(id, { ...known, serves: NOTHING_SERVED });
    }),
  closeSession: (id) => toy.write((world) => void world.sessions.delete(id)),
  sessions: async () =>
    [...toy.world.sessions.values()]
      .filter(({ expiresAt }) => expiresAt > toy.now())
      .map(({ leaseMs: _, ...session }) => session),
  claimsOf: async (session) =>
    claims(toy.world)
      .filter(({ claim: { session: of } }) => of === session)
      .map(({ unit, claim: made }) => claimedRow(unit, made))
      .sort((a, b) => a.epoch - b.epoch),
  stale: async (held) => held.filter((one) => !current(toy.world, one)).map(({ id }) => id),
  progress: (entries) =>
    toy.write((world) => {
      for (const entry of entries) {
        const found = current(world, entry);
        if (found) found.claim.progress = entry.value;
      }
    }),
  note: (entries) =>
    toy.write((world, now) => {
      for (const { kind, data, ...held } of entries)
        if (current(world, held)) tell(world, held.id, { kind, at: now, data });
    }),
});

function tend(world: World, now: number) {
  const units = [...world.units.values()];
  const due = units.filter(({ place, at }) => place === "later" && at <= now);
  const over = units.filter(({ goodUntil }) => goodUntil !== null && goodUntil <= now).filter(isUnstarted);
  for (const unit of due) {
    unit.place = "waiting";
    world.arrivals.add(unit.id);
  }
  for (const unit of over) end(world, now, unit, "expired", null);
  const holding = new Set(claims(world).map(({ claim: { session } }) => session));
  for (const { id, expiresAt } of [...world.sessions.values()])
    if (expiresAt < now - AN_HOUR_MS && !holding.has(id)) world.sessions.delete(id);
  const later = units.filter(({ place }) => place === "later").map(({ at }) => at);
  const nextDueAt = later.length > 0 ? Math.min(...later) : null;
  return { now, promoted: due.length, expired: over.length, nextDueAt, parkedOn: [] };
}

const isUnstarted = ({ place, claim: made }: Unit): boolean =>
  place === "waiting" || place === "later" || (place === "claimed" && made?.held === false);
