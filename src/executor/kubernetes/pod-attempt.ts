/**
 * One attempt in its pod: creates it, follows it, ends it, and reports the ending exactly once. If we end it
 * ourselves (abort, timeout, a pod that cannot start), the attempt is over when the pod is gone. If that
 * takes too long, the attempt ends while the pod is still followed, and `stopping` resolves when the pod is
 * gone.
 */
import { after } from "../../env/timers.ts";
import type { Ending, Job, StoredError } from "../executor.ts";
import { storedError } from "../stored-error.ts";
import { createOnce, notCreated } from "./creation.ts";
import { error } from "./judge.ts";
import type { Manifest } from "./manifest.ts";
import type { Pacing, PodPatience } from "./pacing.ts";
import { persist } from "./pacing.ts";
import type { PodApi } from "./pod-api.ts";
import type { PodEvent } from "./pod-event.ts";
import { lastWords, resultOf } from "./pod-log.ts";
import type { PodOutcome } from "./pod-sight.ts";
import { PodSight } from "./pod-sight.ts";
import type { PodWatch } from "./pod-watch.ts";

interface AttemptOptions {
  readonly api: PodApi;
  readonly watch: PodWatch;
  readonly pacing: Pacing;
  readonly graceSeconds: number;
  readonly patienceMs: number;
  /** How long we wait until a pod that we have ended is gone. */
  readonly killAfterMs: number;
  readonly tell: (event: PodEvent) => void;
  /** Called when the pod is no longer needed. */
  readonly discard: (namespace: string, name: string) => void;
}

export class PodAttempt {
  readonly job: Job;
  readonly name: string;
  readonly namespace: string;
  readonly #manifest: Manifest;
  readonly #options: AttemptOptions;
  readonly #sight: PodSight;
  /** Aborted when the attempt must end, whatever it is doing. */
  readonly #cut = new AbortController();
  /** Aborted once nothing of this attempt is awaited any more. */
  readonly #over = new AbortController();
  #posted = false;
  #looking = false;

  constructor(job: Job, manifest: Manifest, options: AttemptOptions) {
    this.job = job;
    this.name = manifest.metadata.name;
    this.namespace = manifest.metadata.namespace ?? "default";
    this.#manifest = manifest;
    this.#options = options;
    this.#sight = new PodSight(job, manifest, { ...options, look: () => void this.#look() });
  }

  async run(): Promise<Ending> {
    const { signal } = this.job;
    const aborted = (): void => this.stop(storedError(signal.reason));
    signal.addEventListener("abort", aborted);
    if (signal.aborted) aborted();
    // Follow the pod before it is created, so that no early change is missed.
    const unfollow = this.#options.watch.follow(this.name, this.#sight);
    const leave = (): void => {
      this.#over.abort();
      unfollow();
    };
    let ending: Ending | undefined;
    try {
      const making = this.#make();
      ending = await this.#conclude(await this.#sight.outcome, making);
      return ending;
    } finally {
      signal.removeEventListener("abort", aborted);
      if (ending && !ending.ok && ending.stopping) void ending.stopping.then(leave);
      else leave();
    }
  }

  /** The first reason wins. */
  stop(reason: StoredError, graceSeconds?: number): void {
    this.#cut.abort(reason);
    this.#sight.stop(reason, graceSeconds);
  }

  async #make(): Promise<void> {
    const { decided } = this.#sight;
    if (decided.aborted) return;
    this.#posted = true;
    try {
      const pod = await persist(() => createOnce(this.#options.api, this.#manifest), this.#patience(decided));
      this.#options.tell({ kind: "created", namespace: this.namespace, pod: this.name });
      if (pod) this.#sight.seen(pod);
      else this.#sight.deleted();
    } catch (reason) {
      this.#sight.decide({ is: "refused", error: reason });
    }
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const { api } = this.#options;
      const pod = await persist(() => api.get(this.namespace, this.name), this.#patience(this.#over.signal));
      if (pod) this.#sight.seen(pod);
      else this.#sight.deleted();
    } catch {
      // The request was refused, or the attempt is over. The next list asks again.
    } finally {
      this.#looking = false;
    }
  }

  async #conclude(outcome: PodOutcome, making: Promise<void>): Promise<Ending> {
    if (outcome.is === "refused") return notCreated(outcome.error);
    if (outcome.is === "stopped") return this.#end(outcome.error, outcome.graceSeconds, making);
    const ending = await this.#endingOf(outcome);
    const { aborted, reason } = this.#cut.signal;
    if (aborted && !ending.ok) return this.#end(reason as StoredError, this.#options.graceSeconds, making);
    const keep = this.job.pod?.keep ?? "never";
    if (keep === "never" || (keep === "failed" && ending.ok))
      this.#options.discard(this.namespace, this.name);
    return ending;
  }

  async #endingOf(outcome: Exclude<PodOutcome, { is: "refused" | "stopped" }>): Promise<Ending> {
    if (outcome.is === "lost")
      return { ok: false, crashed: true, error: error("POD_LOST", outcome.why), retryable: true };
    const place = { api: this.#options.api, namespace: this.namespace, name: this.name };
    const patience = this.#patience(this.#cut.signal);
    if (outcome.is === "succeeded") return resultOf(place, this.job, patience);
    const said = await lastWords(place, this.job, patience);
    // Kubernetes' reason for ending the pod counts more than what the pod said when it was told to stop.
    const isOwnWord = outcome.error.code === "POD_FAILED" && said && !said.ok;
    return isOwnWord ? said : { ok: false, error: outcome.error, retryable: true };
  }

  async #end(reason: StoredError, graceSeconds: number, making: Promise<void>): Promise<Ending> {
    const ending = { ok: false, error: reason, retryable: true } as const;
    if (!this.#posted) return { ...ending, begun: false };
    const late = new AbortController();
    const cancel = after(this.#options.killAfterMs, () => late.abort(), { keepsAlive: true });
    const tooLate = new Promise<void>((resolve) => {
      late.signal.addEventListener("abort", () => resolve());
    });
    await Promise.race([this.#delete(graceSeconds, making, late.signal), tooLate]);
    cancel();
    if (!late.signal.aborted) return ending;
    this.#options.discard(this.namespace, this.name);
    // Its node may be away while the pod runs on there, so the slots are held until it is gone.
    return { ...ending, stopping: this.#sight.gone };
  }

  async #delete(graceSeconds: number, making: Promise<void>, signal: AbortSignal): Promise<void> {
    // A request in flight may still create the pod.
    await making;
    const { api } = this.#options;
    try {
      await persist(() => api.delete(this.namespace, this.name, graceSeconds), this.#patience(signal));
    } catch {
      return;
    }
    this.#options.tell({ kind: "deleted", namespace: this.namespace, pod: this.name });
    await this.#look();
    await this.#sight.gone;
  }

  #patience(signal: AbortSignal): PodPatience {
    const { pacing, tell } = this.#options;
    const away = (reason: Error, failures: number): void =>
      tell({ kind: "away", reason: reason.message, failures });
    return { pacing, signal, away };
  }
}
