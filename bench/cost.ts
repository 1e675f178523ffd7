// What tasks cost while they ran. When the machine is busy, it changes less than their speed.

import { processorMs } from "./proc.ts";
import type { Cost } from "./row.ts";
import type { ServerWatch, Used } from "./server-watch.ts";
import { watchServer } from "./server-watch.ts";

/** Counts from `start` to `stop`. */
export class Meter {
  readonly #server: ServerWatch | undefined;
  readonly #workers: readonly number[];
  readonly #before: Used | undefined;
  readonly #nodeBefore: number | null;

  private constructor(server: ServerWatch | undefined, workers: readonly number[], before: Used | undefined) {
    this.#server = server;
    this.#workers = workers;
    this.#before = before;
    this.#nodeBefore = nodeMs(workers);
  }

  /** `workers` are the processes that run the tasks; by default, this one. */
  static async start(url: string, workers: readonly number[] = [process.pid]): Promise<Meter> {
    const server = await watchServer(url);
    return new Meter(server, workers, await server?.used());
  }

  /** Call it once, while the workers still live. */
  async stop(tasks: number): Promise<Cost> {
    const node = difference(nodeMs(this.#workers), this.#nodeBefore);
    const after = await this.#server?.used();
    await this.#server?.close();
    const server = difference(after?.processorMs, this.#before?.processorMs);
    return {
      nodeUs: each(node, tasks, 1_000),
      serverUs: each(server, tasks, 1_000),
      logBytes: each(difference(after?.logBytes, this.#before?.logBytes), tasks, 1),
    };
  }
}

export interface Measured {
  tasksPerSecond: number;
  cost: Cost;
}

/** `work` runs the tasks and returns how many milliseconds it took. */
export async function metered(url: string, tasks: number, work: () => Promise<number>): Promise<Measured> {
  const meter = await Meter.start(url);
  const elapsedMs = await work();
  return { tasksPerSecond: tasks / (elapsedMs / 1_000), cost: await meter.stop(tasks) };
}

function nodeMs(workers: readonly number[]): number | null {
  return workers
    .map(ofProcess)
    .reduce<number | null>((sum, ms) => (sum === null || ms === null ? null : sum + ms), 0);
}

/** Our own time is known more exactly, and on every system. */
function ofProcess(pid: number): number | null {
  if (pid !== process.pid) return processorMs(pid);
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function difference(after: number | null | undefined, before: number | null | undefined): number | null {
  return typeof after === "number" && typeof before === "number" ? after - before : null;
}

const each = (total: number | null, tasks: number, factor: number): number | null =>
  total === null ? null : (total * factor) / tasks;
