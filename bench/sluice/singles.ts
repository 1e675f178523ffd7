// Single enqueues, 32 at once: callers that each wait for their own answer, as requests of a web server do.
import { asChild } from "../child.ts";
import type { Measured } from "../cost.ts";
import { metered } from "../cost.ts";
import { atOnce, now } from "../measure.ts";
import { noop, WIDE } from "./app.ts";
import { connect } from "./built.ts";

export interface Singles {
  url: string;
  tasks: number;
  callers: number;
  warmUp: number;
}

async function once({ url, callers }: Singles, tasks: number): Promise<Measured> {
  const { app, work } = noop({ slots: 24, limit: WIDE }, () => {});
  const sluice = await connect({ store: url, app, migrate: true });
  try {
    return await metered(url, tasks, async () => {
      const started = now();
      await atOnce(callers, tasks, (n) => sluice.enqueue(work, { n }));
      return now() - started;
    });
  } finally {
    await sluice.close();
  }
}

await asChild(import.meta.url, async (job: Singles): Promise<Measured> => {
  await once(job, job.warmUp);
  return once(job, job.tasks);
});
