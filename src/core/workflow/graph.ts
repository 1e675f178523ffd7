/**
 * The graph of a run, as plain data. It is stored with the run. So a redeploy never changes a run half-way,
 * and any process that has the store can move a run on, whatever code it was built with.
 */
import type { StoredAsk } from "../gate/asks.ts";
import type { Lock } from "../gate/lock.ts";
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
  /** How long the run may take once it has started. A child run has the timeout of its step instead. */
  readonly timeoutMs: number | null;
  /** The gates of this run only, by the last part of their key: "workers" is `run:<id>/workers`. */
  readonly gates: readonly RunGate[];
  /** True for the graph of a group. */
  readonly group?: true;
}

/** The graphs of a run and of everything below it. They are stored together, by content. */
export interface Graphs {
  readonly root: Graph;
  /** A step names its graph by number: number 1 is the first. */
  readonly nested: readonly Graph[];
}

export interface RunGate {
  readonly name: RunGateName | TreeGateName;
  /** -1 is unlimited. */
  readonly limit: number;
}

/**
 * Gates of a tree of runs. `leaves`: all tasks below a run, at any depth. `children`: the direct children of a run.
 * `nested`: tasks whose executor was chosen by a run below the root; it only serves to pause them with the root.
 */
type TreeGateName = "leaves" | "children" | "nested";

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
export type GraphStep = UnitStep | WaitStep;

/** A step whose work is a unit, or one unit per item. */
export type UnitStep = TaskStep | RunStep;

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
  /** What it holds besides its pools. The namespace of the run, and parts of names, are known only in the run. */
  readonly locks?: readonly Lock<Template>[];
}

/** A step that calls a task. Graphs of earlier versions have no other steps, and name no kind. */
export interface TaskStep extends AnyStep {
  readonly kind?: undefined;
  /** The task it calls. */
  readonly task: string;
  readonly queue: string;
  /** Null means the run's own priority. */
  readonly priority: number | null;
  /** Pools, by full key. The asks of every task (cluster, queue) and the run's own gate are not included. */
  readonly asks: readonly StoredAsk[];
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
/** A step that is a run of its own: a workflow, or a group of steps. Over a list, each item is one. */
export interface RunStep extends AnyStep {
  readonly kind: "run";
  /** The ID of the workflow. For a group, the name of its step. */
  readonly workflow: string;
  readonly group: boolean;
  /** The number of its graph. */
  readonly graph: number;
  /** Null means the priority of the run that it belongs to. */
  readonly priority: number | null;
  /** Pools, by full key. The child run holds them until it ends. */
  readonly asks: readonly StoredAsk[];
  readonly timeoutMs: number | null;
  /** The task that handles the failure of each child run. */
  readonly onFailure?: StoredHandler;
  /** Set if it starts a run of its own, in the line of runs. */
  readonly detached?: Detached;
}

interface Detached {
  /** Whether the step ends with that run. Otherwise it ends once that run is in line. */
  readonly wait: boolean;
  readonly tags: Readonly<Record<string, string>>;
}

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
