// A worker between a fake store and a fake executor that do what the test says, in time that passes when the
// test says so.

import { afterEach, expect } from "vitest";
import type { Hear } from "../../src/core/hint.ts";
import type { Answer, Claimed, Claims, Report } from "../../src/engine/claiming/claims.ts";
import type { WorkerEvent, WorkerOptions } from "../../src/engine/worker/worker.ts";
import { Worker } from "../../src/engine/worker/worker.ts";
import type { Ending, Executor, Failed, Job } from "../../src/executor/executor.ts";
import { FakeEnv } from "../../src/testing/fake-env.ts";

const NOTHING: Answer = {
  now: 0,
  claimed: [],
  started: [],
  refused: [],
  more: false,
  yielded: false,
  ended: false,
};

export const claim = (id: string, epoch: number, more: Partial<Claimed> = {}): Claimed => ({
  id,
  name: "t",
  lane: "lane",
  epoch,
  attempt: 1,
  losses: 0,
  held: true,
  input: "{}",
  options: "{}",
  goodUntil: null,
  leaseMs: null,
  ...more,
});

export const RETRIED = JSON.stringify({
  retry: { attempts: 3, backoff: "fixed", delayMs: 700, maxDelayMs: 700, jitter: 0 },
});

export const done = (result = "1"): Ending => ({ ok: true, result });
export const failure: Failed = { ok: false, error: { name: "Error", message: "no" }, retryable: true };

export type Reply = Partial<Answer> | Error | Promise<Partial<Answer>>;

/** Answers each exchange with the test's next reply, or with nothing new. */
export class FakeClaims implements Claims {
  atOnce = 1;
  readonly reports: Report[] = [];
  readonly calls: string[] = [];
  replies: Reply[] = [];
  holds: Claimed[] | Promise<Claimed[]> = [];
  gone: string[] = [];
  renewed: number[] = [];
  /** Our claims that were taken away, as the store knows them. */
  kept: { id: string; epoch: number }[] = [];
  hear: Hear = () => {};

  async open(session: string): Promise<void> {
    this.calls.push(`open ${session}`);
  }
  async renew(): Promise<boolean> {
    this.calls.push("renew");
    return true;
  }
  async retire(): Promise<void> {
    this.calls.push("retire");
  }
  async renewClaims(): Promise<readonly number[]> {
    this.calls.push("renewClaims");
    return this.renewed;
  }
  async stopping(): Promise<readonly { id: string; epoch: number }[]> {
    return this.kept;
  }
  async exchange(report: Report): Promise<Answer> {
    this.reports.push(report);
    const reply = this.replies.shift() ?? {};
    if (reply instanceof Error) throw reply;
    return { ...NOTHING, ...(await reply) };
  }
  async held(): Promise<readonly Claimed[]> {
    this.calls.push("held");
    return this.holds;
  }
  async stale(claims: readonly { id: string; epoch: number }[]): Promise<readonly string[]> {
    return claims.map(({ id }) => id).filter((id) => this.gone.includes(id));
  }
  async progress(): Promise<void> {
    this.calls.push("progress");
  }
  async note(): Promise<void> {
    this.calls.push("note");
  }
  async listen(hear: Hear): Promise<() => Promise<void>> {
    this.hear = hear;
    return async () => {
      this.calls.push("unlisten");
    };
  }
  async close(): Promise<void> {
    this.calls.push("close");
  }

  /** Everything reported so far, as "id to". */
  get finished(): string[] {
    return this.reports.flatMap(({ finished }) => finished.map(({ id, to }) => `${id} ${to}`));
  }
}

/** Runs each job until the test says how it ended. */
export class FakeExecutor implements Executor {
  readonly jobs: Job[] = [];
  readonly #ends = new Map<string, (ending: Ending) => void>();
  /** False simulates an executor that cannot start the job yet. */
  beginsAtOnce = true;
  blockedPlaces = 0;
  blocked(): number {
    return this.blockedPlaces;
  }
  run(job: Job): Promise<Ending> {
    this.jobs.push(job);
    if (this.beginsAtOnce) job.begins?.();
    return new Promise((resolve) => this.#ends.set(job.id, resolve));
  }
  end(id: string, ending: Ending = done()): void {
    this.#ends.get(id)?.(ending);
  }
  endAll(): void {
    for (const id of this.ids) this.end(id);
  }
  get ids(): string[] {
    return this.jobs.map(({ id }) => id);
  }
}

export interface World {
  readonly env: FakeEnv;
  readonly claims: FakeClaims;
  readonly executor: FakeExecutor;
  readonly events: WorkerEvent[];
  readonly worker: Worker;
  readonly told: (kind: WorkerEvent["kind"]) => WorkerEvent[];
}

const worlds: World[] = [];

afterEach(async () => {
  for (const made of worlds.splice(0)) {
    made.executor.endAll();
    await inTime(made.env, made.worker.stop({ graceMs: 100 }));
  }
});

export function world(options: Partial<WorkerOptions> = {}): World {
  const env = new FakeEnv();
  const claims = new FakeClaims();
  claims.atOnce = options.slots === 100 ? 2 : 1;
  const executor = new FakeExecutor();
  const events: WorkerEvent[] = [];
  const worker = new Worker(claims, executor, env, {
    slots: 4,
    lease: { leaseMs: 30_000, heartbeatMs: 10_000 },
    graceMs: 30_000,
    watch: (event) => events.push(event),
    ...options,
  });
  const told = (kind: WorkerEvent["kind"]) => events.filter((event) => event.kind === kind);
  const made = { env, claims, executor, events, worker, told };
  worlds.push(made);
  return made;
}

/** A worker whose first exchanges got these replies. */
export async function working(replies: Reply[], options: Partial<WorkerOptions> = {}): Promise<World> {
  const made = world(options);
  made.claims.replies = replies;
  await made.worker.start();
  await made.env.settle();
  return made;
}

/** Advances time until the condition holds. */
export async function until(env: FakeEnv, isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !isSo(); turn += 1) await env.advance(2);
  expect(isSo()).toBe(true);
}

/** Advances time until the promise settles. */
export async function inTime<T>(env: FakeEnv, coming: Promise<T>): Promise<T> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  coming.then(over, over);
  await until(env, () => isOver);
  return coming;
}
