// The app of most cases: one task that does nothing, behind the usual three limits.

import type { App, Sluice } from "../../src/index.ts";
import { incompressible } from "../measure.ts";
import { defineApp, task } from "./built.ts";

export interface Shape {
  slots: number;
  /** The limit of a cluster cap, a queue cap and a pool, each. Null for none of them. */
  limit: number | null;
  /** Soft cap: the number of claims taken ahead. */
  prefetch?: number;
  /** The size of each task's input in bytes. Default: a number. */
  payload?: number;
  /** How many queues the tasks are spread over, in turn. Default: one. */
  queues?: number;
  /** How many tenants the tasks belong to, in turn. Each tenant has a limit of its own, and so a lane. */
  tenants?: number;
  /** Every task fails once and is retried at once. */
  retried?: boolean;
}

export interface Input {
  n: number;
  tenant?: string;
  text?: string;
  /** When it was put in line, by the clock that all processes of this host share. */
  at?: number;
}

export type Work = ReturnType<typeof task<void, Input>>;

/** A limit that never binds, however many of our workers run. */
export const WIDE = 4_000;

const PER_TENANT = 2;

export function noop(shape: Shape, run: (input: Input) => void): { app: App; work: Work } {
  const { limit, prefetch = 0, tenants = 0, retried = false } = shape;
  const capped = limit !== null;
  const work = task<void, Input>({
    id: "noop",
    queue: queueOf(shape, 0),
    ...(capped || tenants > 0
      ? {
          pools: ({ tenant }: Input) => ({
            ...(capped ? { shared: 1 } : {}),
            ...(tenant === undefined ? {} : { [`tenant=${tenant}`]: 1 }),
          }),
        }
      : {}),
    ...(retried ? { retry: { attempts: 2, delay: "0ms", jitter: 0 } } : {}),
    run: (input, { attempt }) => {
      if (retried && attempt === 1) throw new Error("the first attempt fails");
      run(input);
    },
  });
  const app = defineApp({
    tasks: [work],
    queues: Object.fromEntries(
      queueNames(shape).map((name) => [name, { rank: 1, ...(capped ? { maxConcurrency: limit } : {}) }]),
    ),
    // A cluster cap is refused in soft mode.
    ...(capped && prefetch === 0 ? { clusterCap: limit } : {}),
    pools: {
      ...(capped ? { shared: { limit } } : {}),
      ...(tenants > 0 ? { tenant: { limit: PER_TENANT, perValue: true } } : {}),
    },
    ...(prefetch > 0 ? { prefetch, claimLease: "60s" } : {}),
  });
  return { app, work };
}

/** Puts `tasks` tasks in line, in transactions of 2,000. */
export async function fill(sluice: Sluice, work: Work, shape: Shape, tasks: number): Promise<void> {
  for (let from = 0; from < tasks; from += 2_000) {
    const size = Math.min(2_000, tasks - from);
    await sluice.enqueueMany(Array.from({ length: size }, (_, n) => call(work, shape, from + n)));
  }
}

function call(work: Work, shape: Shape, n: number) {
  const { payload = 0, queues = 1, tenants = 0 } = shape;
  const input: Input = {
    n,
    // Every queue gets its share of the tenants.
    ...(tenants > 0 ? { tenant: `t${n % tenants}` } : {}),
    ...(payload > 0 ? { text: incompressible(payload) } : {}),
  };
  return { task: work, input, ...(queues > 1 ? { options: { queue: queueOf(shape, n) } } : {}) };
}

const queueNames = (shape: Shape): string[] =>
  Array.from({ length: shape.queues ?? 1 }, (_, n) => queueOf(shape, n));

function queueOf({ queues = 1 }: Shape, n: number): string {
  return queues === 1 ? "work" : `work-${n % queues}`;
}
