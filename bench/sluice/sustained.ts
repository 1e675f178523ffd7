// A line that never becomes empty, for minutes: does the worker stay as fast as it was in the beginning?
import pg from "pg";
import { asChild } from "../child.ts";
import { Meter } from "../cost.ts";
import { now } from "../measure.ts";
import type { Cost } from "../row.ts";
import type { FedJob } from "./fed.ts";
import { FedWorker } from "./fed.ts";

export interface Sustained extends FedJob {
  warmUpMs: number;
  ms: number;
  /** Both ends that are compared last this long. */
  endMs: number;
  /** Hold a transaction open all the time. Then dead rows cannot be vacuumed. */
  holding: boolean;
}

export interface Lasted {
  tasks: number;
  tasksPerSecond: number;
  first: number;
  last: number;
  /** Of the slowest stretch that is as long as an end. */
  slowest: number;
  cost: Cost;
}

const STEP_MS = 1_000;
/** Enough that the worker never waits for the feed. */
const BATCHES = { size: 500, ahead: 3_000 };

await asChild(import.meta.url, async (job: Sustained): Promise<Lasted> => {
  const worker = await FedWorker.start(job);
  const release = job.holding ? await holdSnapshot(job.url) : undefined;
  worker.feed({ batches: BATCHES });
  await sleep(job.warmUpMs);
  const meter = await Meter.start(job.url);
  const points = await watch(worker, job.ms);
  const [start, end] = [points[0] as Point, points.at(-1) as Point];
  const tasks = end.ran - start.ran;
  const cost = await meter.stop(tasks);
  await worker.rest();
  await release?.();
  await worker.stop();
  return {
    tasks,
    tasksPerSecond: rate(start, end),
    first: rate(start, reached(points, start.at + job.endMs)),
    last: rate(reached(points, end.at - job.endMs), end),
    slowest: slowest(points, job.endMs),
    cost,
  };
});

interface Point {
  readonly at: number;
  readonly ran: number;
}

/** A point for about each second. */
async function watch(worker: FedWorker, ms: number): Promise<Point[]> {
  const points: Point[] = [{ at: now(), ran: worker.ran }];
  const end = now() + ms;
  while (now() < end) {
    await sleep(Math.min(STEP_MS, end - now()));
    points.push({ at: now(), ran: worker.ran });
  }
  return points;
}

/** The first point at this time or later. */
function reached(points: readonly Point[], at: number): Point {
  return points.find((point) => point.at >= at) ?? (points.at(-1) as Point);
}

function slowest(points: readonly Point[], ms: number): number {
  const end = (points.at(-1) as Point).at;
  const starts = points.filter(({ at }) => at + ms <= end);
  const last = rate(reached(points, end - ms), points.at(-1) as Point);
  return Math.min(last, ...starts.map((point) => rate(point, reached(points, point.at + ms))));
}

function rate(from: Point, to: Point): number {
  return ((to.ran - from.ran) * 1_000) / (to.at - from.at);
}

/** A snapshot of now, kept: the server may not remove any row that is deleted from now on. */
async function holdSnapshot(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  await client.query("SELECT pg_current_xact_id()");
  return () => client.end();
}

function sleep(ms: number): Promise<void> {
  return new Promise((next) => setTimeout(next, ms));
}
