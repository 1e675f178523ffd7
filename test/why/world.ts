// A small world of limits, workers, tasks, steps, items and runs that can be built repeatedly on any store.

import fc from "fast-check";
import { bornAs } from "../../src/core/gate/kind.ts";
import type { Reason } from "../../src/core/gate/reason.ts";
import type { Claimed } from "../../src/engine/claiming/claims.ts";
import { StoreClaims } from "../../src/engine/claiming/store-claims.ts";
import { laneOf } from "../../src/store/lane.ts";
import type { RunMove } from "../../src/store/runs.ts";
import { RUNS, STILL } from "../../src/store/runs.ts";
import type { NewRun, NewTask, Store } from "../../src/store/store.ts";
import type { FakeClock } from "../../src/testing/index.ts";

export type Kind = "task" | "step" | "item" | "run";

/** One unit: its priority, and its asks beside those that all units of its kind have. */
export interface UnitShape {
  readonly kind: Kind;
  readonly queue: "q" | "r";
  readonly pool: number;
  /** Slots of a second pool. */
  readonly db?: number;
  readonly mutex: boolean;
  readonly tag: number;
  readonly priority: number;
}

export interface Shape {
  readonly limits: Readonly<Record<string, number>>;
  readonly workers: readonly { readonly slots: number; readonly queues: readonly string[] }[];
  readonly first: readonly UnitShape[];
  /** Limits that change while the first units run. */
  readonly meanwhile: Readonly<Record<string, number>>;
  readonly pausesQueue: boolean;
  readonly pausesRun: boolean;
  readonly second: readonly UnitShape[];
  /** How many units are delayed, counted from the last. Each is delayed for longer than the one after it. */
  readonly delays: number;
}

const unit: fc.Arbitrary<UnitShape> = fc.record({
  kind: fc.constantFrom<Kind>("task", "task", "step", "item", "run", "run"),
  queue: fc.constantFrom("q", "q", "r"),
  pool: fc.constantFrom(0, 0, 1, 2),
  mutex: fc.constantFrom(false, false, false, true),
  tag: fc.constantFrom(0, 1, 1, 2),
  priority: fc.constantFrom(0, 0, 0, 1),
});
const cap = fc.constantFrom(-1, -1, 1, 2, 3);

/**
 * A worker looks at the lanes of its own queues. If workers that serve different queues share a gate, the
 * first to look decides who is first there. So if workers differ, their queues share nothing.
 */
function apart(shape: Shape): Shape {
  if (shape.workers.every(({ queues }) => queues.length === 2)) return shape;
  const alone = (each: UnitShape): UnitShape =>
    each.queue === "r" && each.kind !== "run"
      ? { ...each, kind: "task", pool: 0, db: 0, mutex: false }
      : each;
  const { cluster: _, ...meanwhile } = shape.meanwhile;
  return {
    ...shape,
    limits: { ...shape.limits, cluster: -1 },
    meanwhile,
    first: shape.first.map(alone),
    second: shape.second.map(alone),
  };
}

const anyShape: fc.Arbitrary<Shape> = fc.record({
  limits: fc.record({
    cluster: cap,
    "queue:q": cap,
    "queue:r": cap,
    "pool:gpu": fc.constantFrom(1, 2, 3),
    "pool:db": fc.constant(2),
    runs: fc.constantFrom(1, 2, 3),
    "tag:tenant=*": fc.constantFrom(1, 2),
    "run:up/async": fc.constantFrom(-1, -1, 1, 2),
    "run:up/items/s": fc.constantFrom(1, 2),
  }),
  workers: fc.array(
    fc.record({
      slots: fc.constantFrom(1, 2, 3),
      queues: fc.constantFrom(["q", "r"], ["q", "r"], ["q"], ["r"]),
    }),
    { maxLength: 2 },
  ),
  first: fc.array(unit, { maxLength: 5 }),
  meanwhile: fc.constantFrom<Record<string, number>>(
    {},
    {},
    {},
    { "queue:q": 0 },
    { "pool:gpu": 1 },
    { "pool:gpu": 0 },
    { runs: 1, cluster: 1 },
  ),
  pausesQueue: fc.constantFrom(false, false, false, true),
  pausesRun: fc.constantFrom(false, false, false, true),
  second: fc.array(unit, { minLength: 1, maxLength: 5 }),
  delays: fc.constantFrom(0, 0, 0, 1, 2),
});

export const shapes: fc.Arbitrary<Shape> = anyShape.map(apart);

const LONG_MS = 1_000_000_000;

interface Claimer {
  readonly claims: StoreClaims;
  /** How many units it holds. The coordinator does not count. */
  held: number;
  readonly units: Claimed[];
}

