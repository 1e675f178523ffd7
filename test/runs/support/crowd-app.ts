// Levels of many parallel steps. Each step tells the witness that it is there, and stays until it may go.

import type { ExecutorChoice, Reference, TaskContext } from "sluice";
import { defineApp, inProcess, parallel, task, workflow } from "sluice";
import { Visitor } from "../../support/witness.ts";

interface Stay {
  readonly port: number;
  /** The name under which the witness counts it, like a queue. */
  readonly crowd: string;
  readonly pools: Readonly<Record<string, number>>;
}

/** One connection to each witness from each process that runs steps. */
const lines = new Map<number, Promise<Visitor>>();

function lineTo(port: number): Promise<Visitor> {
  const line = lines.get(port) ?? Visitor.connect(port, String(process.pid));
  lines.set(port, line);
  return line;
}

async function stay({ port, crowd, pools }: Stay, { id, fence }: TaskContext): Promise<number> {
  const visitor = await lineTo(port);
  await visitor.visit({ id, queue: crowd, pools, epoch: fence }, () => visitor.hold(id));
  return process.pid;
}

const wait = task({ id: "wait", run: stay });
const compute = task({ id: "compute", cpu: true, run: stay });

interface Level {
  /** Steps that ask for the pool. They come first. */
  readonly pooled?: number;
  readonly computing?: number;
  readonly waiting?: number;
}

function level(id: string, executor: ExecutorChoice, { pooled = 0, computing = 0, waiting = 0 }: Level) {
  return workflow({
    id,
    executor,
    steps: (s, { port, crowd }: Reference<{ port: number; crowd: string }>) => {
      const gpu = { gpu: 1 };
      for (let each = 0; each < pooled; each += 1)
        s.step(`pooled${each}`, compute, { port, crowd, pools: gpu }, { pools: gpu });
      for (let each = 0; each < computing; each += 1)
        s.step(`computing${each}`, compute, { port, crowd, pools: {} });
      for (let each = 0; each < waiting; each += 1)
        s.step(`waiting${each}`, wait, { port, crowd, pools: {} });
    },
  });
}

export const pooledLevel = level("pooled", parallel({ maxWorkers: 8 }), { pooled: 5, computing: 7 });
export const wideLevel = level("wide", parallel({ maxWorkers: 8 }), { computing: 10 });
export const asyncLevel = level("async", parallel({ maxAsyncConcurrent: 3 }), { waiting: 7 });
export const serialLevel = level("serial", inProcess(), { computing: 2, waiting: 2 });
export const mixedLevel = level("mixed", parallel({ maxWorkers: 4 }), { computing: 5, waiting: 2 });

export default defineApp({
  tasks: [wait, compute],
  workflows: [pooledLevel, wideLevel, asyncLevel, serialLevel, mixedLevel],
  pools: { gpu: { limit: 2 } },
});
