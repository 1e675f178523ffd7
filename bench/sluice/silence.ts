// What the feed of changes costs while nobody listens: the same work in turn with the feed and without it.
import { asChild } from "../child.ts";
import { Meter } from "../cost.ts";
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

/** Rates with the feed over rates without it, and the same by processor time, which a busy machine changes less. */
export interface Silent {
  drain: number;
  drainByProcessor: number;
  enqueue: number;
  enqueueByProcessor: number;
}

/** Rates, and tasks for each microsecond of processor time. */
type Speeds = Silent;

const CALLERS = 8;

await asChild(import.meta.url, async (job: Silence): Promise<Silent> => {
  await (await connect({ store: job.url, migrate: true })).close();
  const ratios: Silent[] = [];
  for (let round = -1; round < job.rounds; round += 1) {
    // Who goes first changes, so that a store that grows favours neither.
    const first = round % 2 === 0;
    const one = await once(job, first);
    const other = await once(job, !first);
    const [heard, unheard] = first ? [one, other] : [other, one];
    if (round >= 0) ratios.push(each((speed) => heard[speed] / unheard[speed]));
  }
  return each((speed) => median(ratios.map((ratio) => ratio[speed])));
});

function each(value: (speed: keyof Silent) => number): Silent {
  return {
    drain: value("drain"),
    drainByProcessor: value("drainByProcessor"),
    enqueue: value("enqueue"),
    enqueueByProcessor: value("enqueueByProcessor"),
  };
}

async function once(job: Silence, heard: boolean): Promise<Speeds> {
  const { hit, done } = countdown(job.tasks + job.singles);
  const shape: Shape = { slots: job.slots, limit: WIDE };
  const { app, work } = noop(shape, hit);
  const sluice = await connect({ store: await openedStore(job.url, heard), app });
  try {
    await fill(sluice, work, shape, job.tasks);
    const [enqueue, enqueueByProcessor] = await speeds(job, job.singles, () =>
      atOnce(CALLERS, job.singles, (n) => sluice.enqueue(work, { n })),
    );
    if (job.url.startsWith("postgres")) await settle(job.url);
    const [drain, drainByProcessor] = await speeds(job, job.tasks + job.singles, async () => {
      const worker = await sluice.worker({ slots: job.slots });
      await done;
      await worker.stop();
    });
    return { drain, drainByProcessor, enqueue, enqueueByProcessor };
  } finally {
    await sluice.close();
  }
}

async function speeds(
  { url }: Silence,
  count: number,
  work: () => Promise<unknown>,
): Promise<[number, number]> {
  const meter = await Meter.start(url);
  const started = now();
  await work();
  const elapsed = now() - started;
  const { nodeUs, serverUs } = await meter.stop(count);
  return [count / elapsed, 1 / ((nodeUs ?? Number.NaN) + (serverUs ?? 0))];
}
