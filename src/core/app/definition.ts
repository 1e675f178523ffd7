/** An app as its author writes it. `checkApp` checks it and fills in the defaults, all at once. */
import type { AutomationDefinition, ScheduleDefinition, SensorDefinition } from "../schedule/definition.ts";
import type { AnyTask } from "../task/definition.ts";
import type { Duration } from "../time.ts";
import type { AnyWorkflow } from "../workflow/definition.ts";
import type { ExecutorChoice } from "../workflow/executor.ts";

export interface QueueOptions {
  /** Queues with a lower rank are served first. The default is 100. */
  readonly rank?: number;
  /** How many tasks of this queue may run at once, on all workers together. */
  readonly maxConcurrency?: number;
}

export interface PoolOptions {
  readonly limit: number;
  readonly lease?: Duration;
  /**
   * If true, every value has its own limit: a task asks for "tenant=acme", and each tenant has `limit` slots.
   */
  readonly perValue?: boolean;
}

export interface SemaphoreOptions {
  readonly limit: number;
  /** The default is the namespace of the app. */
  readonly namespace?: string;
}

export interface SessionOptions {
  readonly lease?: Duration;
  readonly heartbeat?: Duration;
}

export interface RunOptions {
  /** How many runs may be in progress at once. The default is 10; -1 is unlimited. */
  readonly max?: number;
  readonly tags?: readonly TagLimit[];
  /** How long an admitted run may take to start. The default is "180s". */
  readonly startTimeout?: Duration;
  /** Requeues or fails a run that does not start in time. The default is "requeue". */
  readonly onStartTimeout?: "requeue" | "fail";
  /**
   * Whether a run whose open steps only wait keeps its slots. With "release" it gives them back, and goes back
   * in line, in its old place, when a step has what it waited for. The default is "hold". A run that holds pools
   * or mutexes always keeps its slots.
   */
  readonly whileWaiting?: WhileWaiting;
}

export type WhileWaiting = "hold" | "release";

/**
 * How many runs with a tag may be in progress at once: with this key, with this key and value, or for each
 * value.
 */
export interface TagLimit {
  readonly key: string;
  readonly value?: string;
  readonly perValue?: boolean;
  readonly limit: number;
}

export interface AppDefinition {
  /**
   * The name under which its limits, ranks and triggers are stored; the name of the package by default. Two
   * apps of one package each need a name. Under one name they count as two versions of one app, and the later
   * deploy replaces the earlier one.
   */
  readonly name?: string;
  readonly tasks: readonly AnyTask[];
  readonly workflows?: readonly AnyWorkflow[];
  /** The executor of steps whose workflow and own options choose none. The default is `parallel()`. */
  readonly executor?: ExecutorChoice;
  readonly runs?: RunOptions;
  /** "custom" if queues are declared. Otherwise "default": a single queue named "default". */
  readonly queueMode?: QueueMode;
  readonly queues?: Readonly<Record<string, QueueOptions>>;
  /** How many tasks may run at once, in all queues and on all workers together. */
  readonly clusterCap?: number;
  /** How many tasks a worker claims beyond those it runs. 0 is the hard cap; more is the soft cap. */
  readonly prefetch?: number;
  /** How long a worker keeps a claim that is not yet running. Required with `prefetch`. */
  readonly claimLease?: Duration;
  readonly pools?: Readonly<Record<string, PoolOptions>>;
  /** The limits of semaphores, by NAME or CONFIGMAP/KEY. */
  readonly semaphores?: Readonly<Record<string, number | SemaphoreOptions>>;
  readonly session?: SessionOptions;
  /** Start runs automatically: by the clock, by polling the outside world, or after other workflows. */
  readonly schedules?: readonly ScheduleDefinition[];
  readonly sensors?: readonly SensorDefinition[];
  readonly automations?: readonly AutomationDefinition[];
}

export type QueueMode = "default" | "custom";
