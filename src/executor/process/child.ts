/**
 * The parent's end of one child process:
 *
 *   loading ── ready ──▶ ready ── leave ──▶ leaving ──▶ gone
 *
 * It may be gone at any moment, from every state. Then all its jobs have ended, too. A child that lets an
 * offer pass gets nothing more until it answers. A child that does not answer although nothing runs in it is
 * replaced.
 */
import type { ChildProcess } from "node:child_process";
import { SluiceError } from "../../core/error.ts";
import { formatDuration } from "../../core/time.ts";
import type { Cancel } from "../../env/env.ts";
import { after, soon } from "../../env/timers.ts";
import type { Job, StoredError } from "../executor.ts";
import { storedError } from "../stored-error.ts";
import { answerTo } from "./answer.ts";
import { AssignedJobs } from "./assigned-jobs.ts";
import type { Assignment, SeatHolder } from "./assignment.ts";
import type { Death, Overstayed } from "./death.ts";
import { notStarted } from "./death.ts";
import { machineNow, machineTimeOf } from "./machine-time.ts";
import type { ToChild, ToParent } from "./message.ts";
import { isOurs } from "./message.ts";
import { AFTER_MS, offerMs } from "./offer.ts";
import { Silence } from "./silence.ts";
import type { SpawnOptions } from "./spawn.ts";
import { lifelineOf, spawn } from "./spawn.ts";

type Exit = Pick<Death, "exitCode" | "signal">;

/** How long a child may take to leave when asked, or to exit after its channel has closed. */
const LEAVE_MS = 1_000;
/**
 * How long to wait for the last messages of a dead child. Its end of the channel should be closed by then,
 * but a process it started might hold it open.
 */
const LAST_WORDS_MS = 200;
/** Added to a child's load timeout before it is killed. If it can, the child reports the timeout itself. */
const LOAD_GRACE_MS = 10_000;

export interface ChildWatch {
  /** The child can take a job: it is ready, or one of its jobs has ended. */
  freed(): void;
  /** An assigned job has not started and will not start in this child. */
  unbegun(assignment: Assignment): void;
}

