// Executors with real children that end with their test, and jobs for them.

import { afterEach } from "vitest";
import { SluiceError } from "../../../src/core/error.ts";
import type { Job } from "../../../src/executor/executor.ts";
import type { Death } from "../../../src/executor/process/death.ts";
import type { ProcessExecutorOptions } from "../../../src/executor/process/process-executor.ts";
import { ProcessExecutor } from "../../../src/executor/process/process-executor.ts";
import type { Deferred } from "../../e2e/support/deferred.ts";
import { deferred } from "../../e2e/support/deferred.ts";
import { entry, execArgv } from "./child-entry.ts";

const running = new Set<ProcessExecutor>();
afterEach(async () => {
  await Promise.all([...running].map((executor) => executor.stop()));
  running.clear();
});

/** An executor, and a record of its children's deaths. A shared one outlives the test. */
export function newExecutor({ shared, ...more }: Partial<ProcessExecutorOptions> & { shared?: true } = {}) {
  const deaths: Death[] = [];
  const pids: number[] = [];
  const waiting = new Set<{ readonly count: number; readonly done: () => void }>();
  const executor = new ProcessExecutor({
    entry,
    execArgv,
    processes: 1,
    concurrency: 1,
    watch: (event) => {
      if (event.kind === "ready") pids.push(event.pid);
      else deaths.push(event.death);
      for (const { count, done } of waiting) if (deaths.length >= count) done();
    },
    ...more,
  });
  if (!shared) running.add(executor);
  const died = (count: number): Promise<void> =>
    new Promise((done) => (deaths.length >= count ? done() : waiting.add({ count, done })));
  return { executor, deaths, died, pids };
}

export async function startExecutor(more: Partial<ProcessExecutorOptions> = {}) {
  const made = newExecutor(more);
  await made.executor.start();
  return made;
}

export interface TestJob extends Job {
  readonly abort: (reason?: unknown) => void;
  readonly said: unknown[];
  /** Resolves with the pid of the process in which its code has begun. */
  readonly begun: Promise<number>;
}

export function job(name: string, input: unknown = null, more: Partial<Job> = {}): TestJob {
  const controller = new AbortController();
  const said: unknown[] = [];
  const begun: Deferred<number> = deferred<number>();
  return {
    id: `id of ${name}`,
    name,
    input: JSON.stringify(input),
    attempt: 1,
    fence: 7,
    timeoutMs: null,
    signal: controller.signal,
    progress: (value) => said.push({ progress: value }),
    log: (message, data) => {
      said.push(data === undefined ? { message } : { message, data });
      if (message === "begun") begun.resolve(data as number);
    },
    abort: (reason = new SluiceError("CANCELLED", "The task was cancelled.")) => controller.abort(reason),
    said,
    begun: begun.promise,
    ...more,
  };
}

export const pidOf = async (executor: ProcessExecutor): Promise<number> => {
  const ending = await executor.run(job("pid"));
  if (!ending.ok) throw new Error(`no pid: ${JSON.stringify(ending.error)}`);
  return Number(ending.result);
};
