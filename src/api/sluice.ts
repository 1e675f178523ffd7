/**
 * What every surface and every program calls: enqueue, look, explain, change, run a worker. Plain data in and out,
 * no words of any transport.
 */
import type { App } from "../core/app/app.ts";
import { didYouMean } from "../core/app/near.ts";
import { SluiceError } from "../core/error.ts";
import type { Ask } from "../core/gate/gate.ts";
import type { AnyTask, InputOf, OutputOf } from "../core/task/definition.ts";
import { shortly } from "../core/text.ts";
import { storedOptions } from "../core/unit-options.ts";
import type { AnyWorkflow, RunInputOf } from "../core/workflow/definition.ts";
import { namingPauses, waitsIn } from "../engine/claiming/wait.ts";
import { closeFeed } from "../engine/feed/followers.ts";
import type { Env } from "../env/env.ts";
import { hostEnv } from "../env/host.ts";
import { checked } from "../store/checked.ts";
import { asksOf } from "../store/lane.ts";
import type { AsideRow, EventRow, NewTask, Store, TaskFilter, TaskRow } from "../store/store.ts";
import { RUNS } from "../store/store.ts";
import type { Within } from "./call-options.ts";
import { knownOptions, OF_ENQUEUE, OF_ENQUEUING, OF_EXECUTE, OF_SUBMIT, WITHIN } from "./call-options.ts";
import { limitsOf } from "./declaration.ts";
import type { Deployed } from "./deploy.ts";
import { declareApp } from "./deploy.ts";
import type { Diagnosis } from "./doctor/doctor.ts";
import { untilEnded } from "./ended.ts";
import type { Explanation } from "./explain.ts";
import { explainWait, isUnset, timesInLine } from "./explain.ts";
import type { ChangeFilter, ChangeView } from "./feed.ts";
import { changesOf } from "./feed.ts";
import { Limits, Queues } from "./limits.ts";
import type { SubmitOptions } from "./new-run.ts";
import { newRun } from "./new-run.ts";
import type { EnqueueOptions } from "./new-task.ts";
import { largeAsks, newTask, refuseNever } from "./new-task.ts";
import { DEFAULT_STORE, openStore } from "./open-store.ts";
import { Pools } from "./pools.ts";
import { RunQueue } from "./run-queue.ts";
import { Runs } from "./runs.ts";
import { Schedules } from "./schedules.ts";
import type { RunningWorker } from "./start-worker.ts";
import type { StoppingView } from "./stopping.ts";
import { stoppingNow } from "./stopping.ts";
import type { TaskView } from "./task-view.ts";
import { taskView } from "./task-view.ts";
import { unknownTask } from "./unknown.ts";
import type { WorkerSettings } from "./worker-settings.ts";

export type { RunningWorker, WorkerSettings };

export interface ConnectOptions {
  /** A URL, or a store that is open already. */
  readonly store?: string | Store;
  /** Whose tasks are enqueued and run; without one, only looking and changing is possible. */
  readonly app?: App;
  /** Bring the schema up to date. The embedded store always does; others are only checked unless asked. */
  readonly migrate?: boolean;
  readonly env?: Env;
}

/** A worker that is alive. */
interface WorkerView {
  /** Its session, by which tasks name it. */
  readonly session: string;
  readonly name: string;
  readonly slots: number;
}

/** One call of `enqueue` among many. */
interface Enqueuing<Task extends AnyTask = AnyTask> {
  readonly task: Task;
  readonly input: InputOf<Task>;
  readonly options?: EnqueueOptions;
}

/** Opens a store to enqueue and to look. It changes no limit: workers declare them when they start, and `deploy`. */
export async function connect(options: ConnectOptions = {}): Promise<Sluice> {
  const { store = DEFAULT_STORE, app, migrate = false, env = hostEnv() } = options;
  const opened = checked(typeof store === "string" ? await openStore(store, { migrate }) : store);
  return new Sluice(opened, app, env);
}

export class Sluice implements AsyncDisposable {
  readonly store: Store;
  readonly limits: Limits;
  readonly queues: Queues;
  readonly pools: Pools;
  readonly runs: Runs;
  /** The line of runs. */
  readonly queue: RunQueue;
  /** What starts runs by itself. */
  readonly schedules: Schedules;
  readonly #app: App | undefined;
  readonly #env: Env;
  readonly #workers = new Set<Promise<RunningWorker>>();

