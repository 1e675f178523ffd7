/** Prints one short line for each event of a worker: time, task, ID, event and duration. */
import type { App } from "../../core/app/app.ts";
import { SluiceError } from "../../core/error.ts";
import { readableJson } from "../../core/readable.ts";
import type { WorkerEvent } from "../../engine/worker/worker.ts";
import type { Ending, Executor, Job } from "../../executor/executor.ts";
import type { Death } from "../../executor/process/death.ts";
import { sayDeath, sayOverstayed } from "../../executor/process/death.ts";
import type { ProcessEvent } from "../../executor/process/process-executor.ts";
import { isAnswer } from "../../store/away.ts";
import { isAboutData } from "../../store/data-error.ts";
import { isLostRace } from "../../store/retry.ts";
import { sayError } from "./remedy.ts";
import { localTime } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import type { Style } from "./table.ts";
import { colours, padTo, safe } from "./text.ts";
import { watchedJob } from "./watched-job.ts";

interface Run {
  readonly name: string;
  readonly attempt: number;
  readonly step: Job["step"];
  startedAt: number;
  error?: string;
}

/**
 * The same error is shown at most once in this time. Otherwise an unreachable store would fill the screen.
 */
const QUIET_MS = 5_000;

export class Activity {
  readonly #options: GlobalOptions;
  readonly #nameWidth: number;
  readonly #runs = new Map<string, Run>();
  #lastError = { text: "", at: Number.NEGATIVE_INFINITY };
  /** Lines about tasks that wait for the banner. Undefined once it is printed. Warnings never wait. */
  #held: string[] | undefined = [];

  /** `options` name the store in the commands that are printed. */
  constructor(tasks: App["tasks"], options: GlobalOptions = {}) {
    this.#options = options;
    this.#nameWidth = Math.max(...[...tasks.keys()].map((name) => name.length), 4);
  }

  /**
   * Called after the banner was printed, or if there will be none. Prints the held lines. From now on every
   * line is printed at once.
   */
  begin(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    if (held.length > 0) process.stdout.write(held.join(""));
  }

  /** Wraps the executor, because the errors and logs of a task can be seen only there. */
  around(executor: Executor): Executor {
    return {
      run: (job) => this.#run(executor, job),
      blocked: () => executor.blocked?.() ?? 0,
      trustedUntil: (until) => executor.trustedUntil?.(until),
      halt: async () => executor.halt?.(),
    };
  }

