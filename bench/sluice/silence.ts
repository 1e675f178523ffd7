// What the feed of changes costs while nobody listens: the same work in turn with the feed and without it.
import { asChild } from "../child.ts";
import { settle } from "../database.ts";
import { atOnce, countdown, median, now } from "../measure.ts";
import type { Shape } from "./app.ts";
import { fill, noop, WIDE } from "./app.ts";
import { connect } from "./built.ts";
import { openedStore } from "./unheard.ts";

interface Silence {
  url: string;
  slots: number;
  tasks: number;
  /** Single enqueues, from eight callers. */
  singles: number;
  rounds: number;
}

/** Rates with the feed over rates without it. */
export interface Silent {
  drain: number;
  enqueue: number;
}

const CALLERS = 8;

await asChild(import.meta.url, async (job: Silence): Promise<Silent> => {
  await (await connect({ store: job.url, migrate: true })).close();
  const drains: number[] = [];
  const enqueues: number[] = [];
  for (let round = -1; round < job.rounds; round += 1) {
    // Who goes first changes, so that a store that grows favours neither.
    const first = round % 2 === 0;
    const one = await once(job, first);
    const other = await once(job, !first);
    const [heard, unheard] = first ? [one, other] : [other, one];
    if (round < 0) continue;
    drains.push(heard.drain / unheard.drain);
    enqueues.push(heard.enqueue / unheard.enqueue);
  }
  return { drain: median(drains), enqueue: median(enqueues) };
});

async function once(job: Silence, heard: boolean): Promise<Silent> {
  const { hit, done } = countdown(job.tasks + job.singles);
  const shape: Shape = { slots: job.slots, limit: WIDE };
  const { app, work } = noop(shape, hit);
  const sluice = await connect({ store: await openedStore(job.url, heard), app });
  try {
    await fill(sluice, work, shape, job.tasks);
    const enqueueing = now();
    await atOnce(CALLERS, job.singles, (n) => sluice.enqueue(work, { n }));
    const enqueue = job.singles / (now() - enqueueing);
    if (job.url.startsWith("postgres")) await settle(job.url);
    const started = now();
    const worker = await sluice.worker({ slots: job.slots });
    await done;
    await worker.stop();
    return { drain: (job.tasks + job.singles) / (now() - started), enqueue };
  } finally {
    await sluice.close();
  }
}
