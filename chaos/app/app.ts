/**
 * The app under test has every kind of limit and every kind of code: quick, heavy, flaky, deaf to its signal,
 * blocking its event loop, killing its own process. Leases are short, so that outliving one takes seconds,
 * not minutes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { TaskContext } from "sluice";
import { defineApp, task } from "sluice";
import { flowsOf } from "./flows.ts";
import { POOLS_OF, RUNS_OF_A_TENANT } from "./limits.ts";
import type { Gates, Inside } from "./visit.ts";
import { visit } from "./visit.ts";

export interface Errand {
  readonly ms: number;
  /** The code ignores its signal and tries to have its effect whatever happened. */
  readonly deaf?: boolean;
  /** How many of its first attempts fail. */
  readonly fails?: number;
  /** Which step or item of which run this is, as it was submitted. The witness is told. */
  readonly mark?: string;
}

const gatesOf = (queue: string, pools: Gates): Gates => ({
  cluster: 1,
  [`queue:${queue}`]: 1,
  ...Object.fromEntries(Object.entries(pools).map(([pool, slots]) => [`pool:${pool}`, slots])),
});

interface Kind {
  readonly queue: string;
  readonly attempts?: number;
  readonly goodUntil?: "3s";
  readonly middle?: (errand: Errand, context: TaskContext) => Promise<void>;
}

const stay = (errand: Errand, { signal }: TaskContext): Promise<void> =>
  sleep(errand.ms, undefined, errand.deaf ? {} : { signal });

/**
 * Every task enters, does something, has its effect and leaves. Its result names the fence it was made under.
 */
function kind(id: string, { queue, attempts = 5, goodUntil, middle = stay }: Kind) {
  const pools = POOLS_OF[id] ?? {};
  return task({
    id,
    queue,
    pools,
    retry: { attempts, backoff: "fixed", delay: "200ms" },
    ...(goodUntil ? { goodUntil } : {}),
    run: (errand: Errand, context: TaskContext) =>
      visit(
        id,
        context,
        { gates: gatesOf(queue, pools), deaf: errand.deaf === true, mark: errand.mark ?? null },
        async (inside: Inside) => {
          await middle(errand, context);
          if (context.attempt <= (errand.fails ?? 0)) throw new Error("as it was told to");
          await inside.effect(`task:${context.id}`);
          if (pools.mutex) await inside.effect("pool:mutex");
          return { fence: context.fence };
        },
      ),
  });
}

export const quick = kind("quick", { queue: "fast" });
export const light = kind("light", { queue: "fast" });
export const heavy = kind("heavy", { queue: "slow" });
export const single = kind("single", { queue: "bulk" });
export const flaky = kind("flaky", { queue: "bulk", attempts: 3 });
export const fleeting = kind("fleeting", { queue: "slow", goodUntil: "3s" });
/** Runs longer than its lease. */
export const long = kind("long", { queue: "slow" });

/** Blocks the event loop of its process for two leases without using the processor. */
export const blocking = kind("blocking", {
  queue: "stuck",
  middle: async (errand) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, errand.ms);
  },
});

/** Kills its own process. */
export const poison = kind("poison", {
  queue: "fast",
  attempts: 20,
  middle: async () => {
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => {});
  },
});

/**
 * Tasks for the steps of runs. They have many attempts, because a step that runs out of them fails its run.
 */
export const part = kind("part", { queue: "fast", attempts: 30 });
export const share = kind("share", { queue: "slow", attempts: 30 });

export default defineApp({
  tasks: [quick, light, heavy, single, flaky, fleeting, long, blocking, poison, part, share],
  ...flowsOf({ part, share }),
  runs: { max: 6, tags: [{ key: "tenant", perValue: true, limit: RUNS_OF_A_TENANT }] },
  clusterCap: 14,
  queues: {
    fast: { rank: 1, maxConcurrency: 8 },
    slow: { rank: 50, maxConcurrency: 6 },
    bulk: { rank: 100, maxConcurrency: 7 },
    stuck: { rank: 2, maxConcurrency: 2 },
  },
  pools: { database: { limit: 8 }, mutex: { limit: 1 } },
  session: { lease: "3s", heartbeat: "500ms" },
});
