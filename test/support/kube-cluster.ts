// The state behind the test API server: pods, their versions, and the history that watches are served from.
// Pods follow the test: it says when one runs, ends, is evicted or is stuck, as a cluster would.

import type { ContainerStatus, Pod, PodStatus } from "../../src/executor/kubernetes/pod.ts";

export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly version: number;
  readonly pod: ClusterPod;
}

export interface ClusterPod extends Pod {
  readonly metadata: Pod["metadata"] & { readonly namespace: string; readonly resourceVersion: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

export class KubeCluster {
  readonly #pods = new Map<string, ClusterPod>();
  readonly #logs = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  readonly history: Change[] = [];
  /** Every pod that was ever created, in order of creation. */
  readonly created: ClusterPod[] = [];
  /** Watches may not start before this version. */
  oldest = 0;
  version = 1;
  /** True if nodes let deleted pods go by themselves. */
  nodesAnswer = true;

  get pods(): ClusterPod[] {
    return [...this.#pods.values()];
  }

  get(namespace: string, name: string): ClusterPod | undefined {
    return this.#pods.get(`${namespace}/${name}`);
  }

  logOf(namespace: string, name: string): string | undefined {
    return this.#logs.get(`${namespace}/${name}`);
  }

  /** Calls the listener after every change. Returns a function that stops it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  create(namespace: string, sent: Pod): ClusterPod | undefined {
    if (this.get(namespace, sent.metadata.name)) return undefined;
    const metadata = { ...sent.metadata, namespace, uid: `uid-${this.version}` };
    const pod = this.#put("ADDED", { ...sent, metadata, status: { phase: "Pending" } } as never);
    this.created.push(pod);
    return pod;
  }

  delete(namespace: string, name: string, graceSeconds: number): ClusterPod | undefined {
    const pod = this.get(namespace, name);
    if (!pod) return undefined;
    const hasEnded = ["Succeeded", "Failed"].includes(pod.status?.phase ?? "");
    if (hasEnded || graceSeconds === 0) return this.remove(pod);
    const metadata = { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
    const leaving = this.#put("MODIFIED", { ...pod, metadata });
    return this.nodesAnswer ? this.remove(leaving) : leaving;
  }

  /** Removes the pod. Watches hear of it for the last time. */
  remove(pod: ClusterPod): ClusterPod {
    const gone = this.#put("DELETED", pod);
    this.#pods.delete(keyOf(pod));
    this.#logs.delete(keyOf(pod));
    this.#changed();
    return gone;
  }

  // The stages of a pod's life.

  run(pod: ClusterPod): void {
    this.#status(pod, { phase: "Running", containerStatuses: [container({ running: {} })] });
  }

  succeed(pod: ClusterPod, log: string): void {
    this.#logs.set(keyOf(pod), log);
    const terminated = { exitCode: 0, reason: "Completed" };
    this.#status(pod, { phase: "Succeeded", containerStatuses: [container({ terminated })] });
  }

  fail(pod: ClusterPod, exitCode: number, { reason = "Error", log = "" } = {}): void {
    this.#logs.set(keyOf(pod), log);
    const terminated = { exitCode, reason };
    this.#status(pod, { phase: "Failed", containerStatuses: [container({ terminated })] });
  }

  /** Kubernetes itself ends the pod. */
  end(pod: ClusterPod, reason: string, message = ""): void {
    this.#status(pod, { phase: "Failed", reason, message });
  }

  wait(pod: ClusterPod, reason: string, message: string): void {
    this.#status(pod, { phase: "Pending", containerStatuses: [container({ waiting: { reason, message } })] });
  }

  unschedulable(pod: ClusterPod, message: string): void {
    const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
    this.#status(pod, { phase: "Pending", conditions: [condition] });
  }

  #status({ metadata }: ClusterPod, status: PodStatus): void {
    const pod = this.get(metadata.namespace, metadata.name);
    if (!pod) throw new Error(`there is no pod ${metadata.name}`);
    this.#put("MODIFIED", { ...pod, status });
  }

  #put(type: Change["type"], pod: ClusterPod): ClusterPod {
    this.version += 1;
    const metadata = { ...pod.metadata, resourceVersion: String(this.version) };
    const now = { ...pod, metadata };
    this.#pods.set(keyOf(now), now);
    this.history.push({ type, version: this.version, pod: now });
    if (type !== "DELETED") this.#changed();
    return now;
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

const keyOf = ({ metadata }: ClusterPod): string => `${metadata.namespace}/${metadata.name}`;

const container = (state: ContainerStatus["state"]): ContainerStatus => ({
  name: "step",
  ...(state ? { state } : {}),
});
