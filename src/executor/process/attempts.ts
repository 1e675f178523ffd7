/** In the child: all attempts that run here, and the deadline they share. */
import { SluiceError } from "../../core/error.ts";
import { isErrorCode } from "../../core/error-code.ts";
import type { Ending, Executor, Failed, StoredError } from "../executor.ts";
import { storedError } from "../stored-error.ts";
import { Attempt } from "./attempt.ts";
import { Deadline } from "./deadline.ts";
import { machineNow } from "./machine-time.ts";
import type { Run, ToChild, ToParent } from "./message.ts";

/** Sends a message to the parent. `sent` is called once it is written. */
type TellParent = (message: ToParent, sent?: () => void) => void;

export class Attempts {
  readonly #executor: Executor;
  readonly #tell: TellParent;
  readonly #left: () => void;
  readonly #running = new Map<number, Attempt>();
  /** Their code has ended, but not waited for all answers to its calls. */
  readonly #asking = new Map<number, Attempt>();
  readonly #deadline: Deadline;
  #told = 0;
  #leaving = false;

  /**
   * `until` returns the newest deadline from the lifeline. `left` is called after "leave", once nothing runs.
   */
  constructor(executor: Executor, until: () => number, tell: TellParent, left: () => void) {
    this.#executor = executor;
    this.#tell = tell;
    this.#left = left;
    this.#deadline = new Deadline(
      () => Math.max(until(), this.#told),
      () => this.#abortAll(leaseLost()),
    );
  }

  hear(message: ToChild): void {
    if (message.sluice === "run") void this.#run(message);
    else if (message.sluice === "abort") this.#running.get(message.job)?.abort(errorOf(message.reason));
    else if (message.sluice === "answer") this.#answer(message);
    else if (message.sluice === "leave") {
      this.#leaving = true;
      this.#leaveIfIdle();
    }
  }

  deadlineMoved(): void {
    this.#deadline.look();
  }

  #answer({ job, call, answer }: Extract<ToChild, { sluice: "answer" }>): void {
    const attempt = this.#running.get(job) ?? this.#asking.get(job);
    attempt?.answer(call, answer);
    if (!attempt || attempt.isAsking) return;
    this.#asking.delete(job);
    this.#leaveIfIdle();
  }

  async #run(message: Run): Promise<void> {
    const { job, until, beginBy } = message;
    // The lifeline is a separate channel, so its deadline may not have arrived yet.
    this.#told = Math.max(this.#told, until);
    this.#deadline.look();
    // The message may have waited in the channel while code blocked us or we were frozen.
    if (this.#deadline.isOver())
      return this.#tell({ sluice: "ended", job, ending: { ...failed(leaseLost()), begun: false } });
    if (machineNow() >= beginBy) return this.#tell({ sluice: "missed", job });
    const attempt = new Attempt(message, this.#tell);
    this.#running.set(job, attempt);
    await new Promise<void>((sent) => this.#tell({ sluice: "begun", job }, sent));
    // Check the clock again once "begun" is written: if the parent has not read it by then, it may have taken
    // the job back.
    if (machineNow() >= beginBy) this.#tell({ sluice: "missed", job });
    else this.#tell({ sluice: "ended", job, ending: await this.#endingOf(attempt) });
    this.#running.delete(job);
    if (attempt.isAsking) this.#asking.set(job, attempt);
    this.#leaveIfIdle();
  }

  /**
   * An executor answers even if the code throws. If the executor itself fails, the attempt has failed, not
   * the process.
   */
  async #endingOf(attempt: Attempt): Promise<Ending> {
    try {
      const ending = await this.#executor.run(attempt);
      if (ending.ok || !ending.stopping) return ending;
      // A promise cannot be sent, so the end is reported once none of the code runs any more.
      const { stopping, ...ended } = ending;
      await stopping;
      return ended;
    } catch (error) {
      return failed(error);
    }
  }

  #abortAll(reason: SluiceError): void {
    for (const attempt of this.#running.values()) attempt.abort(reason);
  }

  #leaveIfIdle(): void {
    if (this.#leaving && this.#running.size + this.#asking.size === 0) this.#left();
  }
}

const leaseLost = (): SluiceError =>
  new SluiceError(
    "LEASE_LOST",
    "The worker could not renew its lease in time; the task may already run elsewhere.",
  );

const failed = (error: unknown): Failed => ({ ok: false, error: storedError(error), retryable: true });

const errorOf = ({ code, message }: StoredError): SluiceError =>
  new SluiceError(code !== undefined && isErrorCode(code) ? code : "ABORTED", message);
