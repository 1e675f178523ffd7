/**
 * Runs each attempt in its own pod.
 *
 *   worker ── run(job) ──▶ a pod named after the attempt ──▶ the step command ──▶ its log ──▶ the ending
 *
 * Guarantees, whatever the cluster does:
 * - An attempt creates at most one pod, even if the answer to the creation was lost.
 * - Nothing is decided while the API is away. The pod runs on, and its outcome is read when the API is back.
 * - A pod that the cluster takes away (eviction, a lost node, a deletion by others) is lost, not failed.
 * - An abort deletes the pod, and the job ends when the pod is gone.
 * - Pods whose worker has died are found by their labels and deleted by the next sweep.
 *
 * The gate, not this executor, decides how many pods run at once.
 */
import { SluiceError } from "../../core/error.ts";
import type { Ending, Executor, Job } from "../executor.ts";
import { storedError } from "../stored-error.ts";
import { connectCluster } from "./connection.ts";
import { Discards } from "./discards.ts";
import type { Manifest } from "./manifest.ts";
import { manifestOf } from "./manifest.ts";
import type { KubernetesExecutorOptions, PodSettings } from "./options.ts";
import { DEFAULTS } from "./options.ts";
import type { IsCurrent, OwnedPod } from "./orphans.ts";
import { listOwned, ownedBy } from "./orphans.ts";
import { PodApi } from "./pod-api.ts";
import { PodAttempt } from "./pod-attempt.ts";
import type { PodEvent } from "./pod-event.ts";
import { PodWatch } from "./pod-watch.ts";

/** The grace period of a pod when the worker itself must stop. */
const HALT_GRACE_SECONDS = 1;

export class KubernetesExecutor implements Executor {
  readonly #options: PodSettings;
  readonly #attempts = new Map<PodAttempt, Promise<Ending>>();
  readonly #watches = new Map<string, PodWatch>();
  readonly #namespaces: Set<string>;
  readonly #discards: Discards;
  #api: Promise<PodApi> | undefined;
  #open = true;

  constructor(options: KubernetesExecutorOptions) {
    if (!options.owner)
      throw new SluiceError(
        "NO_OWNER",
        "The Kubernetes executor needs an owner: the name of this installation.",
      );
    this.#options = { ...DEFAULTS, ...options };
    this.#namespaces = new Set(this.#options.namespaces);
    this.#discards = new Discards({ ...this.#options, tell: this.#tell });
  }

  /** Loads the client library and its configuration, so that anything missing is reported at once. */
  async start(): Promise<void> {
    await this.#connected();
  }

  /** The number of attempts in progress. */
  get size(): number {
    return this.#attempts.size;
  }

  get running(): readonly Omit<OwnedPod, "isKept">[] {
    return [...this.#attempts.keys()].map(({ namespace, name, job }) => ({
      namespace,
      name,
      unit: job.id,
      fence: job.fence,
    }));
  }

  async run(job: Job): Promise<Ending> {
    // From here on the step may run, whatever happens to this worker.
    job.begins?.();
    let manifest: Manifest;
    let api: PodApi;
    try {
      manifest = this.#manifest(job);
    } catch (error) {
      return { ok: false, error: storedError(error), retryable: false };
    }
    try {
      api = await this.#connected();
    } catch (error) {
      return { ok: false, error: storedError(error), retryable: true };
    }
    if (!this.#open) return { ok: false, error: storedError(stopped()), retryable: true, begun: false };
    const attempt = this.#attempt(job, manifest, api);
    const ending = attempt.run();
    this.#attempts.set(attempt, ending);
    return ending.finally(() => this.#attempts.delete(attempt));
  }

  /** Deletes the pods of this executor and takes nothing more. Every job has ended when this resolves. */
  async halt(): Promise<void> {
    this.#open = false;
    const reason = storedError(stopped());
    for (const attempt of this.#attempts.keys()) attempt.stop(reason, HALT_GRACE_SECONDS);
    await Promise.allSettled(this.#attempts.values());
    await this.#discards.settled();
  }

  /** The pods of this owner that this executor is not running. */
  async orphans(): Promise<OwnedPod[]> {
    const api = await this.#connected();
    const { owner } = this.#options;
    const found = await Promise.all([...this.#namespaces].map((where) => listOwned(api, owner, where)));
    const mine = new Set(this.running.map(({ namespace, name }) => `${namespace}/${name}`));
    return found.flat().filter(({ namespace, name }) => !mine.has(`${namespace}/${name}`));
  }

  /**
   * Deletes the pods of attempts that are no longer current, except those kept for inspection. Returns the
   * deleted pods.
   */
  async sweep(isCurrent: IsCurrent): Promise<OwnedPod[]> {
    const api = await this.#connected();
    const swept: OwnedPod[] = [];
    for (const orphan of await this.orphans()) {
      const { namespace, name, unit, fence, isKept } = orphan;
      if (isKept || (await isCurrent(unit, fence))) continue;
      await api.delete(namespace, name, this.#options.graceSeconds);
      this.#tell({ kind: "deleted", namespace, pod: name });
      swept.push(orphan);
    }
    return swept;
  }

  #manifest(job: Job): Manifest {
    if (job.pod) return manifestOf(job, job.pod, this.#options);
    throw new SluiceError("NO_POD", `task "${job.name}" does not say which pod it runs in.`);
  }

  #attempt(job: Job, manifest: Manifest, api: PodApi): PodAttempt {
    const { namespace = "default" } = manifest.metadata;
    this.#namespaces.add(namespace);
    const { pacing, graceSeconds, patienceMs, goneWithinMs } = this.#options;
    return new PodAttempt(job, manifest, {
      api,
      watch: this.#watchOf(namespace, api),
      pacing,
      graceSeconds,
      patienceMs,
      killAfterMs: graceSeconds * 1_000 + goneWithinMs,
      tell: this.#tell,
      discard: (where, name) => this.#discards.add(api, where, name),
    });
  }

  #watchOf(namespace: string, api: PodApi): PodWatch {
    const known = this.#watches.get(namespace);
    if (known) return known;
    const { owner, pacing } = this.#options;
    const away = (reason: Error, failures: number): void =>
      this.#tell({ kind: "away", reason: reason.message, failures });
    const watch = new PodWatch({ api, namespace, selector: ownedBy(owner), pacing, away });
    this.#watches.set(namespace, watch);
    return watch;
  }

  /** A failure is not cached: the next attempt may succeed. */
  #connected(): Promise<PodApi> {
    const { connect = () => connectCluster(this.#options) } = this.#options;
    this.#api ??= connect().then(
      (connection) => new PodApi(connection),
      (error) => {
        this.#api = undefined;
        throw error;
      },
    );
    return this.#api;
  }

  readonly #tell = (event: PodEvent): void => this.#options.watch?.(event);
}

const stopped = (): SluiceError =>
  new SluiceError("WORKER_STOPPED", "The worker stopped before the task was done.");
