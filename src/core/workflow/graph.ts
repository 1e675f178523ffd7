/**
 * The graph of a run, as plain data. It is stored with the run. So a redeploy never changes a run half-way,
 * and any process that has the store can move a run on, whatever code it was built with.
 */
import type { RetryPolicy } from "../task/retry.ts";
import type { StoredHandler } from "../task/stored-handler.ts";
import type { Condition } from "./condition.ts";
import type { Template } from "./template.ts";

export interface Graph {
  readonly workflow: string;
  /** In the order in which they were written. */
  readonly steps: readonly GraphStep[];
  /** The template of the run's result. */
  readonly output: Template;
  /**
   * If true, nothing new starts after the first failure. Otherwise, branches that do not need the failed step
   * continue.
   */
  readonly failFast: boolean;
  /** How long the run may take once it has started. */
  readonly timeoutMs: number | null;
  /** The gates of this run only, by the last part of their key: "workers" is `run:<id>/workers`. */
  readonly gates: readonly RunGate[];
}

export interface RunGate {
  readonly name: RunGateName;
  /** -1 is unlimited. */
  readonly limit: number;
}

/** One gate per kind of executor. The gate that a step asks for says where the step runs. */
export type RunGateName = "in-process" | "workers" | "async" | "pods";

/**
 * A step over a list: one unit per item, each with its own attempts, and a window that limits how many are in
 * flight.
 */
export interface GraphEach {
  readonly items: Items;
  /** How many items at once: a number, or a reference to one. Null means as many as the other gates admit. */
  readonly concurrency: Template | null;
  readonly onFailure: OnItemFailure;
}

/** A list; several lists of the same length, taken together; or an object by its keys. */
export type Items =
  | { readonly list: Template }
  | { readonly zip: readonly Template[] }
  | { readonly entries: Template };

/**
 * `run-all`: all items run, then the step fails if any failed. `stop`: no new items start, those in flight
 * finish. `cancel`: items in flight are aborted too.
 */
export type OnItemFailure = "run-all" | "stop" | "cancel";

/** A step, by what it does. */
export type GraphStep = TaskStep | WaitStep;

/** The fields that every step has. */
interface AnyStep {
  readonly name: string;
  /** For a step over a list: the input of each item. */
  readonly input: Template;
  readonly each: GraphEach | null;
  /** Every step that it refers to or comes after, and how that step must have ended. */
  readonly needs: readonly Need[];
  readonly when: Condition | null;
  /** Its failure does not fail the run. */
  readonly mayFail: boolean;
}

/** A step that calls a task. Graphs of earlier versions have no other steps, and name no kind. */
export interface TaskStep extends AnyStep {
  readonly kind?: undefined;
  /** The task it calls. */
  readonly task: string;
  readonly queue: string;
  /** Null means the run's own priority. */
  readonly priority: number | null;
  /**
   * Pools and mutexes, by full key. The asks of every task (cluster, queue) and the run's own gate are not
   * included.
   */
  readonly asks: readonly (readonly [gate: string, slots: number])[];
  readonly gate: RunGateName;
  readonly retry: RetryPolicy;
  readonly timeoutMs: number | null;
  /** The task that handles the failure of each of its units. */
  readonly onFailure?: StoredHandler;
  /** How its pods are made. Only for steps at the gate "pods". */
  readonly pod: PodSpec | null;
}

/**
 * A step that waits for a time, an event or an answer. It has no unit, so it holds no worker and no slot. Its
 * input is filled in when the step begins to wait: the time, the fields of the payload, or the question.
 */
export interface WaitStep extends AnyStep {
  readonly kind: "wait";
  readonly each: null;
  readonly wait: WaitedFor;
  /** Its output if its timeout passes. Without it, the timeout fails the step. */
  readonly otherwise?: Template;
}

/** What a waiting step waits for. `by`: who may answer; null means everybody. */
export type WaitedFor =
  | { readonly for: "sleep"; readonly ms: number }
  | { readonly for: "until" }
  | { readonly for: "event"; readonly event: string; readonly timeoutMs: number | null }
  | { readonly for: "approval"; readonly by: readonly string[] | null; readonly timeoutMs: number | null };

/** `finished` means any ending, including skipped. */
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
  /** Which pods are kept after they have ended. */
  readonly keep: "never" | "failed" | "always";
}

export interface PodResources {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}