  constructor(store: Store, app: App | undefined, env: Env) {
    this.store = store;
    this.#app = app;
    this.#env = env;
    this.limits = new Limits(store, app ? limitsOf(app).keys() : []);
    this.queues = new Queues(store);
    this.pools = new Pools(store, this.limits);
    this.runs = new Runs(store, app, env);
    this.queue = new RunQueue(store);
    this.schedules = new Schedules(store, app, env);
  }

  /** Puts one task in line. `within`: your own PostgreSQL client, with its transaction open. */
  async enqueue<Task extends AnyTask>(
    task: Task | string,
    input: InputOf<Task>,
    given: EnqueueOptions & Within = {},
  ): Promise<{ id: string; created: boolean }> {
    const known = this.#known(task);
    const { within, ...options } = knownOptions(`task "${known.id}"`, given, OF_ENQUEUE);
    const [enqueued] = await this.#enqueue([{ task: known, input, options }], within);
    return enqueued as { id: string; created: boolean };
  }

  /** Many at once, in one transaction: all of them or none. */
  async enqueueMany(
    calls: readonly Enqueuing[],
    given: Within = {},
  ): Promise<{ id: string; created: boolean }[]> {
    const { within } = knownOptions("enqueueMany", given, WITHIN);
    return this.#enqueue(
      calls.map((call) => ({ ...call, task: this.#known(call.task) })),
      within,
    );
  }

  async #enqueue(calls: readonly Enqueuing[], within: unknown): Promise<{ id: string; created: boolean }[]> {
    const tasks: NewTask[] = [];
    for (const { task, input, options = {} } of calls) {
      knownOptions(`task "${task.id}"`, options, OF_ENQUEUING);
      this.#checkQueue(task, options.queue);
      tasks.push(await newTask(task, input, options, this.#env.newId(), this.#app?.pools));
    }
    await this.#refuseNever(tasks);
    const enqueued = await this.store.enqueue(tasks, within);
    if (within === undefined) this.#tell(tasks);
    return enqueued;
  }

  #tell(tasks: readonly NewTask[]): void {
    const delayed = tasks.filter(({ runAt, delayMs }) => runAt !== null || delayMs !== null).length;
    if (delayed > 0) this.store.hint("later");
    if (delayed < tasks.length) this.store.hint("work");
  }

  async #refuseNever(tasks: readonly NewTask[]): Promise<void> {
    const large = [...new Set(tasks.map(({ lane }) => lane.asks))].flatMap((asks) => largeAsks(asksOf(asks)));
    await this.#refuseAsks(large);
  }

  /** Where a gate has no limit yet, the one counts that the app will bring. */
  async #refuseAsks(large: readonly Ask[]): Promise<void> {
    if (large.length === 0) return;
    const limits = await this.store.limits(large.map(({ gate }) => gate));
    refuseNever(large, limits, this.#app && limitsOf(this.#app));
  }

  /** A task by its definition, or by its id where only the app knows it. */
  #known(task: AnyTask | string): AnyTask {
    const id = typeof task === "string" ? task : task.id;
    const known = this.#app?.tasks.get(id);
    if (known) return known;
    throw new SluiceError(
      "UNKNOWN_TASK",
      `task "${id}" is not part of this app.${didYouMean(id, [...(this.#app?.tasks.keys() ?? [])])} Add it to defineApp({ tasks: [ … ] }).`,
    );
  }

