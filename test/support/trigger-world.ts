// The triggers of an app over a store in memory, in time that passes when the test says so.

import type { AppDefinition } from "../../src/core/app/definition.ts";
import type { Success } from "../../src/core/schedule/automation.ts";
import { schedule } from "../../src/core/schedule/definition.ts";
import type { AppSchedule, AppTrigger } from "../../src/core/schedule/trigger.ts";
import { triggersOf } from "../../src/core/schedule/trigger.ts";
import type { ToRun, ToTask } from "../../src/engine/triggers/decision.ts";
import { Triggers } from "../../src/engine/triggers/triggers.ts";
import { laneOf } from "../../src/store/lane.ts";
import type { MemoryStore } from "../../src/store/memory/index.ts";
import { openMemory } from "../../src/store/memory/index.ts";
import type { NewRun } from "../../src/store/runs.ts";
import { RUNS } from "../../src/store/runs.ts";
import type { NewTask, Store } from "../../src/store/store.ts";
import { FakeClock } from "../../src/testing/clock.ts";
import { FakeEnv } from "../../src/testing/fake-env.ts";

export const MINUTE = 60_000;
export const START = Date.UTC(2026, 0, 1, 0, 0, 30);

type Parts = Pick<AppDefinition, "schedules" | "sensors" | "automations">;

/** A store, its runs in the order they were created, and the successes that the test sets. */
export class World {
  readonly env = new FakeEnv(new FakeClock(START));
  readonly store: MemoryStore;
  readonly errors: unknown[] = [];
  readonly successes = new Map<string, Success>();
  /** If set, every run is refused with this error. */
  refusal: Error | undefined;

  constructor() {
    this.env.chance = 0;
    this.store = {
      ...openMemory({ now: this.env.clock.now }),
      lastSuccesses: async (names) => names.flatMap((name) => this.successes.get(name) ?? []),
    };
  }

  readonly toRun: ToRun = async (workflow, input, { key, tags, priority, source }): Promise<NewRun> => {
    if (this.refusal) throw this.refusal;
    return {
      id: this.env.newId(),
      name: workflow,
      priority: priority ?? 0,
      lane: laneOf(RUNS, workflow, [{ gate: "runs", slots: 1 }]),
      input: JSON.stringify(input ?? null),
      options: "{}",
      key,
      runAt: null,
      delayMs: null,
      goodUntil: null,
      goodForMs: null,
      direct: false,
      graph: "{}",
      tags: JSON.stringify(tags),
      source,
      rerunOf: null,
      steps: [],
    };
  };

  readonly toTask: ToTask = async (task, input, { key, priority }): Promise<NewTask> => {
    const lane = laneOf("default", task, [{ gate: "queue:default", slots: 1 }]);
    const times = { runAt: null, delayMs: null, goodUntil: null, goodForMs: null };
    const text = JSON.stringify(input ?? null);
    return {
      id: this.env.newId(),
      name: task,
      priority: priority ?? 0,
      lane,
      input: text,
      options: "{}",
      key,
      ...times,
    };
  };

  /** The targets that this app has, for schedules set at run time. */
  readonly has = ({ workflow, spec }: AppSchedule): boolean => (spec.task ?? workflow) !== "elsewhere";

  engine(parts: Parts, store: Store = this.store, toRun = this.toRun): Triggers {
    const app = triggersOf({ tasks: [], ...parts });
    this.declare([...app.schedules, ...app.sensors, ...app.automations]);
    const failed = (error: unknown): void => void this.errors.push(error);
    const { toTask, has } = this;
    const polling = { pollMs: 1_000, jitterMs: 500, failed };
    return new Triggers(store, this.env, { ...polling, app, owner: OWNER, toRun, toTask, has });
  }

  /** Declares like the start of a worker. The memory store is done before it returns. */
  declare(triggers: readonly AppTrigger[]): void {
    const declared = triggers.map(({ name, kind, workflow, spec, paused }) => {
      return { name, kind, workflow, spec: JSON.stringify(spec), paused };
    });
    void this.store.declare({ app: OWNER, queues: [], gates: [], triggers: declared });
  }

  async start(parts: Parts): Promise<Triggers> {
    const engine = this.engine(parts);
    await engine.start();
    await this.env.settle();
    return engine;
  }

  async keys(): Promise<(string | null)[]> {
    const runs = await this.store.runs({ limit: 10_000 });
    return runs.reverse().map(({ key }) => key);
  }

  async finish(): Promise<void> {
    for (const { id, state } of await this.store.runs({ limit: 10_000 }))
      if (state === "queued") await this.store.cancel(id, "test");
  }

  succeed(...workflows: readonly string[]): void {
    for (const workflow of workflows)
      this.successes.set(workflow, { workflow, run: this.env.newId(), at: this.env.clock.now() });
  }

  async state(name: string): Promise<Record<string, unknown>> {
    const { triggers } = await this.store.triggers();
    return JSON.parse(triggers.find((trigger) => trigger.name === name)?.state ?? "null");
  }
}

/** The app that owns all triggers here. */
const OWNER = "shop";

export const everyMinute = schedule({ id: "tick", workflow: "w", cron: "* * * * *" });
