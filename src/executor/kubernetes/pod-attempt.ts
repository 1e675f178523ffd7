/**
 * One attempt in its pod: made, followed, ended, and the ending told exactly once. Whatever comes first decides: the
 * pod's own end, its loss, the abort of the job, or that it has overstayed. When we end it ourselves, the attempt is
 * over only when the pod is gone, or when that cannot be had in time.
 */
import type { Ending, Job, StoredError } from "../executor.ts";
import { storedError } from "../stored-error.ts";
import { createOnce, isSame, notCreated } from "./creation.ts";
import { error, judge } from "./judge.ts";
import type { Manifest } from "./manifest.ts";
import type { Pacing, Patience } from "./pacing.ts";
import { persist } from "./pacing.ts";
import type { Pod } from "./pod.ts";
import type { PodApi } from "./pod-api.ts";
import type { PodEvent } from "./pod-event.ts";
import { lastWords, resultOf } from "./pod-log.ts";
import type { Follower, PodWatch } from "./pod-watch.ts";
import { Timers } from "./timers.ts";

export interface AttemptOptions {
  readonly api: PodApi;
  readonly watch: PodWatch;
  readonly pacing: Pacing;
  readonly graceSeconds: number;
  /** How long it may be unable to start, or be leaving without being gone. */
  readonly patienceMs: number;
  /** How long we wait for a pod to be gone that we have ended. */
  readonly killAfterMs: number;
  tell(event: PodEvent): void;
  /** Its pod is of no more use. */
  discard(namespace: string, name: string): void;
}

type Outcome =
  | { readonly is: "succeeded" }
  | { readonly is: "failed"; readonly error: StoredError }
  | { readonly is: "lost"; readonly why: string }
  | { readonly is: "refused"; readonly error: unknown }
  /** By us. */
  | { readonly is: "stopped"; readonly error: StoredError; readonly graceSeconds: number };

/** The step itself ends at its timeout; this much later we do it. */
const TIMEOUT_GRACE_MS = 5_000;

export class PodAttempt implements Follower {
  readonly job: Job;
  readonly name: string;
  readonly namespace: string;
  readonly #manifest: Manifest;
  readonly #options: AttemptOptions;
  readonly #timers = new Timers();
  /** Aborted once the outcome is known. */
  readonly #decided = new AbortController();
  /** Aborted once nobody waits for anything. */
  readonly #over = new AbortController();
  readonly #outcome: Promise<Outcome>;
  #decide: (outcome: Outcome) => void = () => {};
  readonly #gone: Promise<void>;
  #isGone: () => void = () => {};
  #posted = false;
  #made = false;
  #looking = false;
  readonly #notes = new Set<string>();

