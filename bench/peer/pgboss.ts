import PgBoss from "pg-boss";
import { metered } from "../cost.ts";
import { settle } from "../database.ts";
import { countdown, now, until } from "../measure.ts";
import type { PeerOptions, PeerResult } from "./serve.ts";
import { chunks, serve } from "./serve.ts";

export interface PgBossOptions extends PeerOptions {
  /** Jobs per fetch, all passed to one handler call. */
  batch: number;
  /** True if the handler completes each job with its own result. Otherwise the batch has one outcome. */
  each: boolean;
}

export async function run(options: PgBossOptions): Promise<PeerResult> {
  const boss = new PgBoss({ connectionString: options.url, max: options.slots + 2 });
  boss.on("error", () => {});
  await boss.start();
  try {
    const queue = `bench-${options.round}`;
    await boss.createQueue(queue);
    await fill(boss, queue, options.tasks);
    await settle(options.url);
    const measured = await metered(options.url, options.tasks, () => drain(boss, queue, options));
    return { ...measured, note: describe(options) };
  } finally {
    await boss.stop({ graceful: false, wait: false });
  }
}

async function drain(boss: PgBoss, queue: string, options: PgBossOptions): Promise<number> {
  const { hit, done } = countdown(options.tasks);
  const batchSize = options.batch;
  const started = now();
  for (let worker = 0; worker < options.slots / batchSize; worker++) {
    const id: string = await boss.work(queue, { batchSize, pollingIntervalSeconds: 0.5 }, async (jobs) => {
      if (options.each) await Promise.all(jobs.map((job) => boss.complete(queue, job.id, { ok: true })));
      for (const _ of jobs) hit();
      // Without this, the worker sleeps for its polling interval after each fetch: 2 fetches a second.
      boss.notifyWorker(id);
      return { ok: true };
    });
  }
  await done;
  // pg-boss does not wait for a completion before it fetches again, so some are still in flight.
  await until(() => empty(boss, queue));
  const elapsed = now() - started;
  await boss.offWork(queue);
  return elapsed;
}

function describe({ batch, each }: PgBossOptions): string {
  if (batch === 1) return "one worker per slot, one job per fetch; woken by notifyWorker";
  const outcome = each ? "each job completed with its own result" : "one result per batch";
  return `fetches of ${batch}, ${outcome}; woken by notifyWorker`;
}

async function fill(boss: PgBoss, queue: string, tasks: number): Promise<void> {
  const jobs = Array.from({ length: tasks }, (_, n) => ({ name: queue, data: { n } }));
  for (const part of chunks(jobs, 5_000)) await boss.insert(part);
}

async function empty(boss: PgBoss, queue: string): Promise<boolean> {
  const sql = "SELECT 1 FROM pgboss.job WHERE name = $1 AND state < 'completed' LIMIT 1";
  return (await boss.getDb().executeSql(sql, [queue])).rows.length === 0;
}

await serve(import.meta.url, run);
