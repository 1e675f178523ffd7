// Several worker processes on one store. The store's own timestamps tell how long it took and how much each
// worker did.
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { until } from "../measure.ts";
import type { Shape } from "./app.ts";
import { fill, noop } from "./app.ts";
import { connect } from "./built.ts";

export interface Crowd extends Shape {
  url: string;
  /** The workers' address of the store, if it differs. */
  workerUrl?: string;
  tasks: number;
  workers: number;
}

export interface Crowded {
  tasksPerSecond: number;
  /** Each worker's share of the tasks, smallest first. */
  shares: number[];
}

export async function crowd(job: Crowd): Promise<Crowded> {
  const { app, work } = noop(job, () => {});
  const sluice = await connect({ store: job.url, app, migrate: true });
  const workers = Array.from({ length: job.workers }, () => start({ ...job, url: job.workerUrl ?? job.url }));
  try {
    await Promise.all(workers.map((worker) => once(worker, "message")));
    await fill(sluice as never, work, job.tasks);
    for (const worker of workers) worker.send("go");
    await until(async () =>
      (await sluice.queues.list()).every(({ waiting, running }) => waiting + running === 0),
    );
    return await result(sluice, job.tasks);
  } finally {
    for (const worker of workers) worker.connected && worker.send("stop");
    await Promise.all(workers.map((worker) => worker.exitCode ?? once(worker, "exit")));
    await sluice.close();
  }
}

function start(job: Crowd): ChildProcess {
  const file = fileURLToPath(new URL("serve.ts", import.meta.url));
  return spawn(process.execPath, [...process.execArgv, file, JSON.stringify(job)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}

async function result(sluice: Awaited<ReturnType<typeof connect>>, tasks: number): Promise<Crowded> {
  let before: string | undefined;
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  const done = new Map<string, number>();
  for (;;) {
    const rows = await sluice.store.tasks({ limit: 5_000, before });
    for (const { session, at } of rows) {
      done.set(session ?? "", (done.get(session ?? "") ?? 0) + 1);
      first = Math.min(first, at);
      last = Math.max(last, at);
    }
    before = rows.at(-1)?.id;
    if (rows.length === 0) break;
  }
  const shares = [...done.values()].map((count) => count / tasks).sort((a, b) => a - b);
  return { tasksPerSecond: tasks / ((last - first) / 1_000), shares };
}
