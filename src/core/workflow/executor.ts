/**
 * Where the steps of a run do their work, and how many of them at once. Chosen for an app, a workflow or a step; the
 * nearest choice wins. Each choice is a gate of the run that its steps ask: `run:<id>/workers` and its like.
 */
import { UNLIMITED } from "../gate/gate.ts";
import type { AnyTask } from "../task/definition.ts";
import type { PodResources, PodSpec, RunGate, RunGateName } from "./graph.ts";

export interface ParallelOptions {
  /** CPU-bound steps at once, in processes of their own; by default the CPUs of whoever submits the run. */
  readonly maxWorkers?: number | null;
  /** All other steps at once; unlimited by default. */
  readonly maxAsyncConcurrent?: number | null;
}

export interface KubernetesOptions {
  readonly image: string;
  /** "default" unless said otherwise. */
  readonly namespace?: string;
  /** The command that runs a step, unless said otherwise: the image holds the app, and SLUICE_APP names its file. */
  readonly command?: readonly string[];
  readonly serviceAccount?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly resources?: PodResources;
  /** Pods that have ended and are left to be looked at; "never" unless said otherwise: logs are collected before. */
  readonly keep?: PodSpec["keep"];
  /** Pods at once; unlimited by default. */
  readonly maxConcurrentSteps?: number | null;
}

export interface InProcess {
  readonly kind: "in-process";
}

export interface Parallel extends ParallelOptions {
  readonly kind: "parallel";
}

export interface Kubernetes extends KubernetesOptions {
  readonly kind: "kubernetes";
}

export type ExecutorChoice = InProcess | Parallel | Kubernetes;

/** One step after the other. */
export function inProcess(): InProcess {
  return Object.freeze({ kind: "in-process" });
}

/** CPU-bound steps in a pool of processes, the others side by side. */
export function parallel(options: ParallelOptions = {}): Parallel {
  return Object.freeze({ kind: "parallel", maxWorkers: null, maxAsyncConcurrent: null, ...options });
}

/** One pod for each attempt of a step. */
export function kubernetes(options: KubernetesOptions): Kubernetes {
  return Object.freeze({ kind: "kubernetes", maxConcurrentSteps: null, ...options });
}

/** A gate of a run before it is known how many CPUs there are. */
interface ChosenGate {
  readonly name: RunGateName;
  readonly limit: number | "cpus";
}

/** The gate a step asks when this executor was chosen for it. */
export function gateOf(choice: ExecutorChoice, task: Pick<AnyTask, "cpu">): ChosenGate {
  switch (choice.kind) {
    case "in-process":
      return { name: "in-process", limit: 1 };
    case "parallel":
      if (task.cpu) return { name: "workers", limit: choice.maxWorkers ?? "cpus" };
      return { name: "async", limit: choice.maxAsyncConcurrent ?? UNLIMITED };
    case "kubernetes":
      return { name: "pods", limit: choice.maxConcurrentSteps ?? UNLIMITED };
  }
}

export function withCpus({ name, limit }: ChosenGate, cpus: number): RunGate {
  return { name, limit: limit === "cpus" ? cpus : limit };
}

export function podOf(choice: ExecutorChoice): PodSpec | null {
  if (choice.kind !== "kubernetes") return null;
  return {
    image: choice.image,
    namespace: choice.namespace ?? "default",
    command: choice.command ?? null,
    serviceAccount: choice.serviceAccount ?? null,
    env: choice.env ?? {},
    labels: choice.labels ?? {},
    resources: choice.resources ?? null,
    keep: choice.keep ?? "never",
  };
}
