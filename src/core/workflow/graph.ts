/**
 * What a run is made of, as plain data. It is stored with the run, so a redeploy never changes a run half-way, and any
 * process that has the store can move a run on, whatever code it was built with.
 */
import type { RetryPolicy } from "../task/retry.ts";
import type { Condition } from "./condition.ts";
import type { Template } from "./template.ts";

export interface Graph {
  readonly workflow: string;
  /** In the order in which they were written. */
  readonly steps: readonly GraphStep[];
  /** What the run's result is made of. */
  readonly output: Template;
  /** After the first failure nothing new starts; without it, branches that do not need the failed step go on. */
  readonly failFast: boolean;
  /** How long the run may take once it has started. */
  readonly timeoutMs: number | null;
  /** The gates that exist for one run only, by the last part of their key: "workers" is `run:<id>/workers`. */
  readonly gates: readonly RunGate[];
}

export interface RunGate {
  readonly name: RunGateName;
  /** -1 is unlimited. */
  readonly limit: number;
}

/** One per kind of executor, and which of them a step asks says where it runs. */
export type RunGateName = "in-process" | "workers" | "async" | "pods";

/** A step over a list: one unit per item, each with its own attempts, and a window of how many are in flight. */
export interface GraphEach {
  readonly items: Items;
  /** How many at once: a number, or where to find it; null for as many as the other gates let in. */
  readonly concurrency: Template | null;
  readonly onFailure: OnItemFailure;
}

/** A list; several of the same length, taken together; or an object by its keys. */
export type Items =
  | { readonly list: Template }
  | { readonly zip: readonly Template[] }
  | { readonly entries: Template };

/**
 * `run-all`: all items run, then the step fails if any failed. `stop`: no new items, those in flight finish. `cancel`:
 * those in flight are aborted too.
 */
export type OnItemFailure = "run-all" | "stop" | "cancel";

export interface GraphStep {
  readonly name: string;
  /** The task it calls. */
  readonly task: string;
  readonly queue: string;
  /** The run's own when null. */
  readonly priority: number | null;
  /** Of a step over a list: what each item is given. */
  readonly input: Template;
  readonly each: GraphEach | null;
  /** Every step it refers to or comes after, and how that must have ended. */
  readonly needs: readonly Need[];
  readonly when: Condition | null;
  /** Beside those of every task (cluster, queue) and the run's own gate: pools and mutexes, by full key. */
  readonly asks: readonly (readonly [gate: string, slots: number])[];
  readonly gate: RunGateName;
  readonly retry: RetryPolicy;
  readonly timeoutMs: number | null;
  /** Its failure is no failure of the run. */
  readonly mayFail: boolean;
  /** How its pods are made; only for steps at the gate "pods". */
  readonly pod: PodSpec | null;
}

/** `finished`: in whatever way, skipped included. */
export interface Need {
  readonly step: string;
  readonly on: "succeeded" | "failed" | "finished";
}

/** One pod per attempt of a step. */
export interface PodSpec {
  readonly image: string;
  readonly namespace: string;
  readonly command: readonly string[] | null;
  readonly serviceAccount: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly resources: PodResources | null;
  /** What becomes of pods that have ended. */
  readonly keep: "never" | "failed" | "always";
}

export interface PodResources {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}
