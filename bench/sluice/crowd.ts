// Several worker processes on one store empty a line together.
import type { Measured } from "../cost.ts";
import { Meter } from "../cost.ts";
import { settle } from "../database.ts";
import { now, warmUpOf, within } from "../measure.ts";
import type { Shape } from "./app.ts";
import { fill, noop } from "./app.ts";
import { connect } from "./built.ts";
import { Crew } from "./crew.ts";

export interface Crowd extends Shape {
  url: string;
  /** The workers' address of the store, if it differs. */
  workerUrl?: string;
  tasks: number;
  workers: number;
}

export interface Crowded extends Measured {
  /** Each worker's share of the tasks, smallest first. */
  shares: number[];
}

const LIMIT_MS = 300_000;

export async function crowd(job: Crowd): Promise<Crowded> {
  const { app, work } = noop(job, () => {});
  const sluice = await connect({ store: job.url, app, migrate: true });
  try {
    const crew = await Crew.of(job.workers, { ...job, url: job.workerUrl ?? job.url });
    try {
      const warmUp = warmUpOf(job.tasks);
      await fill(sluice, work, job, warmUp);
      await drained(crew, warmUp);
      await fill(sluice, work, job, job.tasks);
      await settle(job.url);
      return await measured(job, crew);
    } finally {
      await crew.stop();
    }
  } finally {
    await sluice.close();
  }
}

async function measured({ url, tasks }: Crowd, crew: Crew): Promise<Crowded> {
  const before = crew.ran;
  const meter = await Meter.start(url, crew.pids);
  const elapsedMs = await drained(crew, tasks);
  const cost = await meter.stop(tasks);
  const shares = crew.ran.map((ran, n) => (ran - (before[n] ?? 0)) / tasks).sort((a, b) => a - b);
  return { tasksPerSecond: tasks / (elapsedMs / 1_000), cost, shares };
}

/** Lets the crew work until it has run `count` more tasks and everything is stored. */
async function drained(crew: Crew, count: number): Promise<number> {
  const before = crew.ran.reduce((sum, each) => sum + each, 0);
  const started = now();
  await crew.tell("go");
  await within(LIMIT_MS, crew.haveRun(before + count));
  await crew.tell("rest");
  return now() - started;
}