export class World {
  readonly store: Store;
  readonly #clock: FakeClock;
  readonly #claimers: Claimer[] = [];
  readonly #coordinator: StoreClaims;
  readonly ids: string[] = [];

  private constructor(store: Store, clock: FakeClock) {
    this.store = store;
    this.#clock = clock;
    this.#coordinator = claimsOf(store, RUNS, 1_000_000, [RUNS]);
    this.#coordinator.speakFor(RUNS);
  }

  static async of(store: Store, clock: FakeClock, shape: Shape): Promise<World> {
    const world = new World(store, clock);
    const declared = Object.entries(shape.limits).filter(([key]) => !key.startsWith("run:"));
    await store.declare({
      queues: [
        { name: "q", rank: 100 },
        { name: "r", rank: 100 },
      ],
      gates: declared.map(([key, limit]) => ({ key, limit, line: bornAs(key).line })),
    });
    await world.#begin(shape);
    for (const [index, worker] of shape.workers.entries())
      await world.#join(`w${index}`, worker.slots, worker.queues);
    await world.#put(shape.first, "a");
    await world.settle();
    for (const [key, limit] of Object.entries(shape.meanwhile)) await world.#limit(key, limit);
    if (shape.pausesQueue) await store.changeLimit({ key: "queue:q", to: "paused", by: "test" });
    if (shape.pausesRun) await store.pauseRun("up", true, "test");
    clock.advance(10);
    await world.#put(shape.second, "b", shape.delays);
    // Units that are free start by themselves.
    await world.settle();
    return world;
  }

  /** Starts a run past the run cap. Its steps and items come in over time. */
  async #begin({ limits }: Shape): Promise<void> {
    await this.store.submit([run("up", 0, 0, { direct: true })]);
    const gates = ["run:up/async", "run:up/items/s"].map((key) => ({ key, limit: limits[key] as number }));
    await this.#move({ start: { gates, timeoutMs: null } });
  }

  async #move(what: Partial<RunMove>): Promise<void> {
    await this.store.advance((runs) => ({
      moves: runs
        .filter(({ id }) => id === "up")
        .map(({ epoch }) => ({ run: "up", epoch, ...STILL, ...what })),
    }));
  }

  async #join(id: string, slots: number, queues: readonly string[]): Promise<void> {
    const claims = claimsOf(this.store, id, slots, queues);
    await claims.open(id, LONG_MS);
    this.#claimers.push({ claims, held: 0, units: [] });
  }

  async #put(units: readonly UnitShape[], prefix: string, delays = 0): Promise<void> {
    for (const [index, shape] of units.entries()) {
      const id = `${prefix}${index}`;
      this.#clock.advance(1);
      this.ids.push(id);
      const fromLast = units.length - index;
      const delayMs = fromLast <= delays ? fromLast * 60_000 : null;
      if (shape.kind === "run") await this.store.submit([run(id, shape.tag, shape.priority, { delayMs })]);
      else await this.store.enqueue([task(id, shape, delayMs)]);
    }
  }

  /** Makes passes until nothing starts any more. */
  async settle(): Promise<void> {
    for (let started = 1, rounds = 0; started > 0; rounds += 1) {
      if (rounds > 50) throw new Error("it does not settle");
      started = 0;
      for (const claimer of this.#claimers) started += await this.#pass(claimer);
      if (this.#claimers.length > 0)
        started += await this.#pass({ claims: this.#coordinator, held: 0, units: [] });
    }
  }

  async #pass(claimer: Claimer, finished: readonly Claimed[] = []): Promise<number> {
    let claimed = 0;
    for (let rounds = 0, more = true; more && rounds < 50; rounds += 1) {
      const answer = await claimer.claims.exchange({
        finished:
          rounds === 0
            ? finished.map(({ id, epoch }) => ({ id, epoch, to: "succeeded", body: null, delayMs: 0 }))
            : [],
        started: [],
        active: claimer.held,
        appetite: 1_000,
        draining: false,
        hinted: true,
        ownTurn: true,
      });
      claimer.held += answer.claimed.length;
      claimer.units.push(...answer.claimed);
      claimed += answer.claimed.length;
      more = answer.more;
    }
    return claimed;
  }

  /** Ends whatever holds one of these gates, and then those who took its slots, until this unit starts. */
  async endHolders(id: string, gates: readonly string[]): Promise<void> {
    for (let round = 0; round < this.ids.length + 2 && !(await this.starts(id)); round += 1) {
      const holders = (await Promise.all(gates.map((gate) => this.store.holders(gate)))).flat();
      const ids = new Set(holders.map((holder) => holder.id));
      for (const holder of holders)
        if (holder.session === RUNS) await this.store.cancelRun(holder.id, "test");
      for (const claimer of this.#claimers) {
        const ended = claimer.units.filter((each) => ids.has(each.id));
        claimer.units.splice(0, Infinity, ...claimer.units.filter((each) => !ids.has(each.id)));
        claimer.held -= ended.length;
        await this.#pass(claimer, ended);
      }
      await this.settle();
    }
  }

  async starts(id: string): Promise<boolean> {
    return (await this.store.task(id))?.holds === true;
  }

  async isLaterThanOthers({ at }: { readonly at: number }): Promise<boolean> {
    const rows = await Promise.all(this.ids.map((id) => this.store.task(id)));
    return rows.some((row) => row?.state === "later" && row.at < at);
  }

  #limit(key: string, limit: number): Promise<unknown> {
    return this.store.changeLimit({ key, to: "value", limit, by: "test" });
  }

  /** Removes what these reasons name, as an operator would. */
  async cure(id: string, reasons: readonly Reason[]): Promise<void> {
    const queue = (await this.store.task(id))?.queue ?? "";
    // The delay ends before anything else changes, so the unit is in line when there is room.
    for (const reason of [...reasons].sort(laterFirst)) {
      await this.#cure(reason, queue);
      if (reason.kind !== "later") continue;
      await this.store.tend();
      await this.settle();
    }
    await this.store.tend();
    await this.settle();
  }

  /** The same, but one reason after the other. Whatever can start in between, starts. */
  async cureInTurn(id: string, reasons: readonly Reason[]): Promise<void> {
    const queue = (await this.store.task(id))?.queue ?? "";
    for (const reason of reasons) {
      await this.#cure(reason, queue);
      await this.store.tend();
      await this.settle();
    }
  }

  async #cure(reason: Reason, queue: string): Promise<void> {
    if (reason.kind === "later") this.#clock.advance(reason.at - this.#clock.now());
    else if (reason.kind === "noWorker") await this.#join("new", 100, [queue]);
    else if (reason.kind === "busy") await this.#join("new", 100, ["q", "r"]);
    else if (!("gate" in reason)) throw new Error(`nobody knows how to cure ${reason.kind}`);
    else if (reason.kind === "paused" && reason.zero)
      await this.store.changeLimit({ key: reason.gate, to: "declared", by: "test" });
    else if (reason.kind !== "paused" || reason.room) await this.#limit(reason.gate, reason.room as number);
    else if (reason.gate === "run:up") await this.store.pauseRun("up", false, "test");
    else await this.store.changeLimit({ key: reason.gate, to: "resumed", by: "test" });
  }
}

