// The cost of one pass with a short and a long line: it completes the running tasks and claims as many,
// nothing else.
import { asChild } from "../child.ts";
import { settle } from "../database.ts";
import { now, percentile } from "../measure.ts";
import { claiming, connect, defineApp, task } from "./built.ts";

export interface Passing {
  url: string;
  /** `blocked`: 99 of 100 tasks wait for one full pool. `keys`: every task has its own key with limit 1. */
  line: "blocked" | "keys";
  waiting: number;
  passes: number;
}

const SLOTS = 24;

await asChild(import.meta.url, async (job: Passing): Promise<{ medianMs: number; p95Ms: number }> => {
  const blocked = task({ id: "blocked", queue: "work", pools: { shut: 1 }, run: () => {} });
  const free = task({ id: "free", queue: "work", run: () => {} });
  const keyed = task({
    id: "keyed",
    queue: "work",
    pools: (n: number) => ({ [`key=${n}`]: 1 }),
    run: (_: number) => {},
  });
  const app = defineApp({
    tasks: [blocked, free, keyed],
    clusterCap: 1_000,
    queues: { work: { maxConcurrency: 500 } },
    pools: { shut: { limit: 1 }, key: { limit: 1, perValue: true } },
  });
  const sluice = await connect({ store: job.url, app, migrate: true });
  await sluice.limits.set("pool:shut", 0);
  // Enough tasks that can start in all the passes. The rest must not matter.
  const runnable = SLOTS * (job.passes + 60);
  const call = (n: number) =>
    job.line === "keys"
      ? { task: keyed, input: n % Math.min(job.waiting, 100_000) }
      : n % 100 === 0 || n < runnable * 0
        ? { task: free, input: undefined }
        : { task: blocked, input: undefined };
  const total = job.line === "keys" ? Math.max(job.waiting, runnable) : job.waiting;
  for (let from = 0; from < total; from += 5_000) {
    const size = Math.min(5_000, total - from);
    await sluice.enqueueMany(Array.from({ length: size }, (_, n) => call(from + n)) as never);
  }
  if (job.line === "blocked")
    for (let from = 0; from < runnable; from += 5_000)
      await sluice.enqueueMany(
        Array.from({ length: Math.min(5_000, runnable - from) }, () => ({
          task: free,
          input: undefined,
        })) as never,
      );
  if (job.url.startsWith("postgres")) await settle(job.url);
  const result = await passes(sluice, app, job.passes);
  await sluice.close();
  return result;
});

async function passes(
  sluice: Awaited<ReturnType<typeof connect>>,
  app: ReturnType<typeof defineApp>,
  count: number,
) {
  const StoreClaims = await claiming();
  const seat = {
    name: "bench",
    slots: SLOTS,
    prefetch: 0,
    claimLeaseMs: 60_000,
    queues: ["work"],
    tasks: [...app.tasks.keys()],
  };
  const claims = new StoreClaims(sluice.store, seat);
  await claims.open(`bench${process.pid}`, 600_000);
  let running: { id: string; epoch: number }[] = [];
  const times: number[] = [];
  for (let n = -50; n < count; n += 1) {
    const finished = running.map(({ id, epoch }) => ({
      id,
      epoch,
      to: "succeeded" as const,
      body: "null",
      delayMs: 0,
    }));
    const began = now();
    const answer = await claims.exchange({
      finished,
      started: [],
      active: 0,
      appetite: SLOTS,
      draining: false,
      hinted: n < -40,
      ownTurn: false,
    });
    if (n >= 0) times.push(now() - began);
    running = answer.claimed.map(({ id, epoch }) => ({ id, epoch }));
    if (n >= 0 && running.length === 0) throw new Error(`nothing was claimed in pass ${n}`);
  }
  await claims.close();
  return { medianMs: percentile(times, 0.5), p95Ms: percentile(times, 0.95) };
}
