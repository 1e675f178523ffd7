/**
 * The pods of a worker: made when a step first wants one, and swept now and then. A pod whose attempt is no longer
 * current, because its worker died, has nobody to report to; one that this store knows nothing of is somebody else's.
 */
import type { App } from "../core/app/app.ts";
import type { ExecutorChoice } from "../core/workflow/executor.ts";
import { Loop } from "../engine/loop.ts";
import type { Env } from "../env/env.ts";
import type { KubernetesExecutor, KubernetesExecutorOptions } from "../executor/kubernetes/index.ts";
import type { Store } from "../store/store.ts";

/** How to reach the cluster, where its own configuration does not say it. */
export type ClusterOptions = Partial<Omit<KubernetesExecutorOptions, "namespaces">>;

const SWEEP_EVERY_MS = 60_000;
const SWEEP_JITTER_MS = 10_000;

export class Pods {
  readonly #namespaces: readonly string[];
  readonly #options: ClusterOptions;
  readonly #sweeping: Loop;
  #executor: Promise<KubernetesExecutor> | undefined;

  constructor(store: Store, app: App, env: Env, options: ClusterOptions, failed: (error: unknown) => void) {
    this.#namespaces = namespacesOf(app);
    this.#options = options;
    const polling = { pollMs: SWEEP_EVERY_MS, jitterMs: SWEEP_JITTER_MS, failed };
    this.#sweeping = new Loop(env, polling, async () => {
      await (await this.executor()).sweep((unit, fence) => isCurrent(store, unit, fence));
      return undefined;
    });
  }

  /** Loads all that a cluster needs; those without one never do. */
  executor(): Promise<KubernetesExecutor> {
    const namespaces = this.#namespaces.length > 0 ? { namespaces: this.#namespaces } : {};
    this.#executor ??= import("../executor/kubernetes/index.ts")
      .then(
        ({ KubernetesExecutor }) =>
          new KubernetesExecutor({ owner: "sluice", ...this.#options, ...namespaces }),
      )
      .catch((error: unknown) => {
        this.#executor = undefined;
        throw error;
      });
    return this.#executor;
  }

  /** Only where the app itself sends steps to pods: those of an earlier worker may be left. A cluster may be slow to answer. */
  async start(): Promise<void> {
    if (this.#namespaces.length > 0) void this.#sweeping.start();
  }

  async stop(): Promise<void> {
    await this.#sweeping.stop();
  }
}

async function isCurrent(store: Store, unit: string, fence: number): Promise<boolean> {
  const task = await store.task(unit);
  return !task || (task.epoch === fence && (task.state === "running" || task.state === "claimed"));
}

function namespacesOf(app: App): string[] {
  const choices: (ExecutorChoice | undefined)[] = [app.executor];
  for (const { executor, plan } of app.workflows.values())
    choices.push(executor, ...plan.steps.map(({ options }) => options.executor));
  const named = choices.flatMap((choice) =>
    choice?.kind === "kubernetes" ? [choice.namespace ?? "default"] : [],
  );
  return [...new Set(named)];
}
