/**
 * Runs attempts in child processes, so that code which blocks its event loop, leaks or crashes cannot hurt the worker.
 *
 *   worker ── run(job) ──▶ waiting room ──▶ the ready child with the fewest jobs ──▶ its own executor
 *
 * What holds, whatever the code does:
 * - A job ends exactly once. While there is no room, because a child has died and the next one still loads, or
 *   because aborted code has not ended yet, it waits.
 * - Exactly one child runs a job, and none that is blocked or frozen holds one back: a job that a child has not begun
 *   within a moment goes to another (offer.ts), or, if there is none until `beginBy`, ends as not begun.
 * - A child that dies ends its jobs at once as crashed, and another takes its place: at once, or after a growing
 *   pause when they die again and again right after their start.
 * - Code that overstays, after an abort or its timeout, is ended with its process. An aborted job ends only when its
 *   code has, or when the process is dead; one with a TIMEOUT is answered at once, and its `stopping` ends then. Its
 *   neighbours in there have crashed.
 * - A parent that dies takes its children with it, even those with a blocked loop (lifeline.ts).
 * - A parent that is frozen cannot abort anything, so the children know the deadline of its lease and abort by
 *   themselves (deadline.ts). Nothing begins after it.
 *
 * With a concurrency of 1 nobody has neighbours; more is for code that mostly waits.
 */
import { SluiceError } from "../../core/error.ts";
import type { Ending, Executor, Job } from "../executor.ts";
import { storedError } from "../stored-error.ts";
import type { SeatHolder } from "./assignment.ts";
import { Assignment } from "./assignment.ts";
import type { Child } from "./child.ts";
import type { Death } from "./death.ts";
import { machineTimeOf } from "./machine-time.ts";
import { ChildSeat } from "./seat.ts";
import type { SpawnOptions } from "./spawn.ts";

export interface ProcessExecutorOptions extends SpawnOptions {
  readonly processes: number;
  /** How many jobs each of them runs at once. */
  readonly concurrency: number;
  /** How long code that must stop may take to end before its process is killed; 5 s unless given. */
  readonly stopGraceMs?: number | undefined;
  /** Told of what happens to the children, for logs and tests. */
  readonly watch?: ((event: ProcessEvent) => void) | undefined;
}

export type ProcessEvent =
  | { readonly kind: "ready"; readonly pid: number }
  /** Told before another takes its place, where one will. */
  | { readonly kind: "died"; readonly death: Death; readonly hasSuccessor: boolean };

const STOP_GRACE_MS = 5_000;

export class ProcessExecutor implements Executor {
  readonly #options: ProcessExecutorOptions;
  #waiting = new Set<Assignment>();
  readonly #waitingRoom: SeatHolder;
  #seats: readonly ChildSeat[] = [];
  #open = false;
  #stopping: Promise<void> | undefined;
  /** On the machine's clock; 0 for none. */
  #until = 0;

  constructor(options: ProcessExecutorOptions) {
    this.#options = options;
    this.#waitingRoom = {
      aborted: (assignment, error) => {
        this.#waiting.delete(assignment);
        assignment.endUnbegun(error);
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
    if (this.#open || this.#stopping) throw new SluiceError("STARTED", "This executor was already started.");
    this.#open = true;
    const { processes, watch } = this.#options;
    const seat = {
      freed: () => this.#dispatch(),
      unbegun: (assignment: Assignment) => this.#takeBack(assignment),
      ready: ({ pid = 0 }: Child) => watch?.({ kind: "ready", pid }),
      died: (death: Death, hasSuccessor: boolean) => watch?.({ kind: "died", death, hasSuccessor }),
    };
    this.#seats = Array.from({ length: processes }, () => new ChildSeat(this.#options, seat));
    try {
      await Promise.all(this.#seats.map(({ child }) => child.ready));
    } catch (error) {
      const stopped = this.#stopping !== undefined;
      await this.stop();
      throw stopped ? workerStopped() : error;
    }
  }

  blocked(): number {
    const { concurrency } = this.#options;
    let places = 0;
    for (const { child } of this.#seats) if (child.isSilent) places += Math.max(0, concurrency - child.load);
    return places;
  }

  run(job: Job): Promise<Ending> {
    if (!this.#open) return Promise.reject(new SluiceError("NOT_RUNNING", "The processes are not running."));
    const { signal } = job;
    if (signal.aborted)
      return Promise.resolve({ ok: false, error: storedError(signal.reason), retryable: true, begun: false });
    const assignment = new Assignment(job, this.#options.stopGraceMs ?? STOP_GRACE_MS, this.#waitingRoom);
    this.#waiting.add(assignment);
    this.#dispatch();
    this.#waitInTime(assignment);
    return assignment.ending;
  }

  /** It has waited longer than the others: it is the first in the room. */
  #takeBack(assignment: Assignment): void {
    assignment.heldBy(this.#waitingRoom);
    if (assignment.isAborted || !this.#open) {
      assignment.endUnbegun(storedError(workerStopped()));
      return;
    }
    this.#waiting = new Set([assignment, ...this.#waiting]);
    this.#dispatch();
    this.#waitInTime(assignment);
  }

  /** What found no child goes back in line before anybody can take it for lost. */
  #waitInTime(assignment: Assignment): void {
    const { beginBy } = assignment.job;
    if (beginBy === undefined || !this.#waiting.has(assignment)) return;
    assignment.waitFor(Math.max(0, beginBy - performance.now()), () => {
      this.#waiting.delete(assignment);
      assignment.endUnbegun(storedError(notBegun()));
    });
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

const notBegun = (): SluiceError =>
  new SluiceError(
    "NOT_BEGUN",
    "No process could start it in time: all of them were busy, blocked or starting.",
  );
