// One worker in this process empties a line of no-op tasks. Events and results are on, as always.
import { asChild } from "../child.ts";
import type { Measured } from "../cost.ts";
import { metered } from "../cost.ts";
import { settle } from "../database.ts";
import { countdown, now } from "../measure.ts";
import type { Shape } from "./app.ts";
import { fill, noop } from "./app.ts";
import { connect } from "./built.ts";

export interface Drain extends Shape {
  url: string;
  tasks: number;
  warmUp: number;
}

async function once(job: Drain, tasks: number): Promise<Measured> {
  const { hit, done } = countdown(tasks);
  const { app, work } = noop(job, hit);
  const sluice = await connect({ store: job.url, app, migrate: true });
  try {
    await fill(sluice, work, job, tasks);
    await settle(job.url);
    return await metered(job.url, tasks, async () => {
      const started = now();
      const worker = await sluice.worker({ slots: job.slots });
      await done;
      // Everything is stored only once the worker has stopped.
      await worker.stop();
      return now() - started;
    });
  } finally {
    await sluice.close();
  }
}

await asChild(import.meta.url, async (job: Drain): Promise<Measured> => {
  await once(job, job.warmUp);
  return once(job, job.tasks);
});
