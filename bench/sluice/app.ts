import type { App } from "../../src/index.ts";
import { defineApp, task } from "./built.ts";

export interface Shape {
  slots: number;
  /** True for a cluster cap, a queue cap and a pool. False for none of them. */
  caps: boolean;
  /** Soft cap: the number of claims taken ahead. */
  prefetch?: number;
}

export const queue = "work";

/** A no-op task behind the usual three limits, which are so wide that only the slots bind. */
export function noop(
  { slots, caps, prefetch = 0 }: Shape,
  run: () => void,
): { app: App; work: ReturnType<typeof task> } {
  const wide = slots * 8;
  const work = task({
    id: "noop",
    queue,
    ...(caps ? { pools: { shared: 1 } } : {}),
    run: (_: { n: number }) => run(),
  });
  const app = defineApp({
    tasks: [work],
    queues: { [queue]: { rank: 1, ...(caps ? { maxConcurrency: wide } : {}) } },
    ...(caps && prefetch === 0 ? { clusterCap: wide } : {}),
    ...(caps ? { pools: { shared: { limit: wide } } } : {}),
    ...(prefetch > 0 ? { prefetch, claimLease: "60s" } : {}),
  });
  return { app, work: work as never };
}

export async function fill(
  sluice: { enqueueMany(calls: { task: never; input: never }[]): Promise<unknown> },
  work: unknown,
  tasks: number,
): Promise<void> {
  for (let from = 0; from < tasks; from += 2_000) {
    const size = Math.min(2_000, tasks - from);
    await sluice.enqueueMany(
      Array.from({ length: size }, (_, n) => ({ task: work as never, input: { n: from + n } as never })),
    );
  }
}
