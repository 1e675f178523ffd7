/**
 * Runs each attempt in a pod of its own.
 *
 *   worker ── run(job) ──▶ a pod named after the attempt ──▶ `sluice step` ──▶ its log ──▶ the ending
 *
 * What holds, whatever the cluster does:
 * - One attempt makes at most one pod, also when the answer to its creation was lost.
 * - While the API is away nothing is decided. The pod runs on, and what became of it is read when the API is back.
 * - What the cluster takes away (eviction, a lost node, a deletion by others) is lost and not failed.
 * - An abort deletes the pod, and the job ends when the pod is gone.
 * - Pods whose worker has died are found by their labels and deleted by whoever sweeps.
 *
 * How many pods there are at once is decided at the gate, not here.
 */
import { SluiceError } from "../../core/error.ts";
import type { PodSpec } from "../../core/workflow/graph.ts";
import type { Ending, Executor, Job } from "../executor.ts";
import { storedError } from "../stored-error.ts";
import type { Connection, ConnectionOptions } from "./connection.ts";
import { connectCluster } from "./connection.ts";
import type { Manifest } from "./manifest.ts";
import { manifestOf } from "./manifest.ts";
import type { IsCurrent, OwnedPod } from "./orphans.ts";
import { listOwned, ownedBy } from "./orphans.ts";
import type { Pacing } from "./pacing.ts";
import { PACING, pause, pauseAfter } from "./pacing.ts";
import { PodApi } from "./pod-api.ts";
import { PodAttempt } from "./pod-attempt.ts";
import type { PodEvent } from "./pod-event.ts";
import { PodWatch } from "./pod-watch.ts";

export interface KubernetesOptions extends ConnectionOptions {
  /** The name of this installation, the same after every restart and in no other installation. */
  readonly owner: string;
  /** Where to look for pods of workers that died, besides those used since the start. */
  readonly namespaces?: readonly string[] | undefined;
  /** For pods that name none; `sluice step` unless given. */
  readonly command?: readonly string[] | undefined;
  /** How long a pod may take to end once it is told to; 10 s unless given. */
  readonly graceSeconds?: number | undefined;
  /** What pulling the image may take beside a step's timeout; 300 s unless given. */
  readonly startSeconds?: number | undefined;
  /** How long a pod may be unable to start, or stay after its deletion; 2 min unless given. */
  readonly patienceMs?: number | undefined;
  readonly pacing?: Pacing | undefined;
  readonly watch?: ((event: PodEvent) => void) | undefined;
  /** Instead of the client library's. */
  readonly connect?: (() => Promise<Connection>) | undefined;
}

/** What is left behind after so many tries is for the sweep. */
const DISCARD_TRIES = 8;
/** When the worker must stop. */
const HALT_GRACE_SECONDS = 1;

export class KubernetesExecutor implements Executor {
  readonly #options: KubernetesOptions;
  readonly #attempts = new Set<PodAttempt>();
  readonly #watches = new Map<string, PodWatch>();
  readonly #namespaces: Set<string>;
  readonly #discarding = new Set<Promise<void>>();
  #api: Promise<PodApi> | undefined;
  #open = true;

  constructor(options: KubernetesOptions) {
    if (options.owner === "")
      throw new SluiceError("NO_OWNER", "The Kubernetes executor needs an owner: a name of this installation.");
    this.#options = options;
    this.#namespaces = new Set(options.namespaces ?? []);
  }

  /** Loads the client library and reads its configuration, so that what is missing is said at once. */
  async start(): Promise<void> {
    await this.#connected();
  }

  /** How many attempts are under way. */
  get size(): number {
    return this.#attempts.size;
  }

