/**
 * Runs attempts in child processes, so that code which blocks its event loop, leaks or crashes cannot hurt the worker.
 *
 *   worker ── run(job) ──▶ waiting room ──▶ the ready child with the fewest jobs ──▶ its own executor
 *
 * What holds, whatever the code does:
 * - A job ends exactly once. While there is no room, because a child has died and the next one still loads, or
 *   because aborted code has not ended yet, it waits.
 * - A child that dies ends its jobs at once as crashed, and another takes its place: at once, or after a growing
 *   pause when they die again and again right after their start.
 * - Code that overstays, after an abort or its timeout, is ended with its process. The job ends as aborted or with
 *   TIMEOUT, and only when the process is dead: nothing of it runs on. Its neighbours in there have crashed.
 * - A parent that dies takes its children with it, even those with a blocked loop (lifeline.ts).
 * - A parent that is frozen cannot abort anything, so the children know the deadline of its lease and abort by
 *   themselves (deadline.ts). Nothing begins after it.
 *
 * With a concurrency of 1 nobody has neighbours; more is for code that mostly waits.
 */
import { SluiceError } from "../../core/error.ts";
import type { Ending, Executor, Job } from "../executor.ts";
import { storedError } from "../stored-error.ts";
import type { Holder } from "./assignment.ts";
import { Assignment } from "./assignment.ts";
import type { Child } from "./child.ts";
import type { Death } from "./death.ts";
import { machineTimeOf } from "./machine-time.ts";
import { Seat } from "./seat.ts";
import type { SpawnOptions } from "./spawn.ts";

export interface ProcessExecutorOptions extends SpawnOptions {
  readonly processes: number;
  /** How many jobs each of them runs at once. */
  readonly concurrency: number;
  /** How long aborted code may take to end before its process is killed; 5 s unless given. */
  readonly killAfterMs?: number | undefined;
  /** Told of what happens to the children, for logs and tests. */
  readonly watch?: ((event: ProcessEvent) => void) | undefined;
}

export type ProcessEvent =
  | { readonly kind: "ready"; readonly pid: number }
  | { readonly kind: "died"; readonly death: Death };

const KILL_AFTER_MS = 5_000;

export class ProcessExecutor implements Executor {
  readonly #options: ProcessExecutorOptions;
  readonly #waiting = new Set<Assignment>();
  readonly #waitingRoom: Holder;
  #seats: readonly Seat[] = [];
  #open = false;
  #stopping: Promise<void> | undefined;
  #jobs = 0;
  /** On the machine's clock; 0 for none. */
  #until = 0;

  constructor(options: ProcessExecutorOptions) {
    this.#options = options;
    this.#waitingRoom = {
      aborted: (assignment, error) => {
        this.#waiting.delete(assignment);
        assignment.end({ ok: false, error, retryable: true, begun: false });
      },
      overstayed: () => {},
    };
  }

  /** How many jobs run at once. */
  get size(): number {
    return this.#options.processes * this.#options.concurrency;
  }

  /** Resolves when all children are ready. If one of them cannot start, all are ended, and it says why. */
  async start(): Promise<void> {
    if (this.#open || this.#stopping) throw new SluiceError("STARTED", "This executor was started before.");
    this.#open = true;
    const { processes, watch } = this.#options;
    const seat = {
      freed: () => this.#dispatch(),
      ready: ({ pid = 0 }: Child) => watch?.({ kind: "ready", pid }),
      died: (death: Death) => watch?.({ kind: "died", death }),
    };
    this.#seats = Array.from({ length: processes }, () => new Seat(this.#options, seat));
    try {
      await Promise.all(this.#seats.map(({ child }) => child.ready));
    } catch (error) {
      const stopped = this.#stopping !== undefined;
      await this.stop();
      throw stopped ? workerStopped() : error;
    }
  }

  run(job: Job): Promise<Ending> {
    if (!this.#open) return Promise.reject(new SluiceError("NOT_RUNNING", "The processes are not running."));
    const { signal } = job;
    if (signal.aborted)
      return Promise.resolve({ ok: false, error: storedError(signal.reason), retryable: true, begun: false });
    this.#jobs += 1;
    const killAfterMs = this.#options.killAfterMs ?? KILL_AFTER_MS;
    const assignment = new Assignment(this.#jobs, job, killAfterMs, this.#waitingRoom);
    this.#waiting.add(assignment);
    this.#dispatch();
    return assignment.ending;
  }

  /**
   * Until when the lease is trusted, on the clock of `performance.now()`. Children abort their jobs when it passes,
   * and begin none after it, unless a later one was told. Before the first, jobs have none.
   */
  trustedUntil(monotonicMs: number): void {
    const until = machineTimeOf(monotonicMs);
    if (until <= this.#until) return;
    this.#until = until;
    for (const { child } of this.#seats) child.trust(until);
  }

  /** Ends what still runs by force, and takes nothing more: each job has ended when this resolves. */
  async halt(): Promise<void> {
    this.#open = false;
    const reason = storedError(workerStopped());
    for (const assignment of this.#waiting) assignment.abort(reason);
    await Promise.all(this.#seats.map((seat) => seat.end(reason)));
  }

  /** Aborts what runs, and resolves when all children have ended. */
  stop(): Promise<void> {
    this.#stopping ??= this.#leave();
    return this.#stopping;
  }

  async #leave(): Promise<void> {
    this.#open = false;
    const reason = storedError(workerStopped());
    for (const assignment of this.#waiting) assignment.abort(reason);
    await Promise.all(this.#seats.map((seat) => seat.leave(reason)));
  }

  #dispatch(): void {
    for (const assignment of this.#waiting) {
      const child = this.#roomiest();
      if (!child) return;
      this.#waiting.delete(assignment);
      child.take(assignment, this.#until);
    }
  }

  /** The fewest jobs, and if it can be had, no aborted code beside it that may take the process down. */
  #roomiest(): Child | undefined {
    const { concurrency } = this.#options;
    let best: Child | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const { child } of this.#seats) {
      if (!child.canTake || child.load >= concurrency) continue;
      const burden = child.load + (child.isRisky ? concurrency : 0);
      if (burden >= least) continue;
      best = child;
      least = burden;
    }
    return best;
  }
}

const workerStopped = (): SluiceError =>
  new SluiceError("WORKER_STOPPED", "The worker stopped before the task was done.");
