/**
 * The pods of a worker. They are created when a step first needs one, and swept now and then. A pod is swept
 * if its attempt is no longer current, for example because its worker died. No worker would read its report.
 * A pod of a unit that this store does not know stays: it may belong to another store.
 */
import type { App } from "../core/app/app.ts";
import type { ExecutorChoice } from "../core/workflow/executor.ts";
import { Loop } from "../engine/loop.ts";
import type { Env } from "../env/env.ts";
import type { KubernetesExecutor, KubernetesExecutorOptions } from "../executor/kubernetes/index.ts";
import type { Store } from "../store/store.ts";

/** How to reach and use the cluster. Options that are absent have the executor's defaults. */
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

  /** Loads the Kubernetes client on first use, so that apps without a cluster never load it. */
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

  /**
   * Sweeps only if the app itself sends steps to pods, because an earlier worker may have left some. Does not
   * wait for the cluster, which may be slow.
   */
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
    choices.push(
      executor,
      ...plan.steps.flatMap((step) => (step.kind === "wait" ? [] : step.options.executor)),
    );
  const named = choices.flatMap((choice) =>
    choice?.kind === "kubernetes" ? [choice.namespace ?? "default"] : [],
  );
  return [...new Set(named)];
}
