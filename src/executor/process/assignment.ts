/**
 * In the parent: one job on its way through a child. It is held first by the waiting room, then by a child,
 * and it ends exactly once.
 *
 *   waiting ── offered to a child ──▶ begun ──▶ ended
 *      ▲──── not begun in time ────┘
 *
 * An offer is good for a moment only (`offer.ts`). A child that lets it pass, because its loop is blocked or
 * it is frozen, will never run it, so the job may be offered to another child.
 *
 * At its timeout, a job is answered with TIMEOUT at once, and `stopping` resolves when its code has really
 * ended. The child itself asks code to end that was aborted or has timed out. A blocked event loop does not
 * hear that. Then the job has overstayed, and its holder must end it by force.
 */
import type { Cancel } from "../../env/env.ts";
import { after, soon } from "../../env/timers.ts";
import type { Ending, Job, StoredError } from "../executor.ts";
import { storedError } from "../stored-error.ts";
import type { Death, Overstayed } from "./death.ts";
import { endingOfLost } from "./death.ts";

export interface SeatHolder {
  aborted(assignment: Assignment, reason: StoredError): void;
  overstayed(assignment: Assignment, how: Overstayed): void;
}

export class Assignment {
  readonly job: Job;
  readonly ending: Promise<Ending>;
  /** The holder's number for this job. */
  number = 0;
  /** How many offers have passed before it started. */
  missed = 0;
  readonly #stopGraceMs: number;
  readonly #signal: AbortSignal;
  #settle: (ending: Ending) => void = () => {};
  /** Resolves `stopping`: the code of a job that was already answered has ended. */
  #stopped: (() => void) | undefined;
  #holder: SeatHolder;
  #timers: Cancel[] | undefined;
  #begun = false;
  #over = false;
  /** Why it must end. Undefined until it must. */
  #reason: StoredError | undefined;

  constructor(job: Job, stopGraceMs: number, holder: SeatHolder) {
    this.job = job;
    this.#stopGraceMs = stopGraceMs;
    this.#holder = holder;
    this.ending = new Promise((settle) => {
      this.#settle = settle;
    });
    this.#signal = job.signal;
    this.#signal.addEventListener("abort", this);
  }

  get hasBegun(): boolean {
    return this.#begun;
  }

  /** Moves the job to this holder. It has not started there. */
  heldBy(holder: SeatHolder, number = 0): void {
    this.#holder = holder;
    this.number = number;
    this.#clearTimers();
  }

  /** Limits how long the job waits. */
  waitFor(ms: number, over: () => void): void {
    this.#after(ms, over);
  }

  /** Its code has started, and so has its timeout. */
  begun(): void {
    this.#clearTimers();
    this.#begun = true;
    this.job.begins?.();
    const { timeoutMs } = this.job;
    if (this.#reason) this.#endSoon(this.#reason);
    else if (timeoutMs !== null)
      // If we slept ourselves, its end may be in the channel, unread. The channel is read before `soon`
      // fires.
      this.#after(timeoutMs, () => soon(() => this.#outOfTime(timeoutMs)));
  }

  /** Called by the abort signal. */
  handleEvent(): void {
    this.abort(storedError(this.#signal.reason));
  }

  abort(reason: StoredError): void {
    if (this.#reason || this.#over) return;
    this.#reason = reason;
    // A job that has not started needs no force: its offer passes.
    if (this.#begun) this.#endSoon(reason);
    this.#holder.aborted(this, reason);
  }

  end(ending: Ending): void {
    this.#over = true;
    this.#signal.removeEventListener("abort", this);
    this.#clearTimers();
    if (this.#stopped) this.#stopped();
    else this.#settle(ending);
  }

  /** Its code has not run and will not run here. */
  endUnbegun(error: StoredError): void {
    this.end({ ok: false, error: this.#reason ?? error, retryable: true, begun: false });
  }

  /**
   * Its child is dead. For a job that had to end, that is its end. How far other started jobs came is
   * unknown.
   */
  lost(death: Death): void {
    const ending = this.#reason
      ? { ok: false as const, error: this.#reason, retryable: true }
      : endingOfLost(death);
    if (this.#begun) this.end(ending);
    else this.endUnbegun(ending.error);
  }

  get isAborted(): boolean {
    return this.#reason !== undefined;
  }

  #outOfTime(timeoutMs: number): void {
    if (this.#over || this.#reason) return;
    const error = timedOut(this.job.name, timeoutMs);
    const stopping = new Promise<void>((stopped) => {
      this.#stopped = stopped;
    });
    this.#settle({ ok: false, error, retryable: true, stopping });
    this.abort(error);
  }

  #endSoon(reason: StoredError): void {
    const { name, id } = this.job;
    const graceMs = this.#stopGraceMs;
    this.#after(graceMs, () => this.#holder.overstayed(this, { name, id, reason, graceMs }));
  }

  #after(ms: number, call: () => void): void {
    this.#timers ??= [];
    this.#timers.push(after(ms, call, { keepsAlive: true }));
  }

  #clearTimers(): void {
    if (!this.#timers) return;
    for (const cancel of this.#timers) cancel();
    this.#timers = undefined;
  }
}

function timedOut(task: string, timeoutMs: number): StoredError {
  const message = `task "${task}" took longer than its timeout of ${timeoutMs}ms.`;
  return { name: "SluiceError", code: "TIMEOUT", message };
}