  #checkQueue(task: AnyTask, queue: string | undefined): void {
    if (queue === undefined || this.#app?.queues.some(({ name }) => name === queue)) return;
    const known = (this.#app?.queues ?? []).map(({ name }) => name);
    throw new SluiceError(
      "UNKNOWN_QUEUE",
      `task "${task.id}": there is no queue ${shortly(queue)}.${didYouMean(String(queue), known)} The app declares: ${known.join(", ")}.`,
    );
  }

  /** Puts a run in line: it starts when the run cap and the limits of its tags let it in. */
  async submit<Workflow extends AnyWorkflow>(
    workflow: Workflow | string,
    input: RunInputOf<Workflow>,
    given: SubmitOptions & Within = {},
  ): Promise<{ id: string; created: boolean }> {
    const { within, ...options } = knownOptions(called(workflow), given, OF_SUBMIT);
    return this.#submit(workflow, input, { ...options, direct: false }, within);
  }

  /** Runs now, past the run cap and the limits of tags; it counts at them, so `12/10` can be read there. */
  async execute<Workflow extends AnyWorkflow>(
    workflow: Workflow | string,
    input: RunInputOf<Workflow>,
    given: Omit<SubmitOptions, "delay" | "runAt"> = {},
  ): Promise<{ id: string; created: boolean }> {
    const options = knownOptions(called(workflow), given, OF_EXECUTE);
    return this.#submit(workflow, input, { ...options, direct: true }, undefined);
  }

  async #submit(
    workflow: AnyWorkflow | string,
    input: unknown,
    options: SubmitOptions & { readonly direct: boolean },
    within: unknown,
  ): Promise<{ id: string; created: boolean }> {
    const { app, known } = this.#knownWorkflow(workflow);
    const run = await newRun(app, known, input, { ...options, id: this.#env.newId() });
    await this.#refuseAsks(largeAsks(asksOf(run.lane.asks)));
    const [submitted] = await this.store.submit([run], within);
    if (within === undefined) this.store.hint(options.delay || options.runAt ? "later" : "runs");
    return submitted as { id: string; created: boolean };
  }

  #knownWorkflow(workflow: AnyWorkflow | string): { app: App; known: AnyWorkflow } {
    const id = typeof workflow === "string" ? workflow : workflow.id;
    const known = this.#app?.workflows.get(id);
    if (this.#app && known) return { app: this.#app, known };
    throw new SluiceError(
      "UNKNOWN_WORKFLOW",
      `workflow "${id}" is not part of this app.${didYouMean(id, [...(this.#app?.workflows.keys() ?? [])])} Add it to defineApp({ workflows: [ … ] }).`,
    );
  }

  /** Why a task is not running: every gate in the way, who holds it, and what would change it. */
  async explain(id: string): Promise<Explanation> {
    const view = await this.store.wait(id);
    if (!view) throw unknownTask(id);
    const { task, now } = view;
    const stays = timesInLine(task, await this.store.events(id));
    const waits = waitsIn(await this.store.events(task.lane), stays, now);
    const told = explainWait(view);
    const explanation = isUnset(told) ? explainWait(view, await this.store.replaced()) : told;
    return { ...explanation, waits: namingPauses(waits, view.gates) };
  }

  async get<Task extends AnyTask = AnyTask>(id: string): Promise<TaskView<OutputOf<Task>> | undefined> {
    const row = await this.store.task(id);
    return row && taskView(row);
  }

  /** The task once it has ended, however it did. A signal ends the waiting, not the task. */
  async ended<Task extends AnyTask = AnyTask>(
    id: string,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<TaskView<OutputOf<Task>>> {
    const row = await untilEnded(this.store, id, signal, this.#env);
    if (!row) throw unknownTask(id);
    return taskView(row);
  }

  async list(filter: Partial<TaskFilter> = {}): Promise<TaskView[]> {
    const rows: TaskRow[] = await this.store.tasks({ limit: 50, ...filter });
    return rows.map((row) => taskView(row));
  }

  /**
   * What happens from now on, in order and without gaps: to tasks, runs, limits, workers. With `after`, what has happened
   * since a cursor. Ends with FEED_EXPIRED where something may have been missed.
   */
  changes(filter: ChangeFilter = {}): AsyncIterable<ChangeView> {
    return changesOf(this.store, this.#env, filter);
  }

  events(id: string): Promise<EventRow[]> {
    return this.store.events(id);
  }

  /** Code that should have ended and still runs: all of it, or that of one task or run. */
  stopping(id?: string): Promise<StoppingView[]> {
    return stoppingNow(this.store, id);
  }

  /** The store's own clock. Every instant that a view tells is an instant of it. */
  now(): Promise<number> {
    return this.store.now();
  }

  /** Ids of tasks and runs that begin so, ten at most. An id that is there exactly as written comes first. */
  find(prefix: string): Promise<string[]> {
    return this.store.find(prefix);
  }

  /** Workers whose lease has not lapsed. */
  async workers(): Promise<WorkerView[]> {
    return (await this.store.sessions()).map(({ id, name, slots }) => ({ session: id, name, slots }));
  }

  /** Whether the store keeps its promises, and whether the database under it lets it. */
  async examine(): Promise<Diagnosis> {
    const { examine } = await import("./doctor/doctor.ts");
    return examine(this.store);
  }

  /**
   * Wherever it is, it is cancelled at once. What waits is taken out of line, and holds nothing. What runs is told to stop
   * by its signal, and holds its slots until its code has ended, its process is gone, or its worker's lease has lapsed.
   */
  async cancel(id: string, by = "code"): Promise<{ was: TaskRow["state"] }> {
    const cancelled = await this.store.cancel(id, by);
    if (!cancelled) throw unknownTask(id);
    for (const hint of ["cancel", "work", "runs"] as const) this.store.hint(hint);
    return cancelled;
  }

  /** Puts a finished task back in line, with all its attempts. */
  async retry(id: string, by = "code"): Promise<{ was: TaskRow["state"] }> {
    const retried = await this.store.retry(id, by);
    if (!retried) {
      const task = await this.store.task(id);
      if (!task) throw unknownTask(id);
      throw notRetried(task);
    }
    this.store.hint("work");
    return retried;
  }

  /**
   * Puts back what was set aside because it could not be processed: by the id of a task or a run, or of its lane. All of
   * its kind come back with it.
   */
  async restore(id: string, by = "code"): Promise<AsideRow> {
    const restored = await this.store.restore(id, by);
    if (!restored)
      throw new SluiceError("NOT_ASIDE", `${id} was not set aside.`, { remedies: [{ action: "inspect" }] });
    for (const hint of ["work", "runs", "later"] as const) this.store.hint(hint);
    return restored;
  }

  /** Tells workers to look: for work that came in through your own transaction. */
  wake(): void {
    this.store.hint("work");
  }

  /**
   * Makes the app's limits, ranks and triggers those in force, whatever was deployed before; what an operator has set
   * stays. `file`: the app's own file, whose package gives an app its name that has none.
   */
  async deploy({ file }: { readonly file?: string | URL } = {}): Promise<Deployed> {
    if (!this.#app) throw new SluiceError("NO_APP", "A deploy needs an app: connect({ app }).");
    return declareApp(this.store, this.#app, { occasion: "deploy", file });
  }

  /** Runs tasks in this process until it is stopped. It declares the app's limits first, unless a later deploy has replaced them. */
  async worker(settings: WorkerSettings = {}): Promise<RunningWorker> {
    const app = this.#app;
    if (!app) throw new SluiceError("NO_APP", "A worker needs an app: connect({ app }).");
    // Most who connect only look, or enqueue: they need not load all that a worker is.
    const starting = import("./start-worker.ts").then(({ startWorker }) =>
      startWorker(this.store, app, this.#env, settings),
    );
    // Known from now on: it may hold claims before it is up, and a close must give them back.
    this.#workers.add(starting);
    starting.catch(() => this.#workers.delete(starting));
    return starting;
  }

  /** Stops the workers that were started here, and closes the store. */
  async close(options: { graceMs?: number } = {}): Promise<void> {
    const started = await Promise.allSettled(this.#workers);
    const workers = started.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    await Promise.all(workers.map((worker) => worker.stop(options)));
    closeFeed(this.store);
    await this.store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Steps and runs are run again as runs, so that what follows from them follows. */
function notRetried({ id, state, queue, options }: TaskRow): SluiceError {
  const run = queue === RUNS ? id : storedOptions(options).step?.run;
  if (run === undefined)
    return new SluiceError(
      "NOT_FINISHED",
      `task ${id} is ${state}; only a finished task can be put back in line.`,
    );
  const what = run === id ? "a run" : `a step of run ${run}`;
  return new SluiceError("PART_OF_A_RUN", `${id} is ${what}.`, { remedies: [{ action: "rerun", run }] });
}

const called = (workflow: AnyWorkflow | string): string =>
  `workflow "${typeof workflow === "string" ? workflow : workflow.id}"`;
