/**
 * The offers that a child let pass and has not answered: its loop is blocked, or it is frozen. A child that
 * stays silent although nothing runs in it is of no use.
 */
import type { Cancel } from "../../env/env.ts";
import { after } from "../../env/timers.ts";

/** How long a child in which nothing runs may leave an offer unanswered. */
const SILENT_MS = 5_000;

interface SilenceWatch {
  /** True if the child has jobs. Then the parent keeps waiting for its answer. */
  isBusy(): boolean;
  /** The child has been silent for too long. */
  tooLong(): void;
}

export class Silence {
  readonly #watch: SilenceWatch;
  readonly #unanswered = new Set<number>();
  #cancel: Cancel | undefined;

  constructor(watch: SilenceWatch) {
    this.#watch = watch;
  }

  get isOn(): boolean {
    return this.#unanswered.size > 0;
  }

  /** An offer has passed unanswered. */
  passed(job: number): void {
    this.#unanswered.add(job);
    this.#wait();
  }

  answered(job: number): void {
    this.#unanswered.delete(job);
    if (!this.isOn) this.end();
  }

  /** Stops waiting for an answer. */
  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #wait(): void {
    this.#cancel ??= after(SILENT_MS, () => this.#over(), { keepsAlive: true });
  }

  #over(): void {
    this.#cancel = undefined;
    if (!this.isOn) return;
    if (this.#watch.isBusy()) this.#wait();
    else this.#watch.tooLong();
  }
}
