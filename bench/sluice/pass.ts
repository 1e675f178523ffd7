// The cost of one exchange with a short and a long line: it completes the running tasks and claims as many,
// nothing else. Whole passes and swaps are measured apart.
import type { App, Sluice } from "../../src/index.ts";
import { asChild } from "../child.ts";
import { Meter } from "../cost.ts";
import { settle } from "../database.ts";
import { now, percentile } from "../measure.ts";
import type { Cost } from "../row.ts";
import type { Work } from "./app.ts";
import { claiming, connect, defineApp, task } from "./built.ts";
import type { Verb } from "./verb-watch.ts";
import { hasVerb, watchVerbs } from "./verb-watch.ts";

export interface Passing {
  url: string;
  /**
   * `blocked`: 99 of 100 tasks wait for one full pool. `keys`: every task has its own key with limit 1.
   * `behind`: the same, but tasks without a key go first and are the ones that run.
   */
  line: "blocked" | "keys" | "behind";
  waiting: number;
  /** How many exchanges of each verb. */
  times: number;
  verbs: readonly Verb[];
}

/** Null: this version of the store has no such verb. */
export type Timed = Partial<Record<Verb, { medianMs: number; p95Ms: number; cost: Cost } | null>>;

const SLOTS = 24;
const WARM_UP = 50;
/** The first exchanges take in what has arrived. */
const HINTED = 10;
const MOST_KEYS = 100_000;
/** Some exchanges take the other way, so there is work for more of them. */
const SPARE = 4;

type Claims = InstanceType<Awaited<ReturnType<typeof claiming>>>;

await asChild(import.meta.url, async (job: Passing): Promise<Timed> => {
  const tasks = lineApp();
  const sluice = await connect({ store: job.url, app: tasks.app, migrate: true });
  try {
    const has = (verb: Verb): boolean => hasVerb(sluice.store, verb);
    if (!job.verbs.some(has)) return Object.fromEntries(job.verbs.map((verb) => [verb, null]));
    await fill(sluice, tasks, job);
    await settle(job.url);
    const timed: Timed = {};
    for (const verb of job.verbs)
      timed[verb] = has(verb) ? await exchanges(sluice, tasks.app, job, verb) : null;
    return timed;
  } finally {
    await sluice.close();
  }
});

interface Tasks {
  readonly app: App;
  readonly blocked: Work;
  readonly free: Work;
  readonly keyed: Work;
}

function lineApp(): Tasks {
  const run = (): void => {};
  const blocked = task({ id: "blocked", queue: "work", pools: { shut: 1 }, run }) as Work;
  const free = task({ id: "free", queue: "work", run }) as Work;
  const keyed = task({
    id: "keyed",
    queue: "work",
    pools: ({ n }: { n: number }) => ({ [`key=${n}`]: 1 }),
    run,
  }) as Work;
  const app = defineApp({
    tasks: [blocked, free, keyed],
    clusterCap: 1_000,
    queues: { work: { maxConcurrency: 500 } },
    pools: { shut: { limit: 1 }, key: { limit: 1, perValue: true } },
  });
  return { app, blocked, free, keyed };
}

async function fill(sluice: Sluice, { blocked, free, keyed }: Tasks, job: Passing): Promise<void> {
  // No worker starts here, and without a declaration no limit would be in force.
  await sluice.deploy();
  await sluice.limits.set("pool:shut", 0);
  const runnable = SLOTS * job.verbs.length * (job.times * SPARE + WARM_UP);
  const keyedCall = (n: number) => ({ task: keyed, input: { n: n % Math.min(job.waiting, MOST_KEYS) } });
  const freeCall = (n: number) => ({ task: free, input: { n } });
  if (job.line === "keys") return enqueue(sluice, Math.max(job.waiting, runnable), keyedCall);
  if (job.line === "behind") {
    await enqueue(sluice, job.waiting, (n) => ({ ...keyedCall(n), options: { priority: -1 } }));
  } else {
    const one = (n: number) => (n % 100 === 0 ? freeCall(n) : { task: blocked, input: { n } });
    await enqueue(sluice, job.waiting, one);
  }
  await enqueue(sluice, runnable, freeCall);
}

type Call = Parameters<Sluice["enqueueMany"]>[0][number];

async function enqueue(sluice: Sluice, count: number, call: (n: number) => Call): Promise<void> {
  for (let from = 0; from < count; from += 5_000) {
    const size = Math.min(5_000, count - from);
    await sluice.enqueueMany(Array.from({ length: size }, (_, n) => call(from + n)));
  }
}

async function exchanges(sluice: Sluice, app: App, job: Passing, verb: Verb) {
  const StoreClaims = await claiming();
  const { store, taken } = watchVerbs(sluice.store, verb);
  const seat = {
    name: "bench",
    slots: SLOTS,
    prefetch: 0,
    claimLeaseMs: 60_000,
    queues: ["work"],
    tasks: [...app.tasks.keys()],
  };
  const claims = new StoreClaims(store, seat);
  await claims.open(`bench${process.pid}${verb}`, 600_000);
  let running: Running = [];
  for (let n = 0; n < WARM_UP; n += 1) running = await exchange(claims, running, n < HINTED);
  const meter = await Meter.start(job.url);
  const times: number[] = [];
  let made = 0;
  for (; times.length < job.times; made += 1) {
    if (made > job.times * SPARE) throw new Error(`${times.length} of ${made} exchanges were a ${verb}`);
    taken();
    const began = now();
    running = await exchange(claims, running, false);
    const ms = now() - began;
    if (running.length === 0) throw new Error(`nothing was claimed in exchange ${made}`);
    if (taken() === verb) times.push(ms);
  }
  const cost = await meter.stop(made);
  await exchange(claims, running, false, 0);
  await claims.close();
  return { medianMs: percentile(times, 0.5), p95Ms: percentile(times, 0.95), cost };
}

type Running = readonly { readonly id: string; readonly epoch: number }[];

async function exchange(
  claims: Claims,
  running: Running,
  hinted: boolean,
  appetite = SLOTS,
): Promise<Running> {
  const finished = running.map(({ id, epoch }) => ({
    id,
    epoch,
    to: "succeeded" as const,
    body: "null",
    delayMs: 0,
  }));
  const report = { finished, started: [], active: 0, appetite, draining: false, hinted, ownTurn: false };
  const { claimed } = await claims.exchange(report);
  return claimed.map(({ id, epoch }) => ({ id, epoch }));
}
