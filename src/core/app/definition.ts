/**
 * What an app is made of, as its author writes it. Nothing here is checked or filled in yet: that happens once, for
 * everything together.
 */
import type { AutomationDefinition, ScheduleDefinition, SensorDefinition } from "../schedule/definition.ts";
import type { AnyTask } from "../task/definition.ts";
import type { Duration } from "../time.ts";
import type { AnyWorkflow } from "../workflow/definition.ts";
import type { ExecutorChoice } from "../workflow/executor.ts";

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