const laterFirst = (a: Reason, b: Reason): number => Number(b.kind === "later") - Number(a.kind === "later");

const claimsOf = (store: Store, name: string, slots: number, queues: readonly string[]): StoreClaims =>
  new StoreClaims(store, {
    name,
    slots,
    prefetch: 0,
    claimLeaseMs: LONG_MS,
    queues,
    tasks: ["*"],
  });

const ask = (gate: string, slots = 1) => ({ gate, slots });

function task(
  id: string,
  { kind, queue, pool, db = 0, mutex, priority }: UnitShape,
  delayMs: number | null,
): NewTask {
  const asks = [
    ask("cluster"),
    ask(`queue:${queue}`),
    ...(pool > 0 ? [ask("pool:gpu", pool)] : []),
    ...(db > 0 ? [ask("pool:db", db)] : []),
    ...(mutex ? [ask("mutex:m")] : []),
    ...(kind === "task" ? [] : [ask("run:up/async")]),
    ...(kind === "item" ? [ask("run:up/items/s")] : []),
  ];
  return {
    id,
    name: kind,
    priority,
    lane: laneOf(queue, kind, asks),
    input: "{}",
    options: "{}",
    key: null,
    runAt: null,
    delayMs,
    goodUntil: null,
    goodForMs: null,
  };
}

function run(id: string, tag: number, priority: number, more: Partial<NewRun> = {}): NewRun {
  const asks = [ask("runs"), ...(tag > 0 ? [ask(`tag:tenant=t${tag}`)] : [])];
  return {
    ...task(id, { kind: "task", queue: "q", pool: 0, mutex: false, tag, priority }, null),
    name: "job",
    lane: laneOf(RUNS, "job", asks),
    options: '{"startTimeoutMs":1000000000,"onStartTimeout":"requeue"}',
    direct: false,
    graph: "{}",
    tags: "{}",
    source: "test",
    rerunOf: null,
    steps: [],
    ...more,
  };
}
