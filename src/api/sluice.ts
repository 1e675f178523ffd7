/**
 * The verbs that every program and every surface calls: enqueue, look, explain, change, run a worker. They take and return
 * plain data and know nothing of transports.
 */
import type { App } from "../core/app/app.ts";
import { SluiceError } from "../core/error.ts";
import type { AnyTask, InputOf, OutputOf } from "../core/task/definition.ts";
import type { EnqueueOptions } from "../core/task/enqueue-options.ts";
import { shortly } from "../core/text.ts";
import type { Carrying } from "../core/workflow/carried.ts";
import type { AnyWorkflow, RunInputOf } from "../core/workflow/definition.ts";
import type { SignalOptions, SignalSent } from "../core/workflow/signal-options.ts";
import type { SubmitOptions } from "../core/workflow/submit-options.ts";
import type { AsJson } from "../core/workflow/wired.ts";
import { closeFeed } from "../engine/feed/followers.ts";
import type { StopOptions } from "../engine/service.ts";
import type { Env } from "../env/env.ts";
import { closed, Lifetime } from "../store/lifetime.ts";
import type { AsideRow, EventRow, NewTask, Store, TaskFilter, TaskRow } from "../store/store.ts";
import type { OptionNames, WaitOptions, Within } from "./call-options.ts";
import {
  checkList,
  knownOptions,
  OF_ENQUEUE,
  OF_ENQUEUING,
  OF_EXECUTE,
  OF_SUBMIT,
  signalOf,
  stopOptions,
  WITHIN,
} from "./call-options.ts";
import type { LockHandle, LockName, Mutex } from "./code-locks.ts";
import { CodeLocks } from "./code-locks.ts";
import type { LockAccess } from "./connect-options.ts";
import { limitsOf } from "./declaration.ts";
import type { Deployed, DeployOptions } from "./deploy.ts";
import { deployApp, OF_DEPLOY } from "./deploy.ts";
import type { Diagnosis } from "./doctor/doctor.ts";
import { untilEnded } from "./ended.ts";
import type { Explanation } from "./explain.ts";
import { explainUnit } from "./explain-unit.ts";
import type { ChangeFeed, ChangeFilter } from "./feed.ts";
import { Changes } from "./feed.ts";
import { taskFilter } from "./filters.ts";
import { LargeAsks } from "./large-asks.ts";
import { Limits, Queues } from "./limits.ts";
import { Locks } from "./locks.ts";
import { newRun } from "./new-run.ts";
import { newTask } from "./new-task.ts";
import { checkQueue, taskOf, workflowOf } from "./part-of-app.ts";
import { Pools } from "./pools.ts";
import { rootOf } from "./root-of.ts";
import { RunQueue } from "./run-queue.ts";
import { Runs } from "./runs.ts";
import { Schedules } from "./schedules.ts";
import { SharedAccess } from "./shared-access.ts";
import { SharedLocks } from "./shared-locks.ts";
import { newSignal } from "./signals.ts";
import type { RunningWorker } from "./start-worker.ts";
import type { StoppingView } from "./stopping.ts";
import { stoppingNow } from "./stopping.ts";
import { answersOf } from "./task-calls.ts";
import type { TaskView } from "./task-view.ts";
import { taskView } from "./task-view.ts";
import { neededApp, notRetried, unknownTask } from "./unknown.ts";
import type { WorkerSettings } from "./worker-settings.ts";
import type { WorkerView } from "./worker-view.ts";
import { workersOf } from "./worker-view.ts";

type ResultOf<Task extends AnyTask> = AsJson<OutputOf<Task>>;

/** One call of `enqueue` among many. */
interface Enqueuing<Task extends AnyTask = AnyTask> {
  readonly task: Task;
  readonly input: InputOf<Task>;
  readonly options?: EnqueueOptions;
}

const OF_CALL: OptionNames<Enqueuing> = { task: true, input: true, options: true };

export class Sluice implements AsyncDisposable {
  readonly store: Store;
  readonly limits: Limits;
  readonly queues: Queues;
  readonly pools: Pools;
  /** Mutexes and semaphores. */
  readonly locks: Locks;
  readonly runs: Runs;
  readonly shared: SharedLocks;
  /** The line of runs. */
  readonly queue: RunQueue;
  /** Schedules, sensors and automations, which start runs automatically. */
  readonly schedules: Schedules;
  readonly #access: SharedAccess;
  readonly #app: App | undefined;
  readonly #env: Env;
  readonly #workers = new Set<Promise<RunningWorker>>();
  readonly #life = new Lifetime();
  readonly #codeLocks: CodeLocks;
  readonly #large: LargeAsks;

