// Processes that die between any two lines of a look, before or after what they asked for was done, and come back. Every
// run is made once, by the stamps alone: no idempotency key helps here, because every try has keys of its own.

import { describe, expect, test } from "vitest";
import type { Success } from "../../core/schedule/automation.ts";
import { automation, newer, schedule, sensor, succeeded } from "../../core/schedule/definition.ts";
import { triggersOf } from "../../core/schedule/trigger.ts";
import { laneOf } from "../../store/lane.ts";
import type { MemoryStore } from "../../store/memory/index.ts";
import { openMemory } from "../../store/memory/index.ts";
import { RUNS } from "../../store/runs.ts";
import type { Store } from "../../store/store.ts";
import { FakeClock } from "../../testing/clock.ts";
import { FakeEnv } from "../../testing/fake-env.ts";
import type { ToRun } from "./decision.ts";
import { Triggers } from "./triggers.ts";

const HOUR = 3_600_000;
const VERBS = ["declareTriggers", "triggers", "takeTrigger", "fire", "lastSuccesses", "activeRuns"] as const;

/** A process that dies at its n-th step, before that step is done or after it. From then on it does nothing. */
class Mortal {
  dead = false;
  #left: number;
  readonly #after: boolean;

  constructor(left: number, after: boolean) {
    this.#left = left;
    this.#after = after;
  }

  async step<T>(work: () => Promise<T> | T): Promise<T> {
    this.#left -= 1;
    const isLast = this.#left === 0;
    if (this.dead || (isLast && !this.#after)) return this.#die();
    const done = await work();
    return isLast || this.dead ? this.#die() : done;
  }

  #die(): Promise<never> {
    this.dead = true;
    return new Promise<never>(() => {});
  }

  over(store: Store): Store {
    const wrapped = VERBS.map((verb) => [
      verb,
      (...args: never[]) => this.step(() => (store[verb] as (...all: never[]) => Promise<unknown>)(...args)),
    ]);
    return { ...store, ...Object.fromEntries(wrapped) } as Store;
  }
}

class World {
  readonly env = new FakeEnv(new FakeClock(Date.UTC(2026, 0, 1, 0, 30)));
  readonly successes = new Map<string, Success>();
  /** What the sensor finds in the world. */
  readonly items: number[] = [];
  readonly store: MemoryStore;
  deaths = 0;

  constructor() {
    this.env.chance = 0;
    this.store = {
      ...openMemory({ now: this.env.clock.now }),
      lastSuccesses: async (names) => names.flatMap((name) => this.successes.get(name) ?? []),
    };
  }

  readonly #toRun: ToRun = async (workflow, input, { key, source }) => ({
    id: this.env.newId(),
    name: workflow,
    priority: 0,
    lane: laneOf(RUNS, workflow, [{ gate: "runs", slots: 1 }]),
    input: JSON.stringify(input ?? null),
    options: "{}",
    key: `${key} by ${this.env.newId()}`,
    runAt: null,
    delayMs: null,
    goodUntil: null,
    goodForMs: null,
    direct: false,
    graph: "{}",
    tags: "{}",
    source,
    rerunOf: null,
    steps: [],
  });

  /** Starts a process and lets it live for a while, or until it dies. */
  async live(mortal: Mortal, ms: number): Promise<void> {
    const app = triggersOf({
      tasks: [],
      schedules: [
        schedule({ id: "hourly", workflow: "s", cron: "0 * * * *", overlap: "skip", catchUp: "all" }),
      ],
      sensors: [
        sensor({
          id: "items",
          every: "1m",
          timeout: "5s",
          workflow: "i",
          run: ({ cursor = 0 }) => mortal.step(() => this.#look(cursor)),
        }),
      ],
      automations: [
        automation({ id: "both", workflow: "c", when: succeeded("a", "b") }),
        automation({ id: "fresh", workflow: "d", when: newer("a") }),
      ],
    });
    const toRun: ToRun = (...args) => mortal.step(() => this.#toRun(...args));
    const engine = new Triggers(mortal.over(this.store), this.env, {
      app,
      toRun,
      pollMs: 1_000,
      jitterMs: 0,
    });
    void engine.start();
    await this.env.advance(ms);
    if (mortal.dead) this.deaths += 1;
    void engine.stop();
    await this.env.settle();
  }

  #look(cursor: number) {
    const found = this.items.slice(cursor);
    return {
      cursor: cursor + found.length,
      submit: found.map((item) => ({ key: `${item}`, input: item })),
    };
  }

  succeed(...workflows: readonly string[]): void {
    for (const workflow of workflows)
      this.successes.set(workflow, { workflow, run: this.env.newId(), at: this.env.clock.now() });
  }

  /** The inputs of all runs of a workflow, in order. */
  async runs(workflow: string): Promise<string[]> {
    const found = await this.store.runs({ workflow, limit: 10_000 });
    return found.reverse().map(({ input }) => input);
  }

  async finish(workflow: string): Promise<void> {
    for (const { id, state } of await this.store.runs({ workflow, limit: 10_000 }))
      if (state === "queued") await this.store.cancel(id, "test");
  }
}

const immortal = (): Mortal => new Mortal(Number.POSITIVE_INFINITY, false);

describe("over more than a hundred restarts, at every step of a look", () => {
  test("a schedule that skips, a sensor and automations make every run exactly once", async () => {
    const world = new World();
    await world.live(immortal(), 2_000);
    let scheduled = 0;
    for (let round = 1; round <= 60; round += 1) {
      // Every hour there is a fire time, an item and a success of each. Every third hour nothing of the schedule is over.
      if (round % 3 !== 0) await world.finish("s");
      scheduled += round % 3 !== 0 ? 1 : 0;
      await world.finish("d");
      world.env.freeze(HOUR - 90_000);
      world.items.push(round);
      world.succeed("a", "b");
      for (const after of [false, true]) await world.live(new Mortal(1 + (round % 19), after), 20_000);
      await world.live(immortal(), 50_000);

      expect(await world.runs("s"), `scheduled by round ${round}`).toHaveLength(scheduled);
      expect(await world.runs("i"), `items of round ${round}`).toEqual(world.items.map(String));
      expect(await world.runs("c"), `both in round ${round}`).toHaveLength(round);
      expect(await world.runs("d"), `fresh in round ${round}`).toHaveLength(round);
    }
    expect(world.deaths).toBeGreaterThan(100);
  });

  test("so do four processes at once, of which some die", async () => {
    const world = new World();
    await world.live(immortal(), 2_000);
    for (let round = 1; round <= 20; round += 1) {
      await world.finish("s");
      await world.finish("d");
      world.env.freeze(HOUR - 60_000);
      world.items.push(round);
      world.succeed("a", "b");
      const left = (process: number): number => 1 + ((round * 5 + process * 3) % 19);
      await Promise.all([
        ...[0, 1, 2].map((process) => world.live(new Mortal(left(process), process === 1), 60_000)),
        world.live(immortal(), 60_000),
      ]);
      const counts = await Promise.all(
        ["s", "i", "c", "d"].map(async (name) => (await world.runs(name)).length),
      );
      expect(counts, `round ${round}`).toEqual([round, round, round, round]);
    }
    expect(world.deaths).toBeGreaterThan(10);
  });
});
