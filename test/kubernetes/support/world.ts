// An executor and a test API server. The real client library reads a real kubeconfig to reach the server.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { PodSpec } from "../../../src/core/workflow/graph.ts";
import type { Ending, Job } from "../../../src/executor/executor.ts";
import type { KubernetesExecutorOptions, PodEvent } from "../../../src/executor/kubernetes/index.ts";
import { KubernetesExecutor } from "../../../src/executor/kubernetes/index.ts";
import { sayEnded } from "../../../src/executor/kubernetes/report.ts";
import { KubeApi } from "../../support/kube-api.ts";

export interface World {
  readonly kubeconfig: string;
  readonly api: KubeApi;
  readonly executor: KubernetesExecutor;
  readonly events: PodEvent[];
  /** Another worker of the same installation. */
  another(options?: Partial<KubernetesExecutorOptions>): KubernetesExecutor;
  /** Resolves when an event of this kind has occurred this many times. */
  happened(kind: PodEvent["kind"], times?: number): Promise<void>;
}

export async function openWorld(options: Partial<KubernetesExecutorOptions> = {}): Promise<World> {
  const api = await KubeApi.open();
  onTestFinished(() => api.down());
  const events: PodEvent[] = [];
  const heard = new Set<() => void>();
  const watch = (event: PodEvent): void => {
    events.push(event);
    for (const look of [...heard]) look();
  };
  const kubeconfig = writeKubeconfig(api.url);
  const another = (more: Partial<KubernetesExecutorOptions> = {}): KubernetesExecutor => {
    const pacing = { firstMs: 1, mostMs: 5 };
    const made = new KubernetesExecutor({ owner: "tests", kubeconfig, pacing, watch, ...options, ...more });
    onTestFinished(() => {
      api.cluster.nodesAnswer = true;
      return made.halt();
    });
    return made;
  };
  const happened = (kind: PodEvent["kind"], times = 1): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (events.filter((event) => event.kind === kind).length < times) return;
        heard.delete(look);
        resolve();
      };
      heard.add(look);
      look();
    });
  return { api, kubeconfig, executor: another(), events, another, happened };
}

/** A world with an attempt in progress: its pod was requested and exists. */
export async function worldWithPod() {
  const world = await openWorld();
  const ending = world.executor.run(job());
  return { ...world, ending, made: await world.api.pod() };
}

/** The same, with the pod running. */
export async function worldWithRunningPod() {
  const world = await worldWithPod();
  world.api.cluster.run(world.made);
  await world.happened("running");
  return world;
}

function writeKubeconfig(server: string): string {
  const folder = mkdtempSync(join(tmpdir(), "sluice-kube-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "config");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    // The library uses plain HTTP only if it is told so explicitly.
    clusters: [{ name: "test", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "test", user: { token: "a-token" } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

export const pod = (more: Partial<PodSpec> = {}): PodSpec => ({
  image: "shop:1",
  namespace: "steps",
  command: null,
  serviceAccount: null,
  env: {},
  labels: {},
  resources: null,
  keep: "never",
  ...more,
});

export interface TestJob extends Job {
  readonly controller: AbortController;
  readonly said: string[];
}

export function job(more: Partial<Job> = {}): TestJob {
  const controller = new AbortController();
  const said: string[] = [];
  return {
    id: "0190-unit",
    name: "resize",
    input: '{"n":4}',
    attempt: 1,
    fence: 7,
    timeoutMs: null,
    signal: controller.signal,
    step: { run: "run-1", name: "Resize image" },
    pod: pod(),
    progress: () => {},
    log: (message) => said.push(message),
    controller,
    said,
    ...more,
  };
}

/** The log of a pod that succeeded. */
export const logOf = (result: unknown, fence = 7): string =>
  `hello\n${sayEnded(fence, { ok: true, result: JSON.stringify(result) })}\n`;

export const done = (result: unknown): Ending => ({ ok: true, result: JSON.stringify(result) });
