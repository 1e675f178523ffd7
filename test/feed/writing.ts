// The steps of a writer of the model test. Imports no test runner, because child processes use it too.

import type { Finished, Report } from "../../src/engine/claiming/claims.ts";
import { StoreClaims } from "../../src/engine/claiming/store-claims.ts";
import { laneOf } from "../../src/store/lane.ts";
import { STILL } from "../../src/store/runs.ts";
import type { NewRun, NewTask, Store } from "../../src/store/store.ts";
import { RUNS } from "../../src/store/store.ts";

const LANES = [1, 2].map((slots) =>
  laneOf("feed", `task ${slots}`, [
    { gate: "pool:feed", slots },
    { gate: "queue:feed", slots: 1 },
  ]),
);
const RUN_LANE = laneOf(RUNS, "flow", [{ gate: "runs", slots: 1 }]);
const OPTIONS = '{"retry":{"attempts":9,"backoff":"fixed","delayMs":0,"maxDelayMs":0,"jitter":0}}';

export const GATES = ["pool:feed", "queue:feed"] as const;

export const TRIGGER = "sensor feed";

/** Once, before the writers: they pause it and resume it. */
export async function declareTrigger(store: Store): Promise<void> {
  const sensor = { name: TRIGGER, kind: "sensor", workflow: null, spec: "{}", paused: false } as const;
  await store.declare({ app: "feed", queues: [], gates: [], triggers: [sensor] });
}

/** In turn instead of by chance, so that a slow machine meets each of them too. */
const OUTCOMES = ["failed", "returned", "retry", "succeeded", "succeeded"] as const;

/** Short, so that the claims of a killed process are found lost soon. */
export const LEASE_MS = 3_000;

/** From this step on a writer walks away from its session, once, as soon as there are claims to leave behind. */
const LEAVES_AT = 20;

const CALM: Report = {
  finished: [],
  started: [],
  active: 0,
  appetite: 8,
  draining: false,
  hinted: true,
  ownTurn: true,
};

export class Writing {
  readonly #store: Store;
  readonly #name: string;
  #claims: StoreClaims;
  #session: string;
  #hasLeft = false;
  readonly #own: string[] = [];
  #run: string | undefined;
  #runs = 0;
  #pauses = 0;
  #held: { id: string; epoch: number }[] = [];
  #ids = 0;
  #reported = 0;
  done = 0;

  private constructor(store: Store, name: string) {
    this.#store = store;
    this.#name = name;
    this.#session = `session ${name}`;
    this.#claims = claimsOf(store, name);
  }

  static async open(store: Store, name: string): Promise<Writing> {
    const writing = new Writing(store, name);
    await writing.#claims.open(writing.#session, LEASE_MS);
    return writing;
  }

  async step(): Promise<void> {
    const chance = Math.random();
    if (chance < 0.35) await this.#enqueue();
    else if (chance < 0.75) await this.#exchange();
    else if (chance < 0.82) await this.#byHand();
    else if (chance < 0.85) await this.#limit();
    else if (chance < 0.87) await this.#pause();
    else if (chance < 0.9) await this.#submit();
    else if (chance < 0.96) await this.#advance();
    else await this.#store.tend();
    this.done += 1;
  }

  async #enqueue(): Promise<void> {
    const many = 1 + Math.floor(Math.random() * 3);
    const tasks = Array.from({ length: many }, () => this.#task());
    await this.#store.enqueue(tasks);
    this.#own.push(...tasks.map(({ id }) => id));
  }