export class Child implements SeatHolder {
  /** Rejects if the child is gone before it is ready. */
  readonly ready: Promise<void>;
  readonly gone: Promise<Death>;
  /** Undefined if the process could not be created. */
  readonly #process: ChildProcess | undefined;
  readonly #watch: ChildWatch;
  readonly #jobs = new AssignedJobs();
  readonly #silence = new Silence({
    isBusy: () => this.#jobs.size > 0,
    tooLong: () => {
      if (!this.#exit) this.kill("silent");
    },
  });
  #loading: Cancel | undefined;
  #isReady: () => void = () => {};
  #isGone: (death: Death) => void = () => {};
  #readyAt: number | undefined;
  /** True once it was told to leave, or killed. */
  #leaving = false;
  #killedFor: Death["killedFor"];
  #overstayed: Overstayed | undefined;
  #jobsEnded = 0;
  #lastWords: StoredError | undefined;
  #exit: Exit | undefined;

  constructor(options: SpawnOptions, watch: ChildWatch) {
    this.#watch = watch;
    this.gone = new Promise((resolve) => {
      this.#isGone = resolve;
    });
    this.ready = new Promise((resolve, reject) => {
      this.#isReady = resolve;
      void this.gone.then((death) => reject(notStarted(death)));
    });
    // A caller need not wait for `ready`, so its rejection must not count as unhandled.
    this.ready.catch(() => {});
    try {
      this.#process = spawn(options);
      this.#listenTo(this.#process);
      if (options.loadMs !== undefined) this.#mustLoadWithin(options.loadMs, options.argv?.[0] ?? "its app");
    } catch (error) {
      this.#failed(error);
    }
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** The number of its jobs. */
  get load(): number {
    return this.#jobs.size;
  }

  /** True if aborted code has not ended yet. If it never does, the child is killed with all its jobs. */
  get isRisky(): boolean {
    return this.#jobs.isRisky;
  }

  get canTake(): boolean {
    return this.#isServing && !this.#silence.isOn;
  }

  /** The child is alive but does not answer: its loop is blocked, or it is frozen. */
  get isSilent(): boolean {
    return this.#isServing && this.#silence.isOn;
  }

  get #isServing(): boolean {
    return this.#readyAt !== undefined && !this.#leaving && !this.#exit && this.#process?.connected === true;
  }

  /** Sends the lease's deadline, on the machine's clock. */
  trust(until: number): void {
    lifelineOf(this.#process)?.write(`${until}\n`);
  }

  take(assignment: Assignment, until: number): void {
    const { id, name, input, attempt, fence, step, beginBy: last } = assignment.job;
    const job = this.#jobs.add(assignment);
    const now = machineNow();
    const good = offerMs(assignment.missed);
    const goodMs = last === undefined ? good : Math.min(good, machineTimeOf(last) - now);
    assignment.heldBy(this, job);
    this.#tell({ sluice: "run", job, id, name, input, attempt, fence, step, beginBy: now + goodMs, until });
    assignment.waitFor(Math.max(0, goodMs) + AFTER_MS, () => this.#passed(job, now + goodMs));
  }

  aborted({ number: job }: Assignment, reason: StoredError): void {
    this.#jobs.mustEnd(job);
    this.#tell({ sluice: "abort", job, reason });
  }

  /**
   * If we slept ourselves, the job's end may be in the channel, unread. The channel is read before `soon`
   * fires. A process that has already exited was not ended by us.
   */
  overstayed({ number }: Assignment, how: Overstayed): void {
    soon(() => {
      if (!this.#jobs.get(number) || this.#exit) return;
      if (this.#killedFor === undefined) this.#overstayed = how;
      this.kill("deaf");
    });
  }

  kill(why: Death["killedFor"]): void {
    this.#leaving = true;
    this.#killedFor ??= why;
    this.#process?.kill("SIGKILL");
  }

  /** Aborts the running jobs, gives them a moment to end, and ends the process. */
  async leave(reason: StoredError): Promise<void> {
    this.#leaving = true;
    // A child that is still loading has no jobs and can be killed.
    if (this.#readyAt === undefined) this.kill("loading");
    for (const assignment of this.#jobs.all) assignment.abort(reason);
    this.#tell({ sluice: "leave" });
    const cancel = after(LEAVE_MS, () => this.end(), { keepsAlive: true });
    await this.gone;
    cancel();
  }

  /** Kills the process, whatever it does. */
  end(): void {
    this.kill(this.#jobs.isRunning ? "deaf" : "silent");
  }

  #mustLoadWithin(loadMs: number, file: string): void {
    const late = (): void => {
      const message = `${file} did not finish loading within ${formatDuration(loadMs)}: its code keeps the event loop busy.`;
      this.#lastWords ??= storedError(new SluiceError("BAD_APP", message));
      this.kill("loading");
    };
    this.#loading = after(loadMs + LOAD_GRACE_MS, late, { keepsAlive: true });
  }

  /** The offer has expired. The channel is read once more before we judge (offer.ts). */
  #passed(job: number, beginBy: number): void {
    // A timer may fire a little early by this clock.
    const early = beginBy + AFTER_MS / 2 - machineNow();
    if (early > 0) {
      this.#jobs.get(job)?.waitFor(early + 1, () => this.#passed(job, beginBy));
      return;
    }
    soon(() => {
      const assignment = this.#jobs.get(job);
      if (!assignment || assignment.hasBegun) return;
      this.#silence.passed(job);
      this.#giveBack(job, assignment);
    });
  }

  #giveBack(job: number, assignment: Assignment): void {
    this.#jobs.remove(job);
    assignment.missed += 1;
    this.#watch.unbegun(assignment);
  }

  /** The child has read an offer too late and says so. Its loop is free again. */
  #missed(job: number): void {
    const assignment = this.#jobs.get(job);
    if (assignment?.hasBegun) {
      this.#jobs.remove(job);
      assignment.endUnbegun(tooLate());
    } else if (assignment) this.#giveBack(job, assignment);
    this.#silence.answered(job);
    this.#watch.freed();
  }

  #listenTo(child: ChildProcess): void {
    child.on("message", (message) => {
      if (isOurs(message)) this.#hear(message as ToParent);
    });
    child.on("error", (error) => {
      if (child.pid === undefined) this.#failed(error);
    });
    child.once("exit", (exitCode, signal) => this.#exited({ exitCode, signal }));
    child.once("disconnect", () => this.#disconnected());
    // A write may fail because the child has died. Its exit tells us that.
    lifelineOf(child)?.on("error", () => {});
  }

  #hear(message: ToParent): void {
    if (message.sluice === "ready") {
      this.#readyAt = machineNow();
      this.#loading?.();
      this.#isReady();
      this.#watch.freed();
    } else if (message.sluice === "failed") this.#lastWords = message.error;
    else if (message.sluice === "missed") this.#missed(message.job);
    else if (message.sluice !== "left") this.#hearOf(message);
  }

  #hearOf(message: Exclude<Extract<ToParent, { job: number }>, { sluice: "missed" }>): void {
    const assignment = this.#jobs.get(message.job);
    if (!assignment && message.sluice === "call") void this.#answer(undefined, message);
    if (!assignment) return;
    const { job } = assignment;
    if (message.sluice === "begun") assignment.begun();
    else if (message.sluice === "progress") {
      job.progress(message.value === undefined ? undefined : JSON.parse(message.value));
    } else if (message.sluice === "log") {
      const { message: text, data } = JSON.parse(message.line) as { message: string; data?: unknown };
      job.log(text, data);
    } else if (message.sluice === "call") void this.#answer(job, message);
    else {
      this.#jobs.remove(message.job);
      this.#jobsEnded += 1;
      assignment.end(message.ending);
      this.#watch.freed();
    }
  }

  /** Every call gets an answer, because code waits for it. Without a job, the job is over here. */
  async #answer(
    of: Job | undefined,
    { job, call, asks }: Extract<ToParent, { sluice: "call" }>,
  ): Promise<void> {
    const answer = await answerTo(async () => {
      if (!of) throw taskEnded();
      if (!of.call) throw noClient();
      return of.call(asks);
    });
    this.#tell({ sluice: "answer", job, call, answer });
  }

  /** The process could not be created (no memory, no processes left), so it has no exit. */
  #failed(error: unknown): void {
    this.#lastWords = storedError(error);
    this.#over({ exitCode: null, signal: null });
  }

  /** Its last messages may still be in the channel, so it is over only when the channel is closed. */
  #exited(exit: Exit): void {
    this.#exit = exit;
    if (this.#process?.connected) after(LAST_WORDS_MS, () => this.#over(exit), { keepsAlive: true });
    else this.#over(exit);
  }

  /** An exiting process closes the channel first. A process that stays alive cannot be reached any more. */
  #disconnected(): void {
    if (this.#exit) this.#over(this.#exit);
    else after(LEAVE_MS, () => (this.#leaving ? this.end() : this.kill("unreachable")));
  }

  #over(exit: Exit): void {
    this.#silence.end();
    this.#loading?.();
    const readyMs = this.#readyAt === undefined ? undefined : machineNow() - this.#readyAt;
    const lastWords = this.#lastWords;
    const death = {
      pid: this.pid,
      ...exit,
      killedFor: this.#killedFor,
      overstayed: this.#overstayed,
      lastWords,
      readyMs,
      jobsEnded: this.#jobsEnded,
    };
    for (const assignment of this.#jobs.takeAll()) assignment.lost(death);
    this.#isGone(death);
  }

  #tell(message: ToChild): void {
    // A dying process hears nothing. Its exit event does the rest.
    if (this.#process?.connected) this.#process.send(message, () => {});
  }
}

const noClient = (): SluiceError =>
  new SluiceError("NO_CLIENT", "The executor of this process was given no way to a store.");

const taskEnded = (): SluiceError =>
  new SluiceError("TASK_ENDED", "The attempt whose code called the client is over. Nothing was started.");

const tooLate = (): StoredError =>
  storedError(new SluiceError("NOT_BEGUN", "Its process could not start it in time."));
