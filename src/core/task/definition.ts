/**
 * What an app is made of, as its author writes it. Nothing here is checked or filled in yet: core/app does that
 * once, for everything together.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { AutomationDefinition, ScheduleDefinition, SensorDefinition } from "../schedule/definition.ts";
import type { Duration } from "../time.ts";
import type { AnyWorkflow } from "../workflow/definition.ts";
import type { ExecutorChoice } from "../workflow/executor.ts";
import type { RetryOptions } from "./retry.ts";

declare global {
  // Core is compiled without Node's and the browser's types. This merges with their AbortSignal, so core can name
  // it and users meet the real one.
  interface AbortSignal {
    readonly aborted: boolean;
  }
}

/** What a task's code is given beside its input. */
export interface TaskContext {
  /** The task's own id, the one that `enqueue` returned. */
  readonly id: string;
  /** Aborted when the lease is lost, on cancel and on timeout. */
  readonly signal: AbortSignal;
  /** Grows with every claim; pass it to outside systems, so that they can refuse a holder that was replaced. */
  readonly fence: number;
  /** 1 for the first. */
  readonly attempt: number;
  progress(value: unknown): void;
  log(message: string, data?: unknown): void;
}

/** Slots by pool; a pool with a limit per value is asked as "tenant=acme". */
export type PoolAsks = Readonly<Record<string, number>>;

/** `Input` is what callers enqueue, `Parsed` what the schema makes of it and `run` is given. */
export interface TaskDefinition<Input, Output, Parsed = Input> {
  readonly id: string;
  /** The queue it waits in; "default" unless said otherwise. */
  readonly queue?: string;
  /** Higher first, inside its queue; 0 unless said otherwise. */
  readonly priority?: number;
  readonly input?: StandardSchemaV1<Input, Parsed>;
  readonly pools?: PoolAsks | ((input: Parsed) => PoolAsks);
  readonly retry?: RetryOptions;
  /** How long one attempt may run. */
  readonly timeout?: Duration;
  /** How long after it was enqueued it may still start. */
  readonly goodUntil?: Duration;
  /** CPU-bound: as a step of a run it has a process of its own, where the executor has them. */
  readonly cpu?: boolean;
  run(input: Parsed, context: TaskContext): Promise<Output> | Output;
}

// biome-ignore lint/suspicious/noExplicitAny: a list of tasks has no common input; each is checked by its own schema.
export type AnyTask = TaskDefinition<any, any, any>;

export type InputOf<Task extends AnyTask> =
  Task extends TaskDefinition<infer Input, infer _O, infer _P> ? Input : never;
export type OutputOf<Task extends AnyTask> =
  Task extends TaskDefinition<infer _I, infer Output, infer _P> ? Output : never;

/** With a schema, the types come from it. */
export function task<Input, Output, Parsed>(
  definition: TaskDefinition<Input, Output, Parsed> & { readonly input: StandardSchemaV1<Input, Parsed> },
): TaskDefinition<Input, Output, Parsed>;
/** Without one, the input is what `run` says it takes; `void` when it takes nothing. */
export function task<Output, Input = void>(
  definition: TaskDefinition<Input, Output> & { readonly input?: never },
): TaskDefinition<Input, Output>;
export function task(definition: AnyTask): AnyTask {
  return Object.freeze({ ...definition });
}

export interface QueueOptions {
  /** 1 is served first; 100 unless said otherwise. */
  readonly rank?: number;
  /** How many of its tasks may run at once, on all workers together. */
  readonly maxConcurrency?: number;
}

export interface PoolOptions {
  readonly limit: number;
  readonly lease?: Duration;
  /** One limit for each value: asked as "tenant=acme", and every tenant has `limit` slots of its own. */
  readonly perValue?: boolean;
}

export interface SessionOptions {
  readonly lease?: Duration;
  readonly heartbeat?: Duration;
}

export interface RunOptions {
  /** How many runs may be in progress at once; 10 unless said otherwise, -1 is unlimited. */
  readonly max?: number;
  readonly tags?: readonly TagLimit[];
  /** How long a run that was let in may take to start; "180s" unless said otherwise. */
  readonly startTimeout?: Duration;
  /** What becomes of one that did not: back in line, unless said otherwise. */
  readonly onStartTimeout?: "requeue" | "fail";
}

/** How many runs with a tag may be in progress at once: with this key, with this key and value, or for each value. */
export interface TagLimit {
  readonly key: string;
  readonly value?: string;
  readonly perValue?: boolean;
  readonly limit: number;
}

export interface AppDefinition {
  /**
   * Whose limits, ranks and triggers these are in the store; the name of the package when not said. Two apps of one
   * package need a name each: under one name they are two versions of one app, and the later deploy replaces the other.
   */
  readonly name?: string;
  readonly tasks: readonly AnyTask[];
  readonly workflows?: readonly AnyWorkflow[];
  /** Where steps run, unless their workflow or they themselves say otherwise; `parallel()` by default. */
  readonly executor?: ExecutorChoice;
  readonly runs?: RunOptions;
  /** "custom" when queues are declared, else "default": one queue of that name. */
  readonly queueMode?: QueueMode;
  readonly queues?: Readonly<Record<string, QueueOptions>>;
  /** How many tasks may run at once, in all queues and on all workers together. */
  readonly clusterCap?: number;
  /** How many tasks a worker claims beyond those it runs. 0 is the hard cap; more is the soft cap. */
  readonly prefetch?: number;
  /** How long a claim that is not yet running stays with its worker; required with `prefetch`. */
  readonly claimLease?: Duration;
  readonly pools?: Readonly<Record<string, PoolOptions>>;
  readonly session?: SessionOptions;
  /** What starts runs by itself: by the clock, by looking at the world, by what other workflows did. */
  readonly schedules?: readonly ScheduleDefinition[];
  readonly sensors?: readonly SensorDefinition[];
  readonly automations?: readonly AutomationDefinition[];
}

export type QueueMode = "default" | "custom";
