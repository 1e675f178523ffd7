import type { WorkerUtils } from "graphile-worker";
import { Logger, makeWorkerUtils, run as startRunner } from "graphile-worker";
import { settle } from "../database.ts";
import { countdown, now, until } from "../measure.ts";
import type { PeerOptions, PeerResult } from "./serve.ts";
import { chunks, installed, serve } from "./serve.ts";

export interface GraphileOptions extends PeerOptions {
  /** Size of the local queue. Absent for the plain worker, which claims job by job. */
  localQueue?: number;
}

export async function run(options: GraphileOptions): Promise<PeerResult> {
  const utils = await makeWorkerUtils({ connectionString: options.url, logger: quiet });
  try {
    await utils.migrate();
    await fill(utils, options.tasks);
    await settle(options.url);
    const elapsed = await drain(utils, options);
    return {
      tasksPerSecond: options.tasks / (elapsed / 1_000),
      version: installed("graphile-worker"),
      note: options.localQueue
        ? `local queue ${options.localQueue}, batched completion; no results kept`
        : "one claim and one completion per job; no results kept",
    };
  } finally {
    await utils.release();
  }
}

async function drain(utils: WorkerUtils, options: GraphileOptions): Promise<number> {
  const { hit, done } = countdown(options.tasks);
  const started = now();
  const runner = await startRunner({
    preset: { worker: { ...tuning(options), connectionString: options.url, logger: quiet } },
    taskList: { noop: async () => hit() },
    noHandleSignals: true,
  });
  await done;
  // Batched completions are still in flight when the last handler has returned.
  await until(() => empty(utils));
  const elapsed = now() - started;
  await runner.stop();
  return elapsed;
}

/** The settings of the project's own performance test. */
function tuning({ slots, localQueue }: GraphileOptions) {
  const base = { concurrentJobs: slots, maxPoolSize: slots + 2 };
  if (!localQueue) return base;
  return {
    ...base,
    localQueue: { size: localQueue, refetchDelay: { durationMs: 10 } },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  };
}

async function fill(utils: WorkerUtils, tasks: number): Promise<void> {
  const jobs = Array.from({ length: tasks }, (_, n) => ({ identifier: "noop", payload: { n } }));
  for (const part of chunks(jobs, 5_000)) await utils.addJobs(part);
}

async function empty(utils: WorkerUtils): Promise<boolean> {
  const sql = "SELECT 1 FROM graphile_worker.jobs LIMIT 1";
  return (await utils.withPgClient((client) => client.query(sql))).rows.length === 0;
}

const quiet = new Logger(() => () => {});

await serve(import.meta.url, run);
