// A controller dies at every point of the protocol: before a call, and after it with its answer lost. Another
// process of its engine goes on. The sync database and the store keep what was written.

import { describe, expect, test } from "vitest";
import { apart } from "../../src/core/shared/asks.ts";
import { sharedMutex } from "../../src/core/shared/lock.ts";
import { optionsOfRun } from "../../src/core/unit-options.ts";
import { StoreClaims } from "../../src/engine/claiming/store-claims.ts";
import { round } from "../../src/engine/controllers/round.ts";
import { laneOf } from "../../src/store/lane.ts";
import { openMemory } from "../../src/store/memory/index.ts";
import { STILL } from "../../src/store/runs.ts";
import type { Store } from "../../src/store/store.ts";
import { RUN_QUEUES, RUNS } from "../../src/store/store.ts";
import { memorySync } from "../../src/store/sync/memory.ts";
import type { SyncDatabase } from "../../src/store/sync/port.ts";
import { newRun } from "../../src/testing/store-suite/run-bench.ts";

const INACTIVE_MS = 300_000;
const LEASE_MS = 5_000;
const M = sharedMutex("default", "m");

class Crash extends Error {}

/** Counts calls, and fails at one of them: before it, or after it. */
class Fate {
  calls = 0;
  readonly names: string[] = [];
  readonly #at: number;
  readonly #after: boolean;

  constructor(at = Number.POSITIVE_INFINITY, after = false) {
    this.#at = at;
    this.#after = after;
  }

