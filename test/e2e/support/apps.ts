// Apps with tasks only. Every task reports to the witness; a test that only enqueues has no connection to it.

import { setTimeout as sleep } from "node:timers/promises";
import type { App, AppDefinition, TaskContext, TaskDefinition } from "../../../src/index.ts";
import { defineApp, task } from "../../../src/index.ts";
import type { Visitor } from "../../support/witness.ts";

/** What a task does between entering and leaving. */
export interface Errand {
  /** Stays this many milliseconds. */
  readonly ms?: number;
  /** Stays until the witness lets it go. */
  readonly hold?: boolean;
  /** Holds only on this worker. Elsewhere it takes no time. */
  readonly holdOn?: string;
  readonly pools?: Readonly<Record<string, number>>;
}

export type ErrandTask = TaskDefinition<Errand, string>;

function errand(id: string, visitor: Visitor | undefined): ErrandTask {
  return task({
    id,
    queue: id,
    pools: (input: Errand) => input.pools ?? {},
    run: async (input: Errand, context: TaskContext) => {
      if (!visitor) throw new Error("this process only enqueues");
      const { id: unit, fence } = context;
      await visitor.visit({ id: unit, queue: id, pools: input.pools ?? {}, epoch: fence }, async () => {
        if (input.hold || input.holdOn === visitor.worker) await visitor.hold(unit);
        if (input.ms) await sleep(input.ms);
      });
      return visitor.worker;
    },
  });
}

type Make = (visitor?: Visitor) => App;

/** One task per queue, named like its queue. */
const appOf =
  (rest: Omit<AppDefinition, "tasks">): Make =>
  (visitor) =>
    defineApp({ ...rest, tasks: Object.keys(rest.queues ?? {}).map((queue) => errand(queue, visitor)) });

const SOFT = {
  prefetch: 4,
  claimLease: "1s",
  queues: { work: { maxConcurrency: 3 }, free: {}, own: {} },
} as const;

export const TASK_APPS = {
  /** Has every kind of limit at once. */
  caps: appOf({
    clusterCap: 20,
    queues: {
      stripe: { rank: 1, maxConcurrency: 3 },
      email: { rank: 50, maxConcurrency: 10 },
      bulk: { rank: 100 },
    },
    pools: { database: { limit: 5 }, api: { limit: 5 } },
  }),
  soft: appOf({ ...SOFT, session: { lease: "6s", heartbeat: "500ms" } }),
  /** The same with a shorter lease, for tests that wait until a session ends. */
  softBrief: appOf({ ...SOFT, session: { lease: "3s", heartbeat: "500ms" } }),
  /** Has one slot, and short leases, so that a worker's end is soon noticed. */
  single: appOf({
    queues: { narrow: { maxConcurrency: 1 }, wide: {} },
    session: { lease: "3s", heartbeat: "500ms" },
  }),
  why: appOf({
    queues: { narrow: { maxConcurrency: 1 }, wide: {} },
    pools: { gpu: { limit: 2 }, tenant: { limit: 1, perValue: true } },
  }),
  hard: appOf({ queues: { work: {} } }),
} as const satisfies Record<string, Make>;
