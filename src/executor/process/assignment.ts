/**
 * In the parent: one job on its way through a child. It is held by the waiting room first and by a child then, and
 * ends exactly once.
 *
 * Code that was aborted, or is over its time, is asked to end by the child itself. A blocked event loop does not
 * hear that; then the job has overstayed, and its holder must end it by force.
 */
import type { Ending, Job, StoredError } from "../executor.ts";
import { storedError } from "../stored-error.ts";
import type { Death } from "./death.ts";
import { crashed } from "./death.ts";

/** What a job may take longer than its timeout: the child's own clock ends it a second after, if it can. */
const TIMEOUT_GRACE_MS = 2_000;
/** What is longer than this, Node takes for no time at all. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface Holder {
  aborted(assignment: Assignment, reason: StoredError): void;
  overstayed(assignment: Assignment): void;
}

export class Assignment {
  readonly job: Job;
  readonly number: number;
  readonly ending: Promise<Ending>;
  readonly #killAfterMs: number;
  readonly #signal: AbortSignal;
  #settle: (ending: Ending) => void = () => {};
  #holder: Holder;
  #timers: NodeJS.Timeout[] | undefined;
  #begun = false;
  /** Why it must end, once it must. */
  #reason: StoredError | undefined;

  constructor(number: number, job: Job, killAfterMs: number, holder: Holder) {
    this.number = number;
    this.job = job;
    this.#killAfterMs = killAfterMs;
    this.#holder = holder;
    this.ending = new Promise((settle) => {
      this.#settle = settle;
    });
    this.#signal = job.signal;
    this.#signal.addEventListener("abort", this);
  }

  /** From now on a child holds it: its time runs. */
  beginIn(holder: Holder): void {
    this.#holder = holder;
    const { timeoutMs } = this.job;
    if (timeoutMs !== null)
      this.#limit(timeoutMs + TIMEOUT_GRACE_MS, () => timedOut(this.job.name, timeoutMs));
  }

  /** Its code runs. */
  begun(): void {
    this.#begun = true;
  }

  /** Called by its signal. */
  handleEvent(): void {
    this.abort(storedError(this.#signal.reason));
  }

  abort(reason: StoredError): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#limit(this.#killAfterMs, () => reason);
    this.#holder.aborted(this, reason);
  }

  end(ending: Ending): void {
    this.#signal.removeEventListener("abort", this);
    for (const timer of this.#timers ?? []) clearTimeout(timer);
    this.#settle(ending);
  }

  /** Its child is dead. What had to end has ended so; of the others that began nobody knows how far they came. */
  lost(death: Death): void {
    const ending = this.#reason
      ? { ok: false as const, error: this.#reason, retryable: true }
      : crashed(death);
    if (this.#begun) this.end(ending);
    else this.end({ ok: false, error: ending.error, retryable: true, begun: false });
  }

  #limit(ms: number, reason: () => StoredError): void {
    const over = (): void => {
      this.#reason ??= reason();
      this.#holder.overstayed(this);
    };
    this.#timers ??= [];
    this.#timers.push(setTimeout(over, Math.min(ms, LONGEST_TIMER_MS)));
  }
}

function timedOut(task: string, timeoutMs: number): StoredError {
  const message = `task "${task}" took longer than its timeout of ${timeoutMs}ms and did not stop, so its process was ended.`;
  return { name: "SluiceError", code: "TIMEOUT", message };
}
