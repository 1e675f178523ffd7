import type { WorkerUtils } from "graphile-worker";
import { Logger, makeWorkerUtils, run as startRunner } from "graphile-worker";
import { metered } from "../cost.ts";
import { settle } from "../database.ts";
import { countdown, incompressible, now, until } from "../measure.ts";
import type { PeerOptions, PeerResult } from "./serve.ts";
import { serve } from "./serve.ts";

export interface GraphileOptions extends PeerOptions {
  /** Size of the local queue. Absent for the plain worker, which claims job by job. */
  localQueue?: number;
}

export async function run(options: GraphileOptions): Promise<PeerResult> {
  const utils = await makeWorkerUtils({ connectionString: options.url, logger: quiet });
  try {
    await utils.migrate();
    await fill(utils, options);
    await settle(options.url);
    const measured = await metered(options.url, options.tasks, () => drain(utils, options));
    return { ...measured, note: describe(options) };
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

function describe({ localQueue, payload }: GraphileOptions): string {
  const way = localQueue
    ? `local queue ${localQueue}, batched completion`
    : "one claim and one completion per job";
  return `${way}; no results kept${payload ? "; payloads of 10 kB that do not compress" : ""}`;
}

async function fill(utils: WorkerUtils, { tasks, payload }: GraphileOptions): Promise<void> {
  const size = payload ? 500 : 5_000;
  for (let from = 0; from < tasks; from += size) {
    const jobs = Array.from({ length: Math.min(size, tasks - from) }, (_, n) => ({
      identifier: "noop",
      payload: { n: from + n, ...(payload ? { text: incompressible(payload) } : {}) },
    }));
    await utils.addJobs(jobs);
  }
}

async function empty(utils: WorkerUtils): Promise<boolean> {
  const sql = "SELECT 1 FROM graphile_worker.jobs LIMIT 1";
  return (await utils.withPgClient((client) => client.query(sql))).rows.length === 0;
}

const quiet = new Logger(() => () => {});

await serve(import.meta.url, run);
