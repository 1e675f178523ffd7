/**
 * A misspelt field would be a limit that silently does not exist, and an app file is loaded without being
 * type-checked. So every field must be a known one. The compiler keeps these lists complete.
 */
import type { MutexAsk, SemaphoreAsk } from "../gate/lock.ts";
import type { AutomationDefinition, ScheduleDefinition, SensorDefinition } from "../schedule/definition.ts";
import type { AnyTask } from "../task/definition.ts";
import type { RetryOptions } from "../task/retry.ts";
import type { WorkflowOptions } from "../workflow/definition.ts";
import type { EachOptions } from "../workflow/each.ts";
import type { InProcess, Kubernetes, Parallel } from "../workflow/executor.ts";
import type { PodResources } from "../workflow/graph.ts";
import type {
  DetachedOptions,
  GroupOptions,
  RunEachOptions,
  RunStepOptions,
} from "../workflow/nested-options.ts";
import type { StepOptions } from "../workflow/step-options.ts";
import type { ApproveOptions, WaitForOptions, WaitingOptions } from "../workflow/waiting.ts";
import type {
  AppDefinition,
  PoolOptions,
  QueueOptions,
  RunOptions,
  SessionOptions,
  TagLimit,
} from "./definition.ts";
import { nearest } from "./near.ts";
import type { Problems } from "./rule.ts";
import { isRecord } from "./rule.ts";

type Fields<Of> = Readonly<Record<Extract<keyof Of, string>, true>>;

export const APP_FIELDS: Fields<AppDefinition> = {
  name: true,
  tasks: true,
  workflows: true,
  executor: true,
  runs: true,
  queueMode: true,
  queues: true,
  clusterCap: true,
  prefetch: true,
  claimLease: true,
  pools: true,
  semaphores: true,
  session: true,
  schedules: true,
  sensors: true,
  automations: true,
};

export const QUEUE_FIELDS: Fields<QueueOptions> = { rank: true, maxConcurrency: true };
export const POOL_FIELDS: Fields<PoolOptions> = { limit: true, lease: true, perValue: true };
export const SESSION_FIELDS: Fields<SessionOptions> = { lease: true, heartbeat: true };
export const RETRY_FIELDS: Fields<RetryOptions> = {
  attempts: true,
  backoff: true,
  delay: true,
  maxDelay: true,
  jitter: true,
  when: true,
};

export const TASK_FIELDS: Fields<AnyTask> = {
  id: true,
  queue: true,
  priority: true,
  input: true,
  pools: true,
  mutexes: true,
  semaphores: true,
  retry: true,
  timeout: true,
  goodUntil: true,
  cpu: true,
  onFailure: true,
  run: true,
};

const MUTEX_FIELDS: Fields<MutexAsk> = {
  name: true,
  namespace: true,
  line: true,
  keep: true,
  database: true,
};
export const LOCK_FIELDS: {
  readonly mutex: Fields<MutexAsk>;
  readonly semaphore: Fields<SemaphoreAsk>;
} = { mutex: MUTEX_FIELDS, semaphore: { ...MUTEX_FIELDS, slots: true } };

export const WORKFLOW_FIELDS: Fields<WorkflowOptions & { input: unknown; steps: unknown }> = {
  id: true,
  input: true,
  tags: true,
  priority: true,
  timeout: true,
  failFast: true,
  parallelism: true,
  executor: true,
  mutexes: true,
  semaphores: true,
  pools: true,
  onFailure: true,
  steps: true,
};

export const STEP_FIELDS: Fields<StepOptions> = {
  after: true,
  when: true,
  queue: true,
  priority: true,
  pools: true,
  retry: true,
  timeout: true,
  mutexes: true,
  semaphores: true,
  mayFail: true,
  executor: true,
};

export const EACH_FIELDS: Fields<EachOptions> = {
  ...STEP_FIELDS,
  concurrency: true,
  onFailure: true,
  input: true,
};

export const WAIT_FIELDS: {
  readonly sleep: Fields<WaitingOptions>;
  readonly until: Fields<WaitingOptions>;
  readonly event: Fields<WaitForOptions>;
  readonly approval: Fields<ApproveOptions>;
} = {
  sleep: { after: true, when: true, mayFail: true },
  until: { after: true, when: true, mayFail: true },
  event: { after: true, when: true, mayFail: true, match: true, timeout: true, otherwise: true },
  approval: {
    after: true,
    when: true,
    mayFail: true,
    question: true,
    by: true,
    timeout: true,
    otherwise: true,
  },
};

/** A step that calls a workflow. */
export const RUN_STEP_FIELDS: Fields<RunStepOptions> = {
  after: true,
  when: true,
  priority: true,
  pools: true,
  mutexes: true,
  semaphores: true,
  timeout: true,
  mayFail: true,
  detached: true,
};

export const DETACHED_FIELDS: Fields<DetachedOptions> = { wait: true, tags: true };

export const RUN_EACH_FIELDS: Fields<RunEachOptions> = {
  after: true,
  when: true,
  priority: true,
  pools: true,
  mutexes: true,
  semaphores: true,
  timeout: true,
  mayFail: true,
  concurrency: true,
  onFailure: true,
  input: true,
};

export const GROUP_FIELDS: Fields<GroupOptions> = {
  after: true,
  when: true,
  priority: true,
  pools: true,
  mutexes: true,
  semaphores: true,
  timeout: true,
  mayFail: true,
  parallelism: true,
  failFast: true,
};

export const RUN_FIELDS: Fields<RunOptions> = {
  max: true,
  tags: true,
  startTimeout: true,
  onStartTimeout: true,
  whileWaiting: true,
};
export const TAG_FIELDS: Fields<TagLimit> = { key: true, value: true, perValue: true, limit: true };

export const EXECUTOR_FIELDS: {
  readonly "in-process": Fields<InProcess>;
  readonly parallel: Fields<Parallel>;
  readonly kubernetes: Fields<Kubernetes>;
} = {
  "in-process": { kind: true },
  parallel: { kind: true, maxWorkers: true, maxAsyncConcurrent: true },
  kubernetes: {
    kind: true,
    image: true,
    namespace: true,
    command: true,
    serviceAccount: true,
    env: true,
    labels: true,
    resources: true,
    keep: true,
    maxConcurrentSteps: true,
  },
};
export const RESOURCE_FIELDS: Fields<PodResources> = { requests: true, limits: true };
export const SCHEDULE_FIELDS: Fields<ScheduleDefinition> = {
  id: true,
  workflow: true,
  task: true,
  cron: true,
  timezone: true,
  input: true,
  tags: true,
  priority: true,
  catchUp: true,
  overlap: true,
  paused: true,
};

export const SENSOR_FIELDS: Fields<SensorDefinition> = {
  id: true,
  every: true,
  timeout: true,
  workflow: true,
  tags: true,
  priority: true,
  paused: true,
  run: true,
};

export const AUTOMATION_FIELDS: Fields<AutomationDefinition> = {
  id: true,
  workflow: true,
  when: true,
  input: true,
  tags: true,
  priority: true,
  paused: true,
};

export function* mustKnowFields(
  prefix: string,
  value: unknown,
  fields: Readonly<Record<string, true>>,
): Problems {
  if (!isRecord(value)) return;
  const known = Object.keys(fields);
  for (const field of Object.keys(value).filter((each) => !known.includes(each))) {
    const meant = nearest(field, known);
    const cure = meant ? `Use "${meant}" instead` : `Use one of ${known.join(", ")}`;
    yield { field: `${prefix}${field}`, rule: "is not a known field", cure };
  }
}