  on<T extends object>(target: T, watched: readonly (keyof T & string)[]): T {
    return new Proxy(target, {
      get: (of, name) => {
        const verb: unknown = Reflect.get(of, name);
        if (typeof verb !== "function" || !watched.includes(name as never)) return verb;
        return async (...given: unknown[]) => {
          this.calls += 1;
          this.names.push(String(name));
          const dies = this.calls === this.#at;
          if (dies && !this.#after) throw new Crash();
          const answer: unknown = await verb.apply(of, given);
          if (dies || this.calls > this.#at) throw new Crash();
          return answer;
        };
      },
    });
  }
}

const OF_STORE = ["intend", "openShared", "closeShared", "forgetShared"] as const;
const OF_SYNC = ["enter", "leave", "take", "release"] as const;

/** One engine: its store and its clock outlive its processes. */
class World {
  now = 1_700_000_000_000;
  readonly store: Store = openMemory({ now: () => this.now });
  readonly sync: SyncDatabase = memorySync({ inactiveMs: INACTIVE_MS, now: () => this.now });
  readonly aborted: string[] = [];
  /** Units that were in progress in any round, and their locks as the sync database had them. */
  readonly breaches: string[] = [];
  #processes = 0;

  /** A worker of the engine is at work: without one, no run is admitted. */
  async open(): Promise<void> {
    const serves = JSON.stringify({ queues: ["default"], tasks: ["*"] });
    await this.store.openSession({ id: "worker", name: "worker", slots: 1, serves, leaseMs: 1e12 });
  }

  async submit(id: string, priority = 0): Promise<void> {
    const { asks, shared } = apart(id, [
      { gate: "runs", slots: 1 },
      { gate: M, slots: 1 },
    ]);
    const options = optionsOfRun({ startTimeoutMs: 60_000, ...shared });
    await this.store.submit([newRun(id, { priority, options, lane: laneOf(RUNS, "nightly", asks) })]);
    await this.pass();
  }

  /** A coordinator's passes, until there is nothing to do. */
  async pass(): Promise<void> {
    const seat = {
      slots: 100,
      prefetch: 0,
      claimLeaseMs: 60_000,
      name: RUNS,
      queues: RUN_QUEUES,
      tasks: ["*"],
    };
    const claims = new StoreClaims(this.store, seat);
    claims.speakFor(RUNS);
    claims.lookAt((await this.store.tend("")).parkedOn);
    for (let more = true, turn = 0; more && turn < 10; turn += 1) {
      const answer = await claims.exchange({
        finished: [],
        started: [],
        active: 0,
        appetite: 100,
        draining: false,
        hinted: true,
        ownTurn: true,
      });
      more = answer.more;
    }
    await this.store.advance((runs) => ({
      moves: runs
        .filter(({ started }) => !started)
        .map(({ id, epoch }) => ({ run: id, epoch, ...STILL, start: { gates: [], timeoutMs: null } })),
    }));
    await this.check();
  }

  async end(id: string): Promise<void> {
    await this.store.failRun(id, "{}");
    await this.store.advance(() => ({ moves: [] }));
  }

  async inProgress(): Promise<string[]> {
    return (await this.store.sharing()).flatMap(({ unit, place }) => (place === "claimed" ? [unit] : []));
  }

  async heldBy(): Promise<string[]> {
    return (await this.sync.look()).rows.filter(({ held }) => held).map(({ key }) => key);
  }

  async check(): Promise<void> {
    const [claimed, held] = [await this.inProgress(), await this.heldBy()];
    if (claimed.length > 1 || held.length > 1) this.breaches.push(`in progress: ${claimed}, held: ${held}`);
    for (const unit of claimed) if (!held.includes(unit)) this.breaches.push(`${unit} runs without its lock`);
  }

  /** A process of the engine that makes these rounds, unless it dies. */
  async process(fate: Fate, rounds: number, between: () => Promise<void> = () => this.pass()): Promise<void> {
    this.#processes += 1;
    const instance = `process-${this.#processes}`;
    this.now += LEASE_MS + 1;
    const { leads, engine } = await this.store.lead(instance, LEASE_MS, "engine");
    expect(leads).toBe(true);
    const speaker = { controller: "a", instance };
    expect(await this.sync.join({ ...speaker, engine })).toMatchObject({ joined: true });
    const store = fate.on(this.store, OF_STORE);
    const sync = fate.on(this.sync, OF_SYNC);
    try {
      for (let count = 0; count < rounds; count += 1) {
        await round({
          store,
          sync,
          speaker,
          offsetMs: 0,
          unsure: true,
          abort: async (unit) => void this.aborted.push(unit),
          opened: () => {},
        });
        await this.check();
        await between();
      }
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
    }
    await this.check();
  }
}

async function opened(): Promise<World> {
  const world = new World();
  await world.open();
  return world;
}

/** Two runs want one mutex; the first ends, and the second gets it. */
async function story(world: World, fate: Fate): Promise<void> {
  await world.submit("first", 1);
  await world.submit("second");
  let rounds = 0;
  await world.process(fate, 4, async () => {
    await world.pass();
    rounds += 1;
    if (rounds === 2) await world.end("first");
  });
}

async function callsOfStory(): Promise<string[]> {
  const fate = new Fate();
  const world = await opened();
  await story(world, fate);
  expect(await world.inProgress()).toEqual(["second"]);
  return fate.names;
}

describe("a controller that dies", async () => {
  const names = await callsOfStory();
  for (const [index, name] of names.entries())
    for (const after of [false, true])
      test(`${after ? "after" : "before"} call ${index + 1}, ${name}: nothing is held twice, lost or left`, async () => {
        const world = await opened();
        await story(world, new Fate(index + 1, after));
        // A pass of another process may still admit a unit whose gate is open.
        await world.pass();
        const started = await world.inProgress();
        await world.process(new Fate(), 1, async () => {});
        // What had started keeps its lock, and what had not was freed.
        expect(await world.inProgress()).toEqual(expect.arrayContaining(started));
        await world.process(new Fate(), 3);
        for (const id of ["first", "second"]) {
          for (let turn = 0; turn < 4 && (await world.inProgress())[0] !== id; turn += 1)
            await world.process(new Fate(), 2);
          if ((await world.inProgress())[0] === id) await world.end(id);
          await world.process(new Fate(), 2);
        }
        expect(world.breaches).toEqual([]);
        expect(world.aborted).toEqual([]);
        expect(await world.inProgress()).toEqual([]);
        expect(await world.store.sharing()).toEqual([]);
        expect((await world.sync.look()).rows).toEqual([]);
      });

  test("before its run was admitted frees the lock when its engine is back, and not before", async () => {
    const world = await opened();
    await world.submit("first");
    await world.process(new Fate(4), 1, async () => {});
    expect(await world.heldBy()).toEqual(["first"]);
    const [before] = (await world.sync.look()).rows;
    await world.process(new Fate(), 1, async () => {});
    const [after] = (await world.sync.look()).rows;
    // The new process frees what the dead one took, and takes it anew for an intent of its own.
    expect(after?.intent).toBeGreaterThan(before?.intent ?? 0);
    expect(await world.store.openShared("process-1", [{ unit: "first", n: before?.intent ?? 0 }])).toEqual(
      [],
    );
  });

  test("after its run was admitted keeps the lock", async () => {
    const world = await opened();
    await world.submit("first");
    await world.process(new Fate(), 1);
    expect(await world.inProgress()).toEqual(["first"]);
    await world.process(new Fate(), 3);
    expect(await world.heldBy()).toEqual(["first"]);
  });
});

describe("two processes of one engine", () => {
  test("a process that lost its lead writes nothing, in neither database", async () => {
    const world = await opened();
    await world.submit("first");
    const old = { controller: "a", instance: "old" };
    const { engine } = await world.store.lead("old", LEASE_MS, "engine");
    await world.sync.join({ ...old, engine });
    const [intent] = await world.store.intend("old", ["first"]);
    await world.sync.enter(old, [{ key: "first", priority: 0, at: 0, locks: [{ name: M, slots: 1 }] }]);
    await world.process(new Fate(), 2, async () => {});
    const held = (await world.sync.look()).rows;
    expect(held).toMatchObject([{ key: "first", held: true }]);
    const wanted = [{ key: "first", intent: intent?.n ?? 0, locks: [M] }];
    expect(await world.sync.take(old, wanted, () => new Set())).toEqual({ kind: "replaced" });
    expect(await world.store.openShared("old", intent ? [intent] : [])).toEqual([]);
    expect(await world.store.intend("old", ["first"])).toEqual([]);
    await world.sync.release("a", [{ key: "first", intent: intent?.n ?? 0 }]);
    expect((await world.sync.look()).rows).toEqual(held);
  });
});