  constructor(store: Store, app: App | undefined, env: Env, { locks = {}, sync }: LockAccess = {}) {
    this.store = store;
    this.#app = app;
    this.#env = env;
    this.#access = new SharedAccess(sync);
    this.shared = new SharedLocks(this.#access);
    this.limits = new Limits(store, app ? limitsOf(app).keys() : []);
    this.queues = new Queues(store);
    this.pools = new Pools(store, this.limits);
    this.locks = new Locks(store, this.limits, env);
    this.runs = new Runs(store, app, env, this.#access);
    this.queue = new RunQueue(store, this.limits, this.#access);
    this.schedules = new Schedules(store, app, env);
    this.#large = new LargeAsks(store, app);
    this.#codeLocks = new CodeLocks(store, env, locks, this.#large);
  }

  /** Puts one task in line. `within` is your own PostgreSQL client with an open transaction. */
  async enqueue<Task extends AnyTask>(
    task: Task | string,
    input: InputOf<Task>,
    given: EnqueueOptions & Within = {},
  ): Promise<{ id: string; created: boolean }> {
    const known = taskOf(this.#app, task);
    const { within, ...options } = knownOptions(`task "${known.id}"`, given, OF_ENQUEUE);
    const [enqueued] = await this.#enqueue([{ task: known, input, options }], within);
    return enqueued as { id: string; created: boolean };
  }

  /** Puts many tasks in line in one transaction: all of them or none. */
  async enqueueMany(
    calls: readonly Enqueuing[],
    given: Within = {},
  ): Promise<{ id: string; created: boolean }[]> {
    const { within } = knownOptions("enqueueMany", given, WITHIN);
    checkList("enqueueMany: the calls", calls);
    return this.#enqueue(
      calls.map((call) => {
        const { task, ...rest } = knownOptions("enqueueMany", call, OF_CALL);
        return { ...rest, task: taskOf(this.#app, task) };
      }),
      within,
    );
  }

  async #enqueue(calls: readonly Enqueuing[], within: unknown): Promise<{ id: string; created: boolean }[]> {
    const tasks: NewTask[] = [];
    for (const { task, input, options = {} } of calls) {
      knownOptions(`task "${task.id}"`, options, OF_ENQUEUING);
      checkQueue(this.#app, task, options.queue);
      tasks.push(await newTask(task, input, options, this.#env.newId(), this.#app));
    }
    await this.#large.refuseIn(tasks);
    const enqueued = await this.store.enqueue(tasks, within);
    if (within === undefined) this.#tell(tasks);
    return enqueued;
  }

  #tell(tasks: readonly NewTask[]): void {
    const delayed = tasks.filter(({ runAt, delayMs }) => runAt !== null || delayMs !== null).length;
    if (delayed > 0) this.store.hint("later");
    if (delayed < tasks.length) this.store.hint("work");
  }

  /** A lock that one holder has at a time. It stands in the same line as the steps and workflows that name it. */
  mutex(name: string, options: LockName = {}): Mutex {
    return this.#codeLocks.named("mutex", name, options);
  }

  /** A lock with as many slots as its limit. Until somebody sets the limit, requests wait. */
  semaphore(name: string, options: LockName = {}): LockHandle {
    return this.#codeLocks.named("semaphore", name, options);
  }

  /** Slots of a pool, as tasks and steps hold them. */
  pool(name: string): LockHandle {
    return this.#codeLocks.pool(name);
  }

  /** Puts a run in line. It starts when the run cap and the limits of its tags admit it. */
  async submit<Workflow extends AnyWorkflow>(
    workflow: Workflow | string,
    input: RunInputOf<Workflow>,
    given: SubmitOptions & Within = {},
  ): Promise<{ id: string; created: boolean }> {
    const { within, ...options } = knownOptions(called(workflow), given, OF_SUBMIT);
    return this.#submit(workflow, input, { ...options, direct: false }, within);
  }

  /** Starts a run at once, past the run cap and the tag limits. It still counts there, so they can show `12/10`. */
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
    const { app, known } = workflowOf(this.#app, workflow);
    const run = await newRun(app, known, input, { ...options, id: this.#env.newId() });
    await this.#large.refuseIn([run]);
    const [submitted] = await this.store.submit([run], within);
    if (within === undefined) this.store.hint(options.delay || options.runAt ? "later" : "runs");
    return submitted as { id: string; created: boolean };
  }

  /**
   * Sends a signal of an event: it answers every step that waits for it, in each run at most one. It is kept for a day, or
   * for `keep`, for steps that begin to wait later.
   */
  async signal<Input>(
    event: (Carrying<Input, unknown> & { readonly id: string }) | string,
    payload: Input,
    options: SignalOptions = {},
  ): Promise<SignalSent> {
    const made = await newSignal(this.#app, event, payload, options, this.#env.newId());
    const sent = await this.store.signal(made);
    if (sent.woken > 0) this.store.hint("runs");
    return sent;
  }

  /** Explains why a task is not running: every gate in its way, the holders, and what would end the wait. */
  explain(id: string): Promise<Explanation> {
    return explainUnit(this.store, this.#access, id);
  }

  /** Its result has the form in which it was stored: JSON. */
  async get<Task extends AnyTask = AnyTask>(id: string): Promise<TaskView<ResultOf<Task>> | undefined> {
    const row = await this.store.task(id);
    return row && taskView(row);
  }

  /** Resolves when the task has ended, in whatever way. The signal ends the waiting, not the task. */
  async ended<Task extends AnyTask = AnyTask>(
    id: string,
    options: WaitOptions = {},
  ): Promise<TaskView<ResultOf<Task>>> {
    const signal = signalOf("ended", options);
    const row = await untilEnded(this.store, id, signal, this.#env);
    if (!row) throw unknownTask(id);
    return taskView(row);
  }

  async list(filter: Partial<TaskFilter> = {}): Promise<TaskView[]> {
    const rows: TaskRow[] = await this.store.tasks({ limit: 50, ...taskFilter(filter) });
    return rows.map((row) => taskView(row));
  }

  /**
   * Streams the changes of tasks, runs, limits and workers from now on, in order and without gaps. With `after`, it resumes
   * at a cursor. It fails with FEED_EXPIRED if changes may have been missed.
   */
  changes(filter: ChangeFilter = {}): ChangeFeed {
    return new Changes(this.store, this.#env, filter);
  }

  events(id: string): Promise<EventRow[]> {
    return this.store.events(id);
  }

  /** Lists code that was told to stop and still runs: all of it, or the code of one task or run. */
  stopping(id?: string): Promise<StoppingView[]> {
    return stoppingNow(this.store, id);
  }

  /** The time of the store's clock. All times in views come from this clock. */
  now(): Promise<number> {
    return this.store.now();
  }

  /** Up to ten IDs of tasks and runs that start with the prefix. An exact match comes first. */
  find(prefix: string): Promise<string[]> {
    return this.store.find(prefix);
  }

  /** The workers whose lease has not run out. */
  workers(): Promise<WorkerView[]> {
    return workersOf(this.store);
  }

  /** Checks the promises of the store, and the settings of its database. */
  async examine(): Promise<Diagnosis> {
    const { examine } = await import("./doctor/doctor.ts");
    return examine(this.store, { shared: this.#access });
  }

  /**
   * Cancels a task at once, whatever its state. A waiting task leaves the line and holds nothing. A running task is told to
   * stop by its signal. It holds its slots until its code has ended, its process is gone, or its worker's lease has run out.
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
      throw notRetried(task, await rootOf(this.store, task));
    }
    this.store.hint("work");
    return retried;
  }

  /**
   * Restores a lane that was set aside because it could not be processed. The ID is that of the lane, or of a task or run
   * in it. All units of the lane are restored.
   */
  async restore(id: string, by = "code"): Promise<AsideRow> {
    const restored = await this.store.restore(id, by);
    if (!restored)
      throw new SluiceError("NOT_ASIDE", `${id} was not set aside.`, { remedies: [{ action: "inspect" }] });
    for (const hint of ["work", "runs", "later"] as const) this.store.hint(hint);
    return restored;
  }

  /** Tells workers to look for work. Call it after you commit a transaction of your own that enqueued. */
  wake(): void {
    this.store.hint("work");
  }

  /**
   * Declares the app's limits, ranks and triggers, and replaces what was deployed before. Limits set by an operator stay.
   * `file` is the app's own file. If the app has no name, it gets the name of that file's package.
   */
  async deploy(options: DeployOptions = {}): Promise<Deployed> {
    const { file } = knownOptions("deploy", options, OF_DEPLOY);
    return deployApp(this.store, neededApp(this.#app, "To deploy"), file);
  }

  /** Runs tasks in this process until it is stopped. It declares the app's limits first, unless a later deploy has replaced them. */
  async worker(settings: WorkerSettings = {}): Promise<RunningWorker> {
    const app = neededApp(this.#app, "To run a worker");
    if (this.#life.isOver) throw closed();
    // Most programs only look or enqueue, so they should not load the code of a worker.
    const starting = import("./start-worker.ts").then(({ startWorker }) =>
      startWorker(this.store, app, this.#env, settings, answersOf(this)),
    );
    // A starting worker may already hold claims, which a close must give back.
    this.#workers.add(starting);
    starting.catch(() => this.#workers.delete(starting));
    return starting;
  }

  /**
   * Stops the workers that were started here, and closes the store. Tasks that still run may use it until they have
   * ended. All calls wait for the same end; a later one can shorten the grace period.
   */
  async close(options: StopOptions = {}): Promise<void> {
    // The tasks of these workers may hold locks until they have ended.
    const stopping = this.#stopWorkers(stopOptions("close", options)).finally(() =>
      this.#codeLocks.close(options),
    );
    const ending = this.#life.close(() => stopping.finally(() => this.#closeStore()));
    await Promise.all([stopping, ending]);
  }

  async #stopWorkers(options: StopOptions): Promise<void> {
    const started = await Promise.allSettled(this.#workers);
    const workers = started.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    await Promise.all(workers.map((worker) => worker.stop(options)));
  }

  async #closeStore(): Promise<void> {
    closeFeed(this.store);
    await this.#access.close();
    return this.store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

const called = (workflow: AnyWorkflow | string): string =>
  `workflow ${shortly(typeof workflow === "object" && workflow !== null ? workflow.id : workflow)}`;
