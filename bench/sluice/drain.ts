// One worker in this process empties a line of no-op tasks. Events and results are on, as always.
import { asChild } from "../child.ts";
import { settle } from "../database.ts";
import { countdown, medianOf, now } from "../measure.ts";
import type { Shape } from "./app.ts";
import { fill, noop } from "./app.ts";
import { connect } from "./built.ts";

export interface Drain extends Shape {
  url: string;
  tasks: number;
  warmUp: number;
  runs: number;
}

export interface Drained {
  tasksPerSecond: number;
  all: number[];
}

async function once(job: Drain, tasks: number): Promise<number> {
  const { hit, done } = countdown(tasks);
  const { app, work } = noop(job, hit);
  const sluice = await connect({ store: job.url, app, migrate: true });
  try {
    await fill(sluice as never, work, tasks);
    if (job.url.startsWith("postgres")) await settle(job.url);
    const started = now();
    const worker = await sluice.worker({ slots: job.slots });
    await done;
    // Everything is stored only once the worker has stopped.
    await worker.stop();
    return tasks / ((now() - started) / 1_000);
  } finally {
    await sluice.close();
  }
}

await asChild(import.meta.url, async (job: Drain): Promise<Drained> => {
  await once(job, job.warmUp);
  const { median, all } = await medianOf(job.runs, () => once(job, job.tasks));
  return { tasksPerSecond: median, all };
});
