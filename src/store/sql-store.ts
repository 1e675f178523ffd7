/** The store over any SQL database: each verb is a flow, the database runs it. */
import { SluiceError } from "../core/error.ts";
import type { Database, Flow } from "./flow.ts";
import { advance } from "./query/advance.ts";
import { enqueue, enqueueAgain, enqueued } from "./query/enqueue.ts";
import * as hand from "./query/hand.ts";
import * as handRun from "./query/hand-run.ts";
import { inspect } from "./query/inspect.ts";
import { pass } from "./query/pass.ts";
import * as read from "./query/read.ts";
import * as readRun from "./query/read-run.ts";
import * as session from "./query/session.ts";
import { submit } from "./query/submit.ts";
import { tend } from "./query/tend.ts";
import * as trigger from "./query/triggers.ts";
import { wait } from "./query/wait.ts";
import { isAmbiguous } from "./retry.ts";
import type { Dialect } from "./sql.ts";
import type * as S from "./store.ts";
import type * as T from "./triggers.ts";

/** What a database adds to flows: its schema, wake-ups, and a caller's own transaction. */
export interface SqlDatabase extends Database {
  readonly dialect: Dialect;
  migrate(): Promise<void>;
  verify(): Promise<void>;
  listen(hear: (hint: string) => void): Promise<() => Promise<void>>;
  hint(hint: string): void;
  /** Runs a flow inside a transaction of the caller's. */
  within?<T>(transaction: unknown, flow: () => Flow<T>): Promise<T>;
  /** What it stands on and SQL cannot tell. */
  ground?(): Record<string, string>;
  /** Housekeeping after so many claims; must never fail the caller. */
  upkeep?(claims: number): void;
}

export class SqlStore implements S.Store {
  readonly #db: SqlDatabase;

  constructor(db: SqlDatabase) {
    this.#db = db;
  }

  get kind(): Dialect {
    return this.#db.dialect;
  }

  migrate(): Promise<void> {
    return this.#db.migrate();
  }

  verify(): Promise<void> {
    return this.#db.verify();
  }

  now(): Promise<number> {
    return this.#db.read(() => read.clock());
  }

  /** To declare twice is to declare once, so a lost answer needs no looking. */
  async declare(declaration: S.Declaration): Promise<void> {
    const again = (error: unknown): Promise<void> => {
      if (!isAmbiguous(error)) throw error;
      return this.#db.transact(() => hand.declare(declaration));
    };
    await this.#db.transact(() => hand.declare(declaration)).catch(again);
  }

  async enqueue(tasks: readonly S.NewTask[], within?: unknown): Promise<S.Enqueued[]> {
    if (tasks.length === 0) return [];
    if (within !== undefined) return this.#within(within, () => enqueue(tasks));
    return this.#insert(tasks, (isAgain) => (isAgain ? enqueueAgain(tasks) : enqueue(tasks)));
  }

  async submit(runs: readonly S.NewRun[], within?: unknown): Promise<S.Enqueued[]> {
    if (runs.length === 0) return [];
    if (within !== undefined) return this.#within(within, () => submit(runs));
    return this.#insert(runs, (isAgain) => submit(runs, isAgain));
  }

