/**
 * Runs attempts in child processes, so that code which blocks its event loop, leaks or crashes cannot hurt
 * the worker.
 *
 *   worker ── run(job) ──▶ waiting room ──▶ the ready child with the fewest jobs ──▶ its own executor
 *
 * Guarantees, whatever the code does:
 * - A job ends exactly once. It waits while there is no room, because a child has died and the next one still
 *   loads, or because aborted code has not ended yet.
 * - Exactly one child runs a job, and a blocked or frozen child does not hold it back: a job that a child has
 *   not started within a moment goes to another child (offer.ts). If there is none until `beginBy`, it ends
 *   as not begun.
 * - If a child dies, its jobs end at once as crashed and another child takes its place: at once, or after a
 *   growing pause if children keep dying right after their start.
 * - Code that overstays after an abort or its timeout is ended with its process. An aborted job ends only
 *   when its code has ended or the process is dead. A job with a TIMEOUT is answered at once, and its
 *   `stopping` resolves at that point. Other jobs in the same process end with it, as bystanders: they did not
 *   kill it, so it is no loss of theirs.
 * - If the parent dies, its children die with it, even those with a blocked loop (lifeline.ts).
 * - A frozen parent cannot abort anything, so the children know the deadline of its lease and abort by
 *   themselves (deadline.ts). Nothing starts after it.
 *
 * With a concurrency of 1 no job shares its process. A higher concurrency is for code that mostly waits.
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
  /** How many jobs each process runs at once. */
  readonly concurrency: number;
  /** How long code that must stop may take to end before its process is killed. Default: 5 s. */
  readonly stopGraceMs?: number | undefined;
  /** Called for events of the children, for logs and tests. */
  readonly watch?: ((event: ProcessEvent) => void) | undefined;
}

export type ProcessEvent =
  | { readonly kind: "ready"; readonly pid: number }
  /** Sent before a successor takes its place, if there is one. */
  | { readonly kind: "died"; readonly death: Death; readonly hasSuccessor: boolean };

const STOP_GRACE_MS = 5_000;

export class ProcessExecutor implements Executor {
  readonly #options: ProcessExecutorOptions;
  #waiting = new Set<Assignment>();
  readonly #waitingRoom: SeatHolder;
  #seats: readonly ChildSeat[] = [];
  #open = false;
  #stopping: Promise<void> | undefined;
  /** The lease's deadline on the machine's clock. 0 means none. */
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

  /**
   * Resolves when all children are ready. If one of them cannot start, all are ended and this rejects with
   * the reason.
   */
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

  /** The job has waited longer than the others, so it goes first. */
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

  /**
   * A job that found no child by `beginBy` ends as not begun, so it is back in line before its claim can
   * lapse.
   */
  #waitInTime(assignment: Assignment): void {
    const { beginBy } = assignment.job;
    if (beginBy === undefined || !this.#waiting.has(assignment)) return;
    assignment.waitFor(Math.max(0, beginBy - performance.now()), () => {
      this.#waiting.delete(assignment);
      assignment.endUnbegun(storedError(notBegun()));
    });
  }

  /**
   * How long the lease is trusted, on the clock of `performance.now()`. Children abort their jobs at that
   * time and start none after it, unless a later deadline arrives. Before the first call there is no
   * deadline.
   */
  trustedUntil(monotonicMs: number): void {
    const until = machineTimeOf(monotonicMs);
    if (until <= this.#until) return;
    this.#until = until;
    for (const { child } of this.#seats) child.trust(until);
  }

  /** Ends the remaining jobs by force and takes nothing more. Every job has ended when this resolves. */
  async halt(): Promise<void> {
    this.#open = false;
    const reason = storedError(workerStopped());
    for (const assignment of this.#waiting) assignment.abort(reason);
    await Promise.all(this.#seats.map((seat) => seat.end(reason)));
  }

  /** Aborts the running jobs and resolves when all children have exited. */
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

  /**
   * Picks the child with the fewest jobs, and if possible one without aborted code that may take its process
   * down.
   */
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