  #task(): NewTask {
    const lane = pick(LANES);
    return {
      id: `${this.#name}-${this.#ids++}`,
      name: lane.task,
      priority: Math.floor(Math.random() * 3),
      lane,
      input: "{}",
      options: OPTIONS,
      key: Math.random() < 0.1 ? `k${Math.floor(Math.random() * 50)}` : null,
      runAt: null,
      delayMs: Math.random() < 0.1 ? 30 : null,
      goodUntil: null,
      goodForMs: Math.random() < 0.05 ? 20 : null,
    };
  }

  /** Reports each claim it holds in some way, and takes more. A lost session is opened again. */
  async #exchange(): Promise<void> {
    if (this.#held.length > 0 && this.done >= LEAVES_AT && !this.#hasLeft) await this.#leave();
    if (!(await this.#store.renewSession(this.#session, LEASE_MS))) {
      this.#held = [];
      await this.#claims.open(this.#session, LEASE_MS).catch(() => {});
    }
    const finished = this.#held.map(({ id, epoch }): Finished => {
      const to = OUTCOMES[this.#reported++ % OUTCOMES.length] as (typeof OUTCOMES)[number];
      const delayMs = to === "retry" && Math.random() < 0.5 ? 10 : 0;
      return { id, epoch, to, body: to === "returned" ? null : '{"x":1}', delayMs };
    });
    this.#held = [];
    const { claimed } = await this.#claims.exchange({ ...CALM, finished });
    this.#held = claimed.filter(({ held }) => held).map(({ id, epoch }) => ({ id, epoch }));
  }

  /** As if it had died: its claims are found lost when its session lapses. */
  async #leave(): Promise<void> {
    this.#hasLeft = true;
    this.#held = [];
    this.#session += " again";
    this.#claims = claimsOf(this.#store, this.#name);
    await this.#claims.open(this.#session, LEASE_MS);
  }

  /** Pauses the trigger and resumes it, in turn, and resumes its last run. */
  async #pause(): Promise<void> {
    await this.#store.pauseTrigger(TRIGGER, this.#pauses++ % 2 === 0, this.#name);
    if (this.#run !== undefined) await this.#store.pauseRun(this.#run, false, this.#name);
  }

  async #byHand(): Promise<void> {
    const id = pick(this.#own);
    if (id === undefined) return;
    const chance = Math.random();
    if (chance < 0.4) await this.#store.cancel(id, this.#name);
    else if (chance < 0.7) await this.#store.retry(id, this.#name);
    else await this.#store.reprioritize(id, Math.floor(Math.random() * 5), this.#name);
  }

  async #limit(): Promise<void> {
    const key = pick(GATES) as string;
    const by = this.#name;
    if (Math.random() < 0.5)
      await this.#store.changeLimit({ key, to: "value", limit: 2 + Math.floor(Math.random() * 9), by });
    else await this.#store.changeLimit({ key, to: "declared", by });
  }

  async #submit(): Promise<void> {
    const run: NewRun = {
      ...this.#task(),
      name: "flow",
      lane: RUN_LANE,
      key: null,
      delayMs: null,
      goodForMs: null,
      options: "{}",
      direct: true,
      graph: "{}",
      tags: "{}",
      source: "code",
      rerunOf: null,
      steps: [],
    };
    await this.#store.submit([run]);
    this.#own.push(run.id);
    this.#run = run.id;
    // At once, because others start it and end it soon.
    if (this.#runs++ % 2 === 0) await this.#store.pauseRun(run.id, true, this.#name);
  }

  /** A run starts with one step, and ends when it is next looked at. */
  async #advance(): Promise<void> {
    await this.#store.advance((runs) => ({
      moves: runs.map(({ id, epoch, started }) => {
        if (started) return { run: id, epoch, ...STILL, finish: { state: "succeeded", body: null } };
        const unit = { ...this.#task(), key: null, id: `${id}-step`, step: "step", claimTimeoutMs: null };
        return {
          run: id,
          epoch,
          ...STILL,
          start: { gates: [], timeoutMs: null },
          steps: [{ name: "step", state: "open", unit: unit.id, body: null }],
          enqueue: [unit],
          again: true,
        };
      }),
    }));
  }
}

function claimsOf(store: Store, name: string): StoreClaims {
  return new StoreClaims(store, {
    name,
    slots: 8,
    prefetch: 2,
    claimLeaseMs: LEASE_MS / 2,
    queues: ["feed"],
    tasks: LANES.map(({ task }) => task),
  });
}

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
