/**
 * An app with its defaults filled in: plain, frozen data, the same in every process that loads the same file.
 * Only `checkApp` makes one, so an App is known to be valid.
 */
import { DEFAULT_NAMESPACE } from "../gate/key.ts";
import type { AppTriggers } from "../schedule/trigger.ts";
import { triggersOf } from "../schedule/trigger.ts";
import type { AnyTask } from "../task/definition.ts";
import { parseDuration } from "../time.ts";
import type { AnyWorkflow } from "../workflow/definition.ts";
import type { ExecutorChoice } from "../workflow/executor.ts";
import { parallel } from "../workflow/executor.ts";
import type { AppDefinition, QueueMode, WhileWaiting } from "./definition.ts";
import type { AppSync } from "./sync.ts";
import { syncOf } from "./sync.ts";

interface AppQueue {
  readonly name: string;
  readonly rank: number;
  /** False if the rank is the default. Then the app declares no rank. */
  readonly ranked: boolean;
  readonly maxConcurrency: number | null;
}

export interface AppPool {
  readonly name: string;
  readonly limit: number;
  readonly leaseMs: number;
  readonly perValue: boolean;
}

export interface AppTagLimit {
  readonly key: string;
  readonly value: string | null;
  readonly perValue: boolean;
  readonly limit: number;
}

interface AppRuns {
  /** False if the app does not set how many runs may be in progress. Then other apps decide. */
  readonly declared: boolean;
  readonly max: number;
  readonly tags: readonly AppTagLimit[];
  readonly startTimeoutMs: number;
  readonly onStartTimeout: "requeue" | "fail";
  readonly whileWaiting: WhileWaiting;
}

/** Null declares nothing. */
interface AppParallelism {
  readonly engine: number | null;
  readonly eachNamespace: number | null;
  readonly namespaces: readonly { readonly name: string; readonly limit: number }[];
}

interface AppSemaphore {
  readonly name: string;
  readonly namespace: string;
  readonly limit: number;
}

export interface App extends AppTriggers {
  /**
   * The name under which its limits, ranks and triggers are stored. Null if not given; then the name of its
   * package is used.
   */
  readonly name: string | null;
  readonly namespace: string;
  readonly parallelism: AppParallelism;
  readonly semaphores: readonly AppSemaphore[];
  readonly configMaps: readonly string[];
  readonly tasks: ReadonlyMap<string, AnyTask>;
  readonly workflows: ReadonlyMap<string, AnyWorkflow>;
  readonly executor: ExecutorChoice;
  readonly runs: AppRuns;
  readonly queueMode: QueueMode;
  readonly queues: readonly AppQueue[];
  readonly clusterCap: number | null;
  readonly prefetch: number;
  readonly claimLeaseMs: number;
  readonly pools: readonly AppPool[];
  /** Null if this engine shares no locks. */
  readonly sync: AppSync | null;
  readonly session: { readonly leaseMs: number; readonly heartbeatMs: number };
}

export const APP_DEFAULTS = {
  queue: "default",
  rank: 100,
  prefetch: 0,
  claimLease: "60s",
  poolLease: "5m",
  sessionLease: "30s",
  sessionHeartbeat: "10s",
  runs: 10,
  startTimeout: "180s",
  onStartTimeout: "requeue",
  whileWaiting: "hold",
} as const;

/** Declared queues make the mode custom, so that an app need not say it twice. */
export function queueModeOf({ queueMode, queues }: AppDefinition): QueueMode {
  return queueMode ?? (queues ? "custom" : "default");
}

/** Fills in the defaults of a valid definition. */
export function resolveApp(definition: AppDefinition): App {
  const { tasks, workflows = [], clusterCap, prefetch, claimLease, session } = definition;
  return Object.freeze({
    name: definition.name ?? null,
    namespace: definition.namespace ?? DEFAULT_NAMESPACE,
    parallelism: Object.freeze(parallelismOf(definition)),
    semaphores: Object.freeze(semaphoresOf(definition)),
    configMaps: Object.freeze([...(definition.locks?.configMaps ?? [])]),
    tasks: new Map(tasks.map((task) => [task.id, task])),
    workflows: new Map(workflows.map((workflow) => [workflow.id, workflow])),
    executor: definition.executor ?? parallel(),
    runs: Object.freeze(runsOf(definition)),
    queueMode: queueModeOf(definition),
    queues: Object.freeze(queuesOf(definition)),
    clusterCap: clusterCap ?? null,
    prefetch: prefetch ?? APP_DEFAULTS.prefetch,
    claimLeaseMs: parseDuration(claimLease ?? APP_DEFAULTS.claimLease),
    pools: Object.freeze(poolsOf(definition)),
    ...triggersOf(definition),
    sync: syncOf(definition),
    session: Object.freeze({
      leaseMs: parseDuration(session?.lease ?? APP_DEFAULTS.sessionLease),
      heartbeatMs: parseDuration(session?.heartbeat ?? APP_DEFAULTS.sessionHeartbeat),
    }),
  });
}

function queuesOf({ queues }: AppDefinition): AppQueue[] {
  return Object.entries(queues ?? { [APP_DEFAULTS.queue]: {} }).map(([name, { rank, maxConcurrency }]) =>
    Object.freeze({
      name,
      rank: rank ?? APP_DEFAULTS.rank,
      ranked: rank !== undefined,
      maxConcurrency: maxConcurrency ?? null,
    }),
  );
}

function poolsOf({ pools }: AppDefinition): AppPool[] {
  return Object.entries(pools ?? {}).map(([name, { limit, lease, perValue }]) =>
    Object.freeze({
      name,
      limit,
      leaseMs: parseDuration(lease ?? APP_DEFAULTS.poolLease),
      perValue: perValue ?? false,
    }),
  );
}

/** 0 declares nothing, like a missing number. */
const declared = (limit: number | undefined): number | null => (limit === 0 ? null : (limit ?? null));

function parallelismOf({ parallelism, namespaceParallelism, namespaces }: AppDefinition): AppParallelism {
  return {
    engine: declared(parallelism),
    eachNamespace: declared(namespaceParallelism),
    namespaces: Object.entries(namespaces ?? {}).flatMap(([name, options]) => {
      const limit = declared(options.parallelism);
      return limit === null ? [] : [{ name, limit }];
    }),
  };
}

function semaphoresOf({ semaphores, namespace = DEFAULT_NAMESPACE }: AppDefinition): AppSemaphore[] {
  return Object.entries(semaphores ?? {}).map(([name, said]) => {
    const { limit, namespace: own = namespace } = typeof said === "number" ? { limit: said } : said;
    return { name, namespace: own, limit };
  });
}

function runsOf({ runs }: AppDefinition): AppRuns {
  const tags = runs?.tags ?? [];
  return {
    declared: runs?.max !== undefined,
    max: runs?.max ?? APP_DEFAULTS.runs,
    tags: Object.freeze(
      tags.map(({ key, value = null, perValue = false, limit }) =>
        Object.freeze({ key, value, perValue, limit }),
      ),
    ),
    startTimeoutMs: parseDuration(runs?.startTimeout ?? APP_DEFAULTS.startTimeout),
    onStartTimeout: runs?.onStartTimeout ?? APP_DEFAULTS.onStartTimeout,
    whileWaiting: runs?.whileWaiting ?? APP_DEFAULTS.whileWaiting,
  };
}