  async #insert(
    units: readonly S.NewTask[],
    verb: (isAgain: boolean) => Flow<S.Enqueued[]>,
  ): Promise<S.Enqueued[]> {
    for (let unsure = false; ; ) {
      try {
        return await this.#db.transact(() => verb(unsure));
      } catch (error) {
        unsure ||= isAmbiguous(error);
        // A commit may have happened, then or since: the ids are ours, so a look tells.
        const found = unsure ? await this.#db.read(() => enqueued(units)) : undefined;
        if (found) return found;
        if (!isAmbiguous(error)) throw error;
      }
    }
  }

  #within<T>(transaction: unknown, flow: () => Flow<T>): Promise<T> {
    if (!this.#db.within)
      throw new SluiceError(
        "NO_CALLER_TRANSACTION",
        `This ${this.kind} store cannot enqueue inside your own transaction; only PostgreSQL can. Enqueue after your commit, with an idempotency key.`,
      );
    return this.#db.within(transaction, flow);
  }

  async pass(scope: S.Scope, decide: (view: S.View) => S.Moves): Promise<S.Passed> {
    const passed = await this.#db.transact(() => pass(scope, decide, this.#db.dialect));
    this.#db.upkeep?.(passed.claimed.length);
    return passed;
  }

  tend(parkedAfter = ""): Promise<S.Tended> {
    return this.#db.transact(() => tend(parkedAfter, this.#db.dialect));
  }

  cancel(id: string, by: string): Promise<{ was: S.TaskState } | undefined> {
    return this.#db.transact(() => hand.cancel(id, by, this.#db.dialect));
  }

  retry(id: string, by: string): Promise<{ was: S.TaskState } | undefined> {
    return this.#db.transact(() => hand.retry(id, by));
  }

  changeLimit(change: S.LimitChange): ReturnType<S.Store["changeLimit"]> {
    return this.#db.transact(() => hand.changeLimit(change));
  }

  /** To declare twice is to declare once, so a lost answer needs no looking. */
  async declareTriggers(list: readonly T.NewTrigger[]): Promise<void> {
    if (list.length === 0) return;
    const again = (error: unknown): Promise<void> => {
      if (!isAmbiguous(error)) throw error;
      return this.#db.transact(() => trigger.declareTriggers(list));
    };
    await this.#db.transact(() => trigger.declareTriggers(list)).catch(again);
  }

  triggers(): ReturnType<T.TriggerVerbs["triggers"]> {
    return this.#db.read(() => trigger.triggers());
  }

  pauseTrigger(name: string, paused: boolean, by: string): Promise<{ was: boolean } | undefined> {
    return this.#db.transact(() => trigger.pauseTrigger(name, paused, by));
  }

  takeTrigger(name: string, stamp: number, busyMs: number): Promise<number | undefined> {
    return this.#db.transact(() => trigger.takeTrigger(name, stamp, busyMs));
  }

  /** A lost answer is left to the caller: the next look at the stamp tells. */
  fire(firing: T.Firing): Promise<S.Enqueued[] | undefined> {
    return this.#db.transact(() => trigger.fire(firing));
  }

  lastSuccesses(workflows: readonly string[]): ReturnType<T.TriggerVerbs["lastSuccesses"]> {
    return this.#db.read(() => trigger.lastSuccesses(workflows));
  }

  activeRuns(of: T.RunsOf): ReturnType<T.TriggerVerbs["activeRuns"]> {
    return this.#db.read(() => trigger.activeRuns(of));
  }

  openSession(opened: S.NewSession): Promise<void> {
    return this.#db.transact(() => session.openSession(opened));
  }

  renewSession(id: string, leaseMs: number): Promise<boolean> {
    const renewal = (): Flow<boolean> => session.renewSession(id, leaseMs);
    return this.#db.vital ? this.#db.vital(renewal) : this.#db.transact(renewal);
  }

  closeSession(id: string): Promise<void> {
    return this.#db.transact(() => session.closeSession(id));
  }

  claimsOf(id: string): Promise<S.Claimed[]> {
    return this.#db.read(() => session.claimsOf(id));
  }

  renewClaims(id: string): Promise<string[]> {
    const renewal = (): Flow<string[]> => session.renewClaims(id);
    return this.#db.vital ? this.#db.vital(renewal) : this.#db.transact(renewal);
  }

  stale(claims: readonly { id: string; epoch: number }[]): Promise<string[]> {
    return this.#db.read(() => session.stale(claims));
  }

  progress(entries: readonly { id: string; epoch: number; value: string }[]): Promise<void> {
    return this.#db.transact(() => session.progress(entries));
  }

  note(entries: readonly { id: string; epoch: number; kind: string; data: string }[]): Promise<void> {
    return this.#db.transact(() => session.note(entries));
  }

  task(id: string): Promise<S.TaskRow | undefined> {
    return this.#db.read(() => read.task(id));
  }

  tasks(filter: S.TaskFilter): Promise<S.TaskRow[]> {
    return this.#db.read(() => read.tasks(filter));
  }

  find(prefix: string): Promise<string[]> {
    return this.#db.read(() => read.find(prefix));
  }

  wait(id: string): Promise<S.WaitView | undefined> {
    return this.#db.read(() => wait(id));
  }

  events(subject: string): Promise<S.EventRow[]> {
    return this.#db.read(() => read.events(subject));
  }

  gates(): Promise<(S.GateInfo & { held: number })[]> {
    return this.#db.read(() => read.gates());
  }

  waiting(): ReturnType<S.Store["waiting"]> {
    return this.#db.read(() => read.waiting());
  }

  limits(keys: readonly string[]): Promise<ReadonlyMap<string, S.GateInfo["limit"]>> {
    return this.#db.read(() => read.limits(keys));
  }

  queues(): Promise<S.QueueRow[]> {
    return this.#db.read(() => read.queues());
  }

  sessions(): ReturnType<S.Store["sessions"]> {
    return this.#db.read(() => read.sessions());
  }

  async inspect(): Promise<S.Inspection> {
    const seen = await this.#db.read(() => inspect());
    return { ...seen, settings: { ...seen.settings, ...this.#db.ground?.() } };
  }

  advance(decide: Parameters<S.Store["advance"]>[0]): Promise<S.Advanced> {
    return this.#db.transact(() => advance(decide, this.#db.dialect));
  }

  cancelRun(id: string, by: string, only?: "queued"): ReturnType<S.Store["cancelRun"]> {
    return this.#db.transact(() => handRun.cancelRun(id, by, this.#db.dialect, only));
  }

  failRun(id: string, error: string): Promise<boolean> {
    return this.#db.transact(() => handRun.failRun(id, error, this.#db.dialect));
  }

  pauseRun(id: string, paused: boolean, by: string): Promise<boolean> {
    return this.#db.transact(() => handRun.pauseRun(id, paused, by));
  }

  reprioritize(id: string, priority: number, by: string): Promise<{ from: number } | undefined> {
    return this.#db.transact(() => handRun.reprioritize(id, priority, by));
  }

  failWaiting(id: string, error: string): Promise<boolean> {
    return this.#db.transact(() => handRun.failWaiting(id, error, this.#db.dialect));
  }

  timers(): ReturnType<S.Store["timers"]> {
    return this.#db.read(() => handRun.timers());
  }

  resetTimer(timer: S.Timer, afterMs: number | null): Promise<void> {
    return this.#db.transact(() => handRun.resetTimer(timer, afterMs));
  }

  stirring(): Promise<{ news: boolean; queued: boolean }> {
    return this.#db.read(() => readRun.stirring());
  }

  run(id: string): Promise<S.RunDetail | undefined> {
    return this.#db.read(() => readRun.run(id));
  }

  runs(filter: S.RunFilter): Promise<S.RunRow[]> {
    return this.#db.read(() => readRun.runs(filter));
  }

  items(run: string, step: string, page: { after: number; limit: number }): Promise<S.ItemRow[]> {
    return this.#db.read(() => readRun.items(run, step, page));
  }

  line(queue: string, limit: number, offset?: number): Promise<S.LineView> {
    return this.#db.read(() => readRun.line(queue, limit, offset));
  }

  laterRuns(limit: number, offset: number): Promise<S.RunRow[]> {
    return this.#db.read(() => readRun.laterRuns(limit, offset));
  }

  holders(gate: string): Promise<S.GateHolder[]> {
    return this.#db.read(() => readRun.holders(gate));
  }

  listen(hear: (hint: string) => void): Promise<() => Promise<void>> {
    return this.#db.listen(hear);
  }

  hint(hint: string): void {
    this.#db.hint(hint);
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}
