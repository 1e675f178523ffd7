import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { metered } from "../cost.ts";
import { countdown, now } from "../measure.ts";
import type { PeerOptions, PeerResult } from "./serve.ts";
import { chunks, serve } from "./serve.ts";

export async function run(options: PeerOptions): Promise<PeerResult> {
  const name = `bench-${process.pid}-${options.round}`;
  const connection = new Redis(options.url, { maxRetriesPerRequest: null });
  const queue = new Queue(name, { connection });
  const worker = new Worker(name, async () => ({ ok: true }), {
    connection,
    concurrency: options.slots,
    autorun: false,
  });
  worker.on("error", () => {});
  try {
    await fill(queue, options.tasks);
    const measured = await metered(options.url, options.tasks, () => drain(worker, options.tasks));
    return { ...measured, note: "one worker; results kept" };
  } finally {
    await worker.close();
    await queue.close();
    connection.disconnect();
  }
}

async function drain(worker: Worker, tasks: number): Promise<number> {
  const { hit, done } = countdown(tasks);
  worker.on("completed", hit);
  await worker.waitUntilReady();
  const started = now();
  const running = worker.run();
  await Promise.race([done, running]);
  return now() - started;
}

async function fill(queue: Queue, tasks: number): Promise<void> {
  const jobs = Array.from({ length: tasks }, (_, n) => ({ name: "noop", data: { n } }));
  for (const part of chunks(jobs, 1_000)) await queue.addBulk(part);
}

await serve(import.meta.url, run);
