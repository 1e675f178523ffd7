/**
 * The sync database in memory: an independent, simple implementation. The tests compare the databases with
 * it. Each verb runs from start to end without a pause, so it needs no guard rows.
 */
import type { SharedRow, SharedView } from "../../core/shared/line.ts";
import { sharedId } from "../../core/shared/line.ts";
import { limitNameOf } from "../../core/shared/lock.ts";
import { inByteOrder } from "../../core/text.ts";
import type { ControllerRow, Speaker, SyncDatabase } from "./port.ts";

interface Known {
  engine: string;
  instance: string;
  at: number;
}

interface World {
  readonly limits: Map<string, number>;
  readonly controllers: Map<string, Known>;
  states: Omit<SharedRow, "live">[];
  readonly inactiveMs: number;
  readonly now: () => number;
}

export function memorySync(options: {
  readonly inactiveMs: number;
  readonly now: () => number;
}): SyncDatabase {
  const world: World = { ...options, limits: new Map(), controllers: new Map(), states: [] };
  return {
    ...lines(world),
    ...speakers(world),
    ...hands(world),
    where: "memory:",
    create: async () => {},
    close: async () => {},
  };
}

const isLive = ({ controllers, inactiveMs, now }: World, name: string): boolean => {
  const known = controllers.get(name);
  return known !== undefined && now() - known.at < inactiveMs;
};

const speaks = ({ controllers }: World, { controller, instance }: Speaker): boolean =>
  controllers.get(controller)?.instance === instance;

const seen = (world: World, which: (row: Omit<SharedRow, "live">) => boolean): SharedRow[] =>
  world.states
    .filter(which)
    .map((row) => ({ ...row, live: isLive(world, row.controller) }))
    .sort(
      (a, b) =>
        inByteOrder(a.name, b.name) || inByteOrder(a.key, b.key) || inByteOrder(a.controller, b.controller),
    );

function view(world: World, locks?: readonly string[]): SharedView {
  const pending = new Set(
    world.states.filter(({ name, held }) => !held && locks?.includes(name)).map((row) => sharedId(row)),
  );
  const rows = seen(
    world,
    (row) => !locks || locks.includes(row.name) || (!row.held && pending.has(sharedId(row))),
  );
  const names = new Set([...(locks ?? []), ...rows.map(({ name }) => name)].map(limitNameOf));
  const limits = [...world.limits].filter(([name]) => !locks || names.has(name));
  return { now: world.now(), rows, limits: new Map(limits) };
}

const lines = (
  world: World,
): Pick<SyncDatabase, "enter" | "leave" | "take" | "release" | "look" | "own"> => ({
  enter: async (speaker, entries) => {
    if (!speaks(world, speaker)) return false;
    for (const { key, priority, at, locks } of entries) {
      for (const { name, slots } of locks) {
        const { controller } = speaker;
        const index = world.states.findIndex(
          (row) => row.name === name && row.key === key && row.controller === controller,
        );
        const known = world.states[index];
        if (!known) world.states.push({ name, key, controller, held: false, priority, at, slots, intent: 0 });
        else if (!known.held) world.states[index] = { ...known, priority };
      }
    }
    return true;
  },
  leave: async (speaker, keys) => {
    if (!speaks(world, speaker)) return false;
    world.states = world.states.filter(
      (row) => row.held || row.controller !== speaker.controller || !keys.includes(row.key),
    );
    return true;
  },
  take: async (speaker, units, decide) => {
    if (!speaks(world, speaker)) return { kind: "replaced" };
    const { controller } = speaker;
    if (!isLive(world, controller)) return { kind: "inactive" };
    const admitted = decide(view(world, [...new Set(units.flatMap(({ locks }) => locks))]));
    const taken = units.filter(({ key, locks }) => {
      const own = world.states.filter((row) => row.key === key && row.controller === controller && !row.held);
      const stands = own.length === locks.length && own.every(({ name }) => locks.includes(name));
      return stands && admitted.has(sharedId({ key, controller }));
    });
    world.states = world.states.map((row) => {
      const unit = taken.find(({ key }) => key === row.key);
      return unit && row.controller === controller && !row.held
        ? { ...row, held: true, intent: unit.intent }
        : row;
    });
    return { kind: "taken", keys: taken.map(({ key }) => key) };
  },
  release: async (controller, taken) => {
    const isFreed = (row: Omit<SharedRow, "live">): boolean =>
      row.held &&
      row.controller === controller &&
      taken.some(({ key, intent }) => key === row.key && intent === row.intent);
    world.states = world.states.filter((row) => !isFreed(row));
  },
  look: async (locks) => view(world, locks),
  own: async (speaker) =>
    speaks(world, speaker) ? seen(world, (row) => row.controller === speaker.controller) : undefined,
});

const speakers = (world: World): Pick<SyncDatabase, "now" | "join" | "heartbeat" | "controllers"> => ({
  now: async () => world.now(),
  join: async ({ controller, engine, instance }) => {
    const known = world.controllers.get(controller);
    const now = world.now();
    if (known && known.engine !== engine && now - known.at < world.inactiveMs)
      return { joined: false, heardMsAgo: now - known.at };
    world.controllers.set(controller, { engine, instance, at: now });
    return { joined: true, now };
  },
  heartbeat: async (speaker) => {
    const known = world.controllers.get(speaker.controller);
    if (!known || !speaks(world, speaker)) return false;
    known.at = world.now();
    return true;
  },
  controllers: async () => {
    const names = new Set([...world.controllers.keys(), ...world.states.map(({ controller }) => controller)]);
    return [...names].sort(inByteOrder).map((name): ControllerRow => {
      const of = world.states.filter(({ controller }) => controller === name);
      const held = of.filter((row) => row.held).length;
      const { engine = "", at: heardAt = 0 } = world.controllers.get(name) ?? {};
      return { name, engine, heardAt, live: isLive(world, name), held, pending: of.length - held };
    });
  },
});

const hands = (world: World): Pick<SyncDatabase, "setLimit" | "releaseByHand" | "removeController"> => ({
  setLimit: async (name, limit) => {
    if (limit === null) world.limits.delete(name);
    else world.limits.set(name, limit);
  },
  releaseByHand: async (lock, holder) => {
    const before = world.states.length;
    world.states = world.states.filter(
      (row) =>
        !row.held ||
        row.name !== lock ||
        (holder && (row.key !== holder.key || row.controller !== holder.controller)),
    );
    return before - world.states.length;
  },
  removeController: async (name) => {
    if (isLive(world, name)) return undefined;
    const of = world.states.filter(({ controller }) => controller === name);
    world.states = world.states.filter(({ controller }) => controller !== name);
    world.controllers.delete(name);
    const held = of.filter((row) => row.held).length;
    return { held, pending: of.length - held };
  },
});
