/**
 * The parent's end of one child process:
 *
 *   loading ── ready ──▶ ready ── leave ──▶ leaving ──▶ gone
 *
 * From every state it may be gone at any moment; then each job in it has ended, too.
 */
import type { ChildProcess } from "node:child_process";
import type { StoredError } from "../executor.ts";
import { storedError } from "../stored-error.ts";
import type { Assignment, Holder } from "./assignment.ts";
import type { Death } from "./death.ts";
import { notStarted } from "./death.ts";
import { machineNow } from "./machine-time.ts";
import type { ToChild, ToParent } from "./message.ts";
import { isOurs } from "./message.ts";
import type { SpawnOptions } from "./spawn.ts";
import { lifelineOf, spawn } from "./spawn.ts";

type Exit = Pick<Death, "exitCode" | "signal">;

/** How long a child may take to leave when asked, or to end once it no longer talks to us. */
const LEAVE_MS = 1_000;
/** How long the last words of a dead child may take. Nobody should hold its end of the channel, but who knows. */
const LAST_WORDS_MS = 200;

export class Child implements Holder {
  /** Rejects when it is gone before. */
  readonly ready: Promise<void>;
  readonly gone: Promise<Death>;
  /** None if the machine could not give us one. */
  readonly #process: ChildProcess | undefined;
  readonly #freed: () => void;
  readonly #assigned = new Map<number, Assignment>();
  /** Those of them that should have ended: it may have to be killed for them. */
  readonly #aborted = new Set<number>();
  #isReady: () => void = () => {};
  #isGone: (death: Death) => void = () => {};
  #readyAt: number | undefined;
  /** It was told to leave, or killed. */
  #leaving = false;
  #byUs = false;
  #jobsEnded = 0;
  #lastWords: StoredError | undefined;
  #exit: Exit | undefined;

  constructor(options: SpawnOptions, freed: () => void) {
    this.#freed = freed;
    this.gone = new Promise((resolve) => {
      this.#isGone = resolve;
    });
    this.ready = new Promise((resolve, reject) => {
      this.#isReady = resolve;
      void this.gone.then((death) => reject(notStarted(death)));
    });
    // Whoever waits for it is told; nobody has to.
    this.ready.catch(() => {});
    try {
      this.#process = spawn(options);
      this.#listenTo(this.#process);
    } catch (error) {
      this.#failed(error);
    }
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** How many jobs are in it. */
  get load(): number {
    return this.#assigned.size;
  }

  /** Whoever is in here when aborted code does not end goes down with it. */
  get isRisky(): boolean {
    return this.#aborted.size > 0;
  }

  get canTake(): boolean {
    return this.#readyAt !== undefined && !this.#leaving && !this.#exit && this.#process?.connected === true;
  }

  /** The deadline of the lease, on the machine's clock. */
  trust(until: number): void {
    lifelineOf(this.#process)?.write(`${until}\n`);
  }

  take(assignment: Assignment, until: number): void {
    const { id, name, input, attempt, fence, timeoutMs } = assignment.job;
    this.#assigned.set(assignment.number, assignment);
    const job = assignment.number;
    this.#tell({ sluice: "run", job, id, name, input, attempt, fence, timeoutMs, until });
    assignment.beginIn(this);
  }

  aborted({ number: job }: Assignment, reason: StoredError): void {
    this.#aborted.add(job);
    this.#tell({ sluice: "abort", job, reason });
  }

  /** If we slept ourselves, its end lies in the channel already, unread: the channel is read before this comes. */
  overstayed({ number }: Assignment): void {
    setImmediate(() => {
      if (this.#assigned.has(number)) this.kill();
    });
  }

  kill(): void {
    this.#leaving = true;
    this.#byUs = true;
    this.#process?.kill("SIGKILL");
  }

  /** Aborts what runs, gives it a moment to end, and ends the process. */
  async leave(reason: StoredError): Promise<void> {
    this.#leaving = true;
    // What is only loading has promised nothing to anybody.
    if (this.#readyAt === undefined) this.kill();
    for (const assignment of this.#assigned.values()) assignment.abort(reason);
    this.#tell({ sluice: "leave" });
    const late = setTimeout(() => this.kill(), LEAVE_MS);
    await this.gone;
    clearTimeout(late);
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
    // Its end is seen by its exit; what cannot be written to it any more is of no use.
    lifelineOf(child)?.on("error", () => {});
  }

  #hear(message: ToParent): void {
    if (message.sluice === "ready") {
      this.#readyAt = machineNow();
      this.#isReady();
      this.#freed();
    } else if (message.sluice === "failed") this.#lastWords = message.error;
    else if (message.sluice !== "left") this.#hearOf(message);
  }

  #hearOf(message: Extract<ToParent, { job: number }>): void {
    const assignment = this.#assigned.get(message.job);
    if (!assignment) return;
    const { job } = assignment;
    if (message.sluice === "begun") assignment.begun();
    else if (message.sluice === "progress") {
      job.progress(message.value === undefined ? undefined : JSON.parse(message.value));
    } else if (message.sluice === "log") {
      const { message: text, data } = JSON.parse(message.line) as { message: string; data?: unknown };
      job.log(text, data);
    } else {
      this.#assigned.delete(message.job);
      this.#aborted.delete(message.job);
      this.#jobsEnded += 1;
      assignment.end(message.ending);
      this.#freed();
    }
  }

  /** No memory, no processes left: it never began, and it has no exit. */
  #failed(error: unknown): void {
    this.#lastWords = storedError(error);
    this.#over({ exitCode: null, signal: null });
  }

  /** What it said before it died may still be in the channel; it is over when the channel is. */
  #exited(exit: Exit): void {
    this.#exit = exit;
    if (this.#process?.connected) setTimeout(() => this.#over(exit), LAST_WORDS_MS);
    else this.#over(exit);
  }

  /** A process on its way out closes the channel first. One that stays cannot be reached any more. */
  #disconnected(): void {
    if (this.#exit) this.#over(this.#exit);
    else setTimeout(() => this.kill(), LEAVE_MS).unref();
  }

  #over(exit: Exit): void {
    const readyMs = this.#readyAt === undefined ? undefined : machineNow() - this.#readyAt;
    const lastWords = this.#lastWords;
    const death = {
      pid: this.pid,
      ...exit,
      byUs: this.#byUs,
      lastWords,
      readyMs,
      jobsEnded: this.#jobsEnded,
    };
    const lost = [...this.#assigned.values()];
    this.#assigned.clear();
    for (const assignment of lost) assignment.lost(death);
    this.#isGone(death);
  }

  #tell(message: ToChild): void {
    // One that is dying hears nothing; its exit says the rest.
    if (this.#process?.connected) this.#process.send(message, () => {});
  }
}