  async #run(executor: Executor, job: Job): Promise<Ending> {
    const run: Run = {
      name: job.name,
      attempt: job.attempt,
      step: job.step,
      startedAt: performance.now(),
    };
    this.#runs.set(job.id, run);
    const ending = await executor.run(
      watchedJob(job, {
        begins: () => {
          run.startedAt = performance.now();
          const what = job.attempt > 1 ? `started, attempt ${job.attempt}` : "started";
          this.#line(job.id, run, what, colours.dim);
        },
        log: (message, data) => {
          const more = data === undefined ? "" : ` ${readableJson(data)}`;
          this.#line(job.id, run, `| ${message}${more}`, colours.dim);
        },
      }),
    );
    if (!ending.ok) run.error = ending.error.message;
    if ((job.signal.reason as { code?: unknown } | undefined)?.code === "CANCELLED") {
      this.#runs.delete(job.id);
      this.#line(job.id, run, `cancelled after ${took(run)}`, colours.yellow);
    }
    return ending;
  }

  readonly watch = (event: WorkerEvent): void => {
    if (event.kind === "finished") this.#finished(event.id, event.to);
    else if (event.kind === "refused") this.#refused(event.id);
    else if (event.kind === "sessionEnded")
      this.#warn(`The lease was lost. ${this.#aborted()} Starting a new session.`);
    else if (event.kind === "storeGone") this.#warn(`The store is gone. ${this.#aborted()}`);
    else if (event.kind === "error") this.#failed(event.error);
  };

  readonly watchProcesses = (event: ProcessEvent): void => {
    if (event.kind !== "died") return;
    const { death, hasSuccessor } = event;
    // A first process that never became ready fails the start, which reports it. A process that was told to
    // leave exits with 0.
    if (!hasSuccessor && (death.readyMs === undefined || death.exitCode === 0)) return;
    const ended = asSentence(`Process ${death.pid} ${sayEnd(death)}`);
    this.#warn(`${ended}${hasSuccessor ? " A new process replaces it." : ""}`);
  };

  #finished(id: string, to: string): void {
    const run = this.#runs.get(id);
    if (!run) return;
    this.#runs.delete(id);
    const error = run.error === undefined ? "" : `: ${run.error}`;
    if (to === "succeeded") this.#line(id, run, `done in ${took(run)}`, colours.green);
    else if (to === "retry")
      this.#line(id, run, `failed after ${took(run)}, will be retried${error}`, colours.yellow);
    else if (to === "failed") this.#line(id, run, `failed after ${took(run)}${error}`, colours.red);
    else if (to === "quarantined")
      this.#line(id, run, `quarantined, not retried automatically${error}`, colours.red);
    else if (to === "returned") this.#line(id, run, "back in line", colours.dim);
    else this.#line(id, run, to, colours.dim);
  }

  /** Lists all running tasks. This worker no longer holds any of them. */
  #aborted(): string {
    const ids = [...this.#runs.keys()];
    this.#runs.clear();
    return ids.length === 0 ? "Nothing was running." : `Aborted: ${ids.join(", ")}.`;
  }

  #refused(id: string): void {
    this.#warn(`The report of ${id} came too late: this worker no longer holds it.`);
  }

  #failed(error: unknown): void {
    const text = safe(sayError(error, this.#options));
    const now = performance.now();
    if (text === this.#lastError.text && now - this.#lastError.at < QUIET_MS) return;
    this.#lastError = { text, at: now };
    // Our own errors say what is wrong. Only a lost connection means that the store cannot be reached.
    const { code } = error as { code?: unknown };
    if (code === "STORE_UNREACHABLE" || code === "STORE_REFUSED")
      this.#warn(`${asSentence(text)} Trying again.`);
    else if (isRefusal(error)) this.#warn(`The store refused: ${asSentence(text)} Trying again.`);
    else this.#warn(isAway(error) ? `The store could not be reached, trying again: ${text}` : text);
  }

  #line(id: string, { name, step }: Run, what: string, style: Style): void {
    const of = step ? colours.dim(`  (step ${safe(step.name)} of run ${step.run})`) : "";
    const line = `${localTime()}  ${padTo(safe(name), this.#nameWidth)}  ${id}  ${style(safe(what))}${of}\n`;
    if (this.#held) this.#held.push(line);
    else process.stdout.write(line);
  }

  #warn(text: string): void {
    process.stdout.write(`${localTime()}  ${colours.yellow(safe(text))}\n`);
  }
}

/** A driver's message may lack a full stop. */
const asSentence = (text: string): string => (text.endsWith(".") ? text : `${text}.`);

function sayEnd(death: Death): string {
  if (death.readyMs === undefined) return `could not load the app: it ${sayDeath(death)}`;
  if (death.overstayed) return `was killed because ${sayOverstayed(death.overstayed)}`;
  if (death.killedFor === "deaf") return "was killed because its code did not stop when told to";
  return death.killedFor === "silent" ? "was killed because it did not answer" : sayDeath(death);
}

/** A store that answered is not called unreachable. */
const isRefusal = (error: unknown): boolean =>
  !(error instanceof SluiceError) && isAnswer(error) && !isLostRace(error) && !isAboutData(error);

function isAway(error: unknown): boolean {
  const { name, code } = error as { name?: unknown; code?: unknown };
  if (name === "SluiceError") return code === "AMBIGUOUS_COMMIT";
  return !isLostRace(error) && !isAboutData(error);
}

function took({ startedAt }: Run): string {
  const ms = performance.now() - startedAt;
  return ms < 1000 ? `${Math.round(ms)}ms` : `${(ms / 1000).toFixed(1)}s`;
}