  get running(): readonly { readonly namespace: string; readonly name: string; readonly unit: string; readonly fence: number }[] {
    return [...this.#attempts].map(({ namespace, name, job }) => ({ namespace, name, unit: job.id, fence: job.fence }));
  }

  async run(job: Job): Promise<Ending> {
    if (!this.#open) throw new SluiceError("NOT_RUNNING", "The Kubernetes executor was halted.");
    const { pod, signal } = job;
    if (!pod) return wrong(new SluiceError("NO_POD", `task "${job.name}" says nothing of the pod it should run in.`));
    if (signal.aborted)
      return { ok: false, error: storedError(signal.reason), retryable: true, begun: false };
    let manifest: Manifest;
    try {
      manifest = manifestOf(job, pod, this.#manifestOptions());
    } catch (error) {
      return wrong(error);
    }
    try {
      return await this.#attempt(job, pod, manifest, await this.#connected());
    } catch (error) {
      return { ok: false, error: storedError(error), retryable: true };
    }
  }

  async #attempt(job: Job, { namespace }: PodSpec, manifest: Manifest, api: PodApi): Promise<Ending> {
    this.#namespaces.add(namespace);
    const { graceSeconds = 10, patienceMs = 120_000, pacing = PACING } = this.#options;
    const attempt = new PodAttempt(job, manifest, namespace, {
      api,
      pacing,
      graceSeconds,
      patienceMs,
      watch: this.#watchOf(namespace, api),
      killAfterMs: (graceSeconds + 10) * 1_000,
      tell: (event) => this.#tell(event),
      discard: (where, name) => this.#discard(where, name),
    });
    this.#attempts.add(attempt);
    try {
      return await attempt.run();
    } finally {
      this.#attempts.delete(attempt);
    }
  }

  /** Deletes what this executor has started, and takes nothing more: each job has ended when this resolves. */
  async halt(): Promise<void> {
    this.#open = false;
    const reason = storedError(
      new SluiceError("WORKER_STOPPED", "The worker stopped before the task was done."),
    );
    for (const attempt of this.#attempts) attempt.stop(reason, HALT_GRACE_SECONDS);
    await this.idle();
  }

  /** Nothing is under way, and what was to be deleted is deleted or left to the sweep. */
  async idle(): Promise<void> {
    while (this.#attempts.size > 0 || this.#discarding.size > 0) {
      await Promise.all([...[...this.#attempts].map(({ ended }) => ended), ...this.#discarding]);
    }
  }

  /** The pods of this owner that this executor does not run. */
  async orphans(): Promise<OwnedPod[]> {
    const api = await this.#connected();
    const { owner } = this.#options;
    const found = await Promise.all([...this.#namespaces].map((where) => listOwned(api, owner, where)));
    const mine = new Set(this.running.map(({ namespace, name }) => `${namespace}/${name}`));
    return found.flat().filter(({ namespace, name }) => !mine.has(`${namespace}/${name}`));
  }

  /** Deletes the pods of attempts that are no longer current, but those kept to be looked at. Returns them. */
  async sweep(isCurrent: IsCurrent): Promise<OwnedPod[]> {
    const api = await this.#connected();
    const swept: OwnedPod[] = [];
    for (const orphan of await this.orphans()) {
      const { namespace, name, unit, fence, isKept } = orphan;
      if (isKept || (await isCurrent(unit, fence))) continue;
      await api.delete(namespace, name, this.#options.graceSeconds ?? 10);
      swept.push(orphan);
      this.#tell({ kind: "deleted", namespace, pod: name });
    }
    return swept;
  }

  /** A failure is not kept: the next attempt may find the library installed. */
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

  #watchOf(namespace: string, api: PodApi): PodWatch {
    const { owner, pacing = PACING } = this.#options;
    const watch =
      this.#watches.get(namespace) ??
      new PodWatch({
        api,
        namespace,
        selector: ownedBy(owner),
        pacing,
        away: (reason, failures) => this.#tell({ kind: "away", reason: reason.message, failures }),
      });
    this.#watches.set(namespace, watch);
    return watch;
  }

  #discard(namespace: string, name: string): void {
    const discarding = this.#delete(namespace, name).finally(() => this.#discarding.delete(discarding));
    this.#discarding.add(discarding);
  }

  async #delete(namespace: string, name: string): Promise<void> {
    const { graceSeconds = 10, pacing = PACING } = this.#options;
    const never = new AbortController().signal;
    for (let tries = 1; tries <= DISCARD_TRIES; tries += 1) {
      try {
        await (await this.#connected()).delete(namespace, name, graceSeconds);
        this.#tell({ kind: "deleted", namespace, pod: name });
        return;
      } catch (error) {
        this.#tell({ kind: "away", reason: String((error as Error).message), failures: tries });
        await pause(pauseAfter(tries, pacing, Math.random()), never);
      }
    }
  }

  #manifestOptions(): { owner: string; command: readonly string[]; graceSeconds: number; startSeconds: number } {
    const { owner, command = ["sluice", "step"], graceSeconds = 10, startSeconds = 300 } = this.#options;
    return { owner, command, graceSeconds, startSeconds };
  }

  #tell(event: PodEvent): void {
    this.#options.watch?.(event);
  }
}

const wrong = (error: unknown): Ending => ({ ok: false, error: storedError(error), retryable: false });
