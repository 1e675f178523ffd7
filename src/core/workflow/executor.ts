/**
 * The executors of steps, and how many steps of a run each may run at once. An executor can be chosen for an
 * app, a workflow or a step; the nearest choice wins. Each choice is a gate of the run that its steps ask
 * for, such as `run:<id>/workers`.
 */
import { UNLIMITED } from "../gate/gate.ts";
import type { AnyTask } from "../task/definition.ts";
import type { PodResources, PodSpec, RunGate, RunGateName } from "./graph.ts";

export interface ParallelOptions {
  /**
   * How many CPU-bound steps run at once, in processes of their own. The default is the number of CPUs of the
   * process that submits the run.
   */
  readonly maxWorkers?: number | null;
  /** How many other steps run at once. Unlimited by default. */
  readonly maxAsyncConcurrent?: number | null;
}

export interface KubernetesOptions {
  readonly image: string;
  /** The default is "default". */
  readonly namespace?: string;
  /**
   * The command that runs a step. The default expects the image to hold the app, and SLUICE_APP to name its
   * file.
   */
  readonly command?: readonly string[];
  readonly serviceAccount?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly resources?: PodResources;
  /** Which ended pods to keep for inspection. The default is "never", because logs are collected anyway. */
  readonly keep?: PodSpec["keep"];
  /** How many pods run at once. Unlimited by default. */
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

/** Runs one step after the other. */
export function inProcess(): InProcess {
  return Object.freeze({ kind: "in-process" });
}

/** Runs CPU-bound steps in a pool of processes, and the others side by side. */
export function parallel(options: ParallelOptions = {}): Parallel {
  return Object.freeze({ kind: "parallel", maxWorkers: null, maxAsyncConcurrent: null, ...options });
}

/** Runs each attempt of a step in its own pod. */
export function kubernetes(options: KubernetesOptions): Kubernetes {
  return Object.freeze({ kind: "kubernetes", maxConcurrentSteps: null, ...options });
}

/** A gate of a run, before the number of CPUs is known. */
interface ChosenGate {
  readonly name: RunGateName;
  readonly limit: number | "cpus";
}

/** The gate that a step asks for with this executor. */
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
