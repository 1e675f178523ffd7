// The time from the call that puts a task in line to the start of its code, while the system is half busy.
//
// First the feed goes as fast as it can: what then runs per second is the capacity of this setting, enqueuing
// included. Then the feed keeps half of that rate, whether or not earlier calls were answered.
import { asChild } from "../child.ts";
import { now, percentile } from "../measure.ts";
import type { FedJob } from "./fed.ts";
import { FedWorker } from "./fed.ts";

export interface Latency extends FedJob {
  /** How long each of the two phases lasts, after a warm-up of a quarter of that time. */
  ms: number;
}

export interface Delays {
  capacity: number;
  rate: number;
  tasks: number;
  medianMs: number;
  p99Ms: number;
  /** How late the latest hundredth of the calls was made. */
  lateMs: number;
}

const CALLERS = 64;
const AHEAD = 500;

await asChild(import.meta.url, async (job: Latency): Promise<Delays> => {
  const delays: number[] = [];
  const worker = await FedWorker.start(job, ({ at }) => delays.push(now() - (at as number)));
  const capacity = await capacityOf(worker, job.ms);
  await worker.rest();
  const rate = capacity / 2;
  worker.feed({ paced: { rate } });
  await sleep(job.ms / 4);
  const from = delays.length;
  await sleep(job.ms);
  const { lateMs } = await worker.rest();
  await worker.stop();
  const measured = delays.slice(from);
  return {
    capacity,
    rate,
    tasks: measured.length,
    medianMs: percentile(measured, 0.5),
    p99Ms: percentile(measured, 0.99),
    lateMs: lateMs ?? 0,
  };
});

async function capacityOf(worker: FedWorker, ms: number): Promise<number> {
  worker.feed({ singles: { callers: CALLERS, ahead: AHEAD } });
  await sleep(ms / 4);
  const [from, started] = [worker.ran, now()];
  await sleep(ms);
  return ((worker.ran - from) * 1_000) / (now() - started);
}

function sleep(ms: number): Promise<void> {
  return new Promise((next) => setTimeout(next, ms));
}
