// The state that processes leave behind as they come and go: a store, and the things that triggers look at.
// Each process opens the store itself and closes it at its end, so only stored data stays.

import type { Service } from "../../../src/engine/service.ts";
import type { ToRun } from "../../../src/engine/triggers/decision.ts";
import { Triggers } from "../../../src/engine/triggers/triggers.ts";
import type { RunMove } from "../../../src/store/runs.ts";
import { STILL } from "../../../src/store/runs.ts";
import type { Store } from "../../../src/store/store.ts";
import { FakeClock } from "../../../src/testing/clock.ts";
import type { Tick, Trigger } from "./app.ts";
import { appWith, BEGIN, HOUR, runOf, TRIGGERS, WORKFLOWS } from "./app.ts";
import type { Death, Mortal } from "./mortal.ts";
import { PatientEnv } from "./patient-env.ts";

/** Creates a place for a store, and returns the function that opens it. */
export type Place = (clock: FakeClock) => Promise<() => Promise<Store>>;

const OWNER = "shop";

export class World {
  readonly env: PatientEnv;
  /** The items that the sensor finds. */
  readonly items: number[] = [];
  readonly deaths: Death[] = [];
  readonly errors: unknown[] = [];
  /** How often a process decided something that another had decided meanwhile. */
  late = 0;
  readonly #open: () => Promise<Store>;

  private constructor(env: PatientEnv, open: () => Promise<Store>) {
    this.env = env;
    this.#open = open;
  }

  static async at(place: Place): Promise<World> {
    const env = new PatientEnv(new FakeClock(BEGIN + HOUR / 2));
    env.chance = 0;
    return new World(env, await place(env.clock));
  }

  /** Starts processes and lets them live for `ms`, or until they die. */
  async live(ms: number, ...processes: readonly Mortal[]): Promise<void> {
    const stores: Store[] = [];
    for (const _ of processes) stores.push(await this.#open());
    const engines = processes.map((mortal, index) => this.#engine(mortal, stores[index] as Store));
    for (const engine of engines) void engine.start();
    await this.env.pass(ms);
    // The stop is not awaited, because a dead process never stops.
    for (const engine of engines) void engine.stop();
    await this.env.settle();
    for (const store of stores) await store.close();
    for (const { death, late } of processes) {
      if (death) this.deaths.push(death);
      this.late += late;
    }
  }

  /** As a worker does: declares what the app has, and then looks. */
  #engine(mortal: Mortal, store: Store): Service {
    const app = appWith((cursor) => mortal.step("tick", () => this.#tick(cursor)));
    const mine = mortal.over(store, this.env);
    const triggers = new Triggers(mine, this.env, {
      app,
      owner: OWNER,
      toRun: (...args) => mortal.step("toRun", () => this.#toRun(...args)),
      toTask: () => Promise.reject(new Error("no schedule here enqueues a task")),
      has: () => false,
      pollMs: 1_000,
      jitterMs: 0,
      failed: (error) => this.errors.push(error),
    });
    const declared = [...app.schedules, ...app.sensors, ...app.automations].map(
      ({ name, kind, workflow, spec, paused }) => ({
        name,
        kind,
        workflow,
        spec: JSON.stringify(spec),
        paused,
      }),
    );
    return {
      start: async () => {
        await mine.declare({ app: OWNER, queues: [], gates: [], triggers: declared }, "start");
        await triggers.start();
      },
      stop: () => triggers.stop(),
    };
  }

  #tick(cursor: number): Tick {
    const found = this.items.slice(cursor);
    return {
      cursor: cursor + found.length,
      submit: found.map((item) => ({ key: `${item}`, input: item })),
    };
  }

  readonly #toRun: ToRun = async (workflow, input, { source }) =>
    runOf(workflow, { ...this.#fresh(), input: JSON.stringify(input ?? null), source });

  /** The key is new each time too: the stamps alone must prevent a second run. */
  #fresh(): { readonly id: string; readonly key: string } {
    const id = this.env.newId();
    return { id, key: `of ${id}` };
  }

  /**
   * Passes `ms` without a process. Then there is one more item, runs of a and b have succeeded, and no runs
   * of `over` are queued.
   */
  async meanwhile(ms: number, item: number, over: readonly Trigger[]): Promise<void> {
    this.env.freeze(ms);
    this.items.push(item);
    await this.#byHand(async (store) => {
      for (const trigger of over)
        for (const { id, state } of await runsBy(store, trigger))
          if (state === "queued") await store.cancel(id, "test");
      await store.submit(["a", "b"].map((name) => runOf(name, { ...this.#fresh(), direct: true })));
      await store.advance((runs) => ({ moves: runs.map(({ id, epoch }) => success(id, epoch)) }));
    });
  }

  /** The inputs of all runs that each trigger has created, in order. */
  runs(): Promise<Record<Trigger, unknown[]>> {
    return this.#byHand(async (store) => {
      const made = {} as Record<Trigger, unknown[]>;
      for (const trigger of TRIGGERS) {
        const found = await runsBy(store, trigger);
        made[trigger] = found.reverse().map(({ input }) => JSON.parse(input));
      }
      return made;
    });
  }

  async #byHand<T>(work: (store: Store) => Promise<T>): Promise<T> {
    const store = await this.#open();
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }
}

const runsBy = (store: Store, trigger: Trigger): ReturnType<Store["runs"]> =>
  store.runs({ workflow: WORKFLOWS[trigger], limit: 10_000 });

const success = (run: string, epoch: number): RunMove => ({
  ...STILL,
  run,
  epoch,
  finish: { state: "succeeded", body: "null" },
});