  constructor(job: Job, manifest: Manifest, namespace: string, options: AttemptOptions) {
    this.job = job;
    this.name = manifest.metadata.name;
    this.namespace = namespace;
    this.#manifest = manifest;
    this.#options = options;
    this.#outcome = new Promise((resolve) => {
      this.#decide = (outcome) => {
        this.#decided.abort();
        resolve(outcome);
      };
    });
    this.#gone = new Promise((resolve) => {
      this.#isGone = resolve;
    });
  }

  async run(): Promise<Ending> {
    const { signal } = this.job;
    const aborted = (): void => this.stop(storedError(signal.reason));
    signal.addEventListener("abort", aborted);
    if (signal.aborted) aborted();
    // Before it is made: what happens to it at once must not be missed.
    const unfollow = this.#options.watch.follow(this.name, this);
    try {
      const making = this.#make();
      return await this.#conclude(await this.#outcome, making);
    } finally {
      this.#over.abort();
      this.#timers.clear();
      unfollow();
      signal.removeEventListener("abort", aborted);
    }
  }

  /** The first outcome stays. */
  stop(reason: StoredError, graceSeconds = this.#options.graceSeconds): void {
    this.#decide({ is: "stopped", error: reason, graceSeconds });
  }

  seen(pod: Pod): void {
    if (!isSame(pod, this.#manifest)) return;
    this.#made = true;
    const judged = judge(pod);
    if (judged.is === "succeeded" || judged.is === "failed" || judged.is === "lost") this.#decide(judged);
    else if (judged.is === "pending") this.#note(judged.note);
    else if (judged.is === "running") this.#runs(judged.node);
    else if (judged.is === "stuck") this.#isStuck(judged.reason, judged.message);
    else this.#isLeaving();
  }

  deleted(): void {
    this.#isGone();
    this.#decide({ is: "lost", why: `Pod ${this.name} is lost: it was deleted by somebody else.` });
  }

  absent(): void {
    if (this.#made && !this.#looking) void this.#look();
  }

  async #make(): Promise<void> {
    if (this.#decided.signal.aborted) return;
    this.#posted = true;
    try {
      const patience = this.#patience(this.#decided.signal);
      const pod = await persist(() => createOnce(this.#options.api, this.#manifest), patience);
      this.#options.tell({ kind: "created", namespace: this.namespace, pod: this.name });
      if (pod) this.seen(pod);
      else this.deleted();
    } catch (reason) {
      this.#decide({ is: "refused", error: reason });
    }
  }

  /** Asks for it by name: a list may have been too early. */
  async #look(): Promise<void> {
    this.#looking = true;
    try {
      const { api } = this.#options;
      const pod = await persist(() => api.get(this.namespace, this.name), this.#patience(this.#over.signal));
      if (pod) this.seen(pod);
      else this.deleted();
    } catch (reason) {
      if (!this.#over.signal.aborted) this.#options.tell({ kind: "away", reason: String(reason), failures: 1 });
    } finally {
      this.#looking = false;
    }
  }

  #note(note: string | undefined): void {
    if (note === undefined || this.#notes.size > 20 || this.#notes.has(note)) return;
    this.#notes.add(note);
    this.job.log(`pod ${this.name}: ${note}`);
  }

  #runs(node: string | undefined): void {
    this.#timers.stop("stuck");
    if (this.#timers.has("timeout")) return;
    this.#options.tell({ kind: "running", namespace: this.namespace, pod: this.name, node });
    const { timeoutMs, name } = this.job;
    const message = `task "${name}" took longer than its timeout of ${timeoutMs}ms and did not stop, so its pod was deleted.`;
    this.#timers.start("timeout", timeoutMs === null ? Number.POSITIVE_INFINITY : timeoutMs + TIMEOUT_GRACE_MS, () =>
      this.stop(error("TIMEOUT", message)),
    );
  }

  #isStuck(reason: string, detail: string): void {
    const about = `${reason}${detail ? ` (${detail})` : ""}`;
    this.#note(`cannot start: ${about}`);
    const message = `Pod ${this.name} could not start: ${about}. Look at its image and its settings.`;
    this.#timers.start("stuck", this.#options.patienceMs, () => this.stop(error("POD_NOT_STARTED", message)));
  }

  /** Where its node does not answer, it may be leaving for ever. */
  #isLeaving(): void {
    const { graceSeconds, patienceMs } = this.#options;
    const why = `Pod ${this.name} is lost: it was deleted by somebody else, and its node does not say that it is gone.`;
    this.#timers.start("leaving", graceSeconds * 1_000 + patienceMs, () => this.#decide({ is: "lost", why }));
  }

  async #conclude(outcome: Outcome, making: Promise<void>): Promise<Ending> {
    if (outcome.is === "refused") return notCreated(outcome.error);
    if (outcome.is === "stopped") return this.#end(outcome.error, outcome.graceSeconds, making);
    const ending = await this.#endingOf(outcome);
    if (ending === undefined) return this.#end(storedError(this.job.signal.reason), 0, making);
    this.#discard(ending.ok);
    return ending;
  }

  /** Undefined when the job was aborted meanwhile. */
  async #endingOf(outcome: Exclude<Outcome, { is: "refused" | "stopped" }>): Promise<Ending | undefined> {
    const place = { api: this.#options.api, namespace: this.namespace, name: this.name };
    const patience = this.#patience(this.job.signal);
    if (outcome.is === "succeeded")
      return resultOf(place, this.job, patience).catch((reason) => {
        if (this.job.signal.aborted) return undefined;
        throw reason;
      });
    if (outcome.is === "lost")
      return { ok: false, crashed: true, error: error("POD_LOST", outcome.why), retryable: true };
    const said = await lastWords(place, this.job, patience);
    const isByItself = outcome.error.code === "POD_FAILED" && said && !said.ok;
    return isByItself ? said : { ok: false, error: outcome.error, retryable: true };
  }

  async #end(reason: StoredError, graceSeconds: number, making: Promise<void>): Promise<Ending> {
    const ending = { ok: false, error: reason, retryable: true } as const;
    if (!this.#posted) return { ...ending, begun: false };
    const late = new AbortController();
    const inTime = new Promise<void>((resolve) => late.signal.addEventListener("abort", () => resolve()));
    this.#timers.start("kill", this.#options.killAfterMs, () => late.abort());
    // A request under way may still make it.
    await Promise.race([making, inTime]);
    const { api } = this.#options;
    const patience = this.#patience(late.signal);
    const asked = persist(() => api.delete(this.namespace, this.name, graceSeconds), patience)
      .then(() => this.#look())
      .then(() => this.#gone);
    await Promise.race([asked.catch(() => {}), inTime]);
    if (late.signal.aborted) this.#options.discard(this.namespace, this.name);
    return ending;
  }

  #discard(ok: boolean): void {
    const keep = this.job.pod?.keep ?? "never";
    if (keep === "never" || (keep === "failed" && ok)) this.#options.discard(this.namespace, this.name);
  }

  #patience(signal: AbortSignal): Patience {
    const { pacing, tell } = this.#options;
    const away = (reason: Error, failures: number): void => tell({ kind: "away", reason: reason.message, failures });
    return { pacing, signal, away };
  }
}
