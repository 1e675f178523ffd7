/**
 * Observes one pod until its attempt is decided: by the pod's own end, its loss, or a timeout. The first
 * outcome wins. `gone` may resolve later.
 */
import type { Job, StoredError } from "../executor.ts";
import { isSame } from "./creation.ts";
import { error, judge } from "./judge.ts";
import type { Manifest } from "./manifest.ts";
import type { Pod } from "./pod.ts";
import type { PodEvent } from "./pod-event.ts";
import type { Follower } from "./pod-watch.ts";
import { Timers } from "./timers.ts";

export type PodOutcome =
  | { readonly is: "succeeded" }
  | { readonly is: "failed"; readonly error: StoredError }
  | { readonly is: "lost"; readonly why: string }
  | { readonly is: "refused"; readonly error: unknown }
  /** We ended it. */
  | { readonly is: "stopped"; readonly error: StoredError; readonly graceSeconds: number };

interface SightOptions {
  readonly graceSeconds: number;
  /** How long the pod may be unable to start, or may be leaving without being gone. */
  readonly patienceMs: number;
  readonly tell: (event: PodEvent) => void;
  /** Asks for the pod by name: a list may have been too early. */
  readonly look: () => void;
}

const MOST_NOTES = 20;

export class PodSight implements Follower {
  readonly outcome: Promise<PodOutcome>;
  readonly gone: Promise<void>;
  readonly #job: Job;
  readonly #manifest: Manifest;
  readonly #options: SightOptions;
  readonly #timers = new Timers();
  readonly #decided = new AbortController();
  readonly #notes = new Set<string>();
  #settle: (outcome: PodOutcome) => void = () => {};
  #isGone: () => void = () => {};
  #made = false;

  constructor(job: Job, manifest: Manifest, options: SightOptions) {
    this.#job = job;
    this.#manifest = manifest;
    this.#options = options;
    this.outcome = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.gone = new Promise((resolve) => {
      this.#isGone = resolve;
    });
  }

  /** Aborted once there is an outcome. */
  get decided(): AbortSignal {
    return this.#decided.signal;
  }

  decide(outcome: PodOutcome): void {
    this.#timers.close();
    this.#settle(outcome);
    this.#decided.abort();
  }

  stop(reason: StoredError, graceSeconds = this.#options.graceSeconds): void {
    this.decide({ is: "stopped", error: reason, graceSeconds });
  }

  seen(pod: Pod): void {
    if (!isSame(pod, this.#manifest)) return;
    this.#made = true;
    if (this.decided.aborted) return;
    const judged = judge(pod);
    if (judged.is === "succeeded" || judged.is === "failed" || judged.is === "lost") this.decide(judged);
    else if (judged.is === "pending") this.#note(judged.note);
    else if (judged.is === "running") this.#runs(judged.node);
    else if (judged.is === "stuck") this.#cannotStart(judged.reason, judged.message);
    else this.#leaves();
  }

  deleted(): void {
    this.#isGone();
    this.decide({ is: "lost", why: `${this.#lost} it was deleted by somebody else.` });
  }

  absent(): void {
    if (this.#made) this.#options.look();
  }

  #note(note: string | undefined): void {
    if (note === undefined || this.#notes.size >= MOST_NOTES || this.#notes.has(note)) return;
    this.#notes.add(note);
    this.#job.log(`pod ${this.#name}: ${note}`);
  }

  #runs(node: string | undefined): void {
    this.#timers.stop("start");
    if (this.#timers.has("timeout")) return;
    const { namespace = "default" } = this.#manifest.metadata;
    this.#options.tell({ kind: "running", namespace, pod: this.#name, node });
    const { timeoutMs, name } = this.#job;
    const message = `task "${name}" took longer than its timeout of ${timeoutMs}ms and did not stop, so its pod was deleted.`;
    // The step itself ends at its timeout, unless its event loop is blocked.
    const over = timeoutMs === null ? null : timeoutMs + this.#options.graceSeconds * 1_000;
    this.#timers.start("timeout", over, () => this.stop(error("TIMEOUT", message)));
  }

  #cannotStart(reason: string, detail: string): void {
    const about = `${reason}${detail ? ` (${detail})` : ""}`;
    this.#note(`cannot start: ${about}`);
    const message = `Pod ${this.#name} could not start: ${about}. Check its image and its settings.`;
    this.#timers.start("start", this.#options.patienceMs, () => this.stop(error("POD_NOT_STARTED", message)));
  }

  /** If its node does not answer, the pod may be leaving forever. */
  #leaves(): void {
    const { graceSeconds, patienceMs } = this.#options;
    const why = `${this.#lost} it was deleted by somebody else, and its node does not say that it is gone.`;
    this.#timers.start("leave", graceSeconds * 1_000 + patienceMs, () => this.decide({ is: "lost", why }));
  }

  get #name(): string {
    return this.#manifest.metadata.name;
  }

  get #lost(): string {
    return `Pod ${this.#name} is lost:`;
  }
}
