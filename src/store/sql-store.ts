/** The store over any SQL database. Each verb is a flow, and the database runs it. */

import { SluiceError } from "../core/error.ts";
import type { EventKind } from "../core/event.ts";
import type { Hear, Hint } from "../core/hint.ts";
import { inPlainWords } from "./away.ts";
import type { Capabilities } from "./capabilities.ts";
import { ALL_PORTS } from "./capabilities.ts";
import { advanceCarefully, probe, takeInCarefully, tendCarefully } from "./careful.ts";
import { isDataError } from "./data-error.ts";
import type { Flow } from "./flow.ts";
import { inserted } from "./insert.ts";
import type { LaneSpec } from "./lane.ts";
import { advance } from "./query/advance.ts";
import * as aside from "./query/aside.ts";
import { asked, deleteGate } from "./query/delete-gate.ts";
import { throughDoor } from "./query/door.ts";
import { enqueue, enqueueAgain } from "./query/enqueue.ts";
import * as hand from "./query/hand.ts";
import * as handRun from "./query/hand-run.ts";
import { inspect } from "./query/inspect.ts";
import { pass } from "./query/pass.ts";
import * as read from "./query/read.ts";
import * as readRun from "./query/read-run.ts";
import * as requests from "./query/requests.ts";
import { runWaits } from "./query/run-waits.ts";
import * as session from "./query/session.ts";
import { settings } from "./query/settings.ts";
import { stopping } from "./query/stopping.ts";
import { storeGraphs, submit, submitRuns } from "./query/submit.ts";
import { swap } from "./query/swap.ts";
import { tend } from "./query/tend.ts";
import { wait } from "./query/wait.ts";
import { repeated } from "./retry.ts";
import { SharedWrite } from "./shared-write.ts";
import type { Dialect } from "./sql.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { SqlSharing } from "./sql-sharing.ts";
import type * as S from "./store.ts";
import { Turns } from "./turns.ts";

export type { SqlDatabase } from "./sql-database.ts";

const KEYED_AT_ONCE = 3;
const hasKey = (units: readonly S.NewTask[]): boolean => units.some(({ key }) => key !== null);

export class SqlStore extends SqlSharing implements S.Store {
  readonly #db: SqlDatabase;
  readonly #enqueues = new SharedWrite<S.NewTask, S.Enqueued>(
    (tasks) => this.#enqueue(tasks),
    ({ input }) => input.length,
  );

  readonly #keyed = new Turns(KEYED_AT_ONCE);
  readonly kind: Dialect;
  readonly capabilities: Capabilities;

  constructor(db: SqlDatabase) {
    const plain = inPlainWords(db);
    const inside = throughDoor(plain);
    super(plain, inside);
    this.#db = inside;
    this.kind = db.dialect;
    this.capabilities = {
      ports: ALL_PORTS,
      durable: true,
      shared: true,
      // An in-process database blocks, so passes cannot overlap.
      passesAtOnce: db.dialect !== "sqlite",
      callerTransaction: db.within !== undefined,
      parking: true,
    };
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

  async enqueue(tasks: readonly S.NewTask[], within?: unknown): Promise<S.Enqueued[]> {
    if (tasks.length === 0) return [];
    if (within !== undefined) return this.#within(within, () => enqueue(tasks));
    return hasKey(tasks) ? this.#withKey(() => this.#enqueue(tasks)) : this.#enqueues.add(tasks);
  }

  /**
   * A call with a key may have to wait for a caller's transaction with the same key. So nobody shares it, and
   * only a few such calls have a connection at the same time.
   */
  #withKey<T>(write: () => Promise<T>): Promise<T> {
    return this.#keyed.during(true, write);
  }

  #enqueue(tasks: readonly S.NewTask[]): Promise<S.Enqueued[]> {
    return inserted(this.#db, tasks, (isAgain) => (isAgain ? enqueueAgain(tasks) : enqueue(tasks)));
  }

  async submit(runs: readonly S.NewRun[], within?: unknown): Promise<S.Enqueued[]> {
    if (runs.length === 0) return [];
    if (within !== undefined) {
      this.#mustBeWithin();
      await this.#db.transact(() => storeGraphs(runs));
      return this.#within(within, () => submitRuns(runs));
    }
    const write = () => inserted(this.#db, runs, (isAgain) => submit(runs, isAgain));
    return hasKey(runs) ? this.#withKey(write) : write();
  }

  #within<T>(transaction: unknown, flow: () => Flow<T>): Promise<T> {
    return this.#mustBeWithin()(transaction, flow);
  }

  #mustBeWithin(): NonNullable<SqlDatabase["within"]> {
    if (!this.#db.within)
      throw new SluiceError(
        "NO_CALLER_TRANSACTION",
        `This ${this.kind} store cannot enqueue inside your own transaction; only PostgreSQL can. Enqueue after your commit, with an idempotency key.`,
      );
    return this.#db.within.bind(this.#db);
  }

  async pass(scope: S.Scope, decide: (view: S.View) => S.Moves): Promise<S.Passed> {
    const passed = await this.#db.transact(() => pass(scope, decide, this.#db.dialect), true);
    this.#db.upkeep?.(passed.claimed.length);
    return passed;
  }

  async swap(given: S.Swap): Promise<S.Swapped | undefined> {
    const swapped = await this.#db.transact(() => swap(given, this.#db.dialect), true);
    this.#db.upkeep?.(swapped?.claimed.length ?? 0);
    return swapped;
  }

  probe(scope: S.Scope, decide: (view: S.View) => S.Moves): Promise<void> {
    return probe(this.#db, () => pass(scope, decide, this.#db.dialect));
  }

  takeIn(): Promise<S.AsideRow[]> {
    return takeInCarefully(this.#db);
  }

  setAside(lane: LaneSpec, error: string): Promise<void> {
    return this.#db.transact(() => aside.setAside(lane, error));
  }

  restore(id: string, by: string): Promise<S.AsideRow | undefined> {
    return this.#db.transact(() => aside.restore(id, by));
  }

  asides(): Promise<S.AsideRow[]> {
    return this.#db.read(() => aside.asides());
  }

  async tend(parkedAfter = ""): Promise<S.Tended> {
    const all = (): Promise<S.Tended> => this.#db.transact(() => tend(parkedAfter, this.#db.dialect));
    return all().catch(async (error: unknown) => {
      if (!isDataError(error)) throw error;
      await tendCarefully(this.#db, this.#db.dialect);
      return all();
    });
  }

  cancel(id: string, by: string): Promise<{ was: S.TaskState } | undefined> {
    return this.#db.transact(() => hand.cancel(id, by, this.#db.dialect));
  }

  retry(id: string, by: string): Promise<{ was: S.TaskState } | undefined> {
    return this.#db.transact(() => hand.retry(id, by));
  }

  withdraw(ids: readonly string[]): Promise<string[]> {
    return this.#db.transact(() => requests.withdraw(ids));
  }

  async sweepRequests(idleMs: number): Promise<number> {
    const found = await this.#db.read(() => requests.sweepable(idleMs));
    return found.lanes.length === 0 ? 0 : this.#db.transact(() => requests.sweep(found));
  }

  changeLimit(change: S.LimitChange): ReturnType<S.Store["changeLimit"]> {
    return this.#db.transact(() => hand.changeLimit(change));
  }

  deleteGate(key: string): ReturnType<S.Store["deleteGate"]> {
    return this.#db.transact(() => deleteGate(key));
  }

  /** The id is ours, so after a lost answer the session is renewed if it is there, and opened again if not. */
  openSession(opened: S.NewSession): Promise<void> {
    let isUnsure = false;
    const isOpen = async (): Promise<boolean> => isUnsure && this.renewSession(opened.id, opened.leaseMs);
    return repeated(async () => {
      if (await isOpen()) return;
      try {
        await this.#db.transact(() => session.openSession(opened));
      } catch (error) {
        // The earlier try may have arrived between the look and this insert. The id is ours alone.
        if (!(await isOpen())) throw error;
      } finally {
        isUnsure = true;
      }
    });
  }

  renewSession(id: string, leaseMs: number): Promise<boolean> {
    const renewal = (): Flow<boolean> => session.renewSession(id, leaseMs);
    return this.#db.vital ? this.#db.vital(renewal) : this.#db.transact(renewal, true);
  }

  retireSession(id: string): Promise<void> {
    return this.#db.transact(() => session.retireSession(id));
  }

  closeSession(id: string): Promise<void> {
    return this.#db.transact(() => session.closeSession(id));
  }

  claimsOf(id: string): Promise<S.Claimed[]> {
    return this.#db.read(() => session.claimsOf(id));
  }

  renewClaims(id: string): Promise<number[]> {
    const renewal = (): Flow<number[]> => session.renewClaims(id);
    return this.#db.vital ? this.#db.vital(renewal) : this.#db.transact(renewal, true);
  }

  stopping(of?: string): Promise<S.StoppingRow[]> {
    return this.#db.read(() => stopping(of));
  }

  stale(claims: readonly { id: string; epoch: number }[]): Promise<string[]> {
    return this.#db.read(() => session.stale(claims));
  }

  progress(entries: readonly { id: string; epoch: number; value: string }[]): Promise<void> {
    return this.#db.transact(() => session.progress(entries));
  }

  note(entries: readonly { id: string; epoch: number; kind: EventKind; data: string }[]): Promise<void> {
    return this.#db.transact(() => session.note(entries));
  }

  ended(ids: readonly string[]): ReturnType<S.Store["ended"]> {
    return this.#db.read(() => read.ended(ids));
  }

  task(id: string): Promise<S.TaskRow | undefined> {
    return this.#db.read(() => read.task(id));
  }

  tasksById(ids: readonly string[]): Promise<S.TaskRow[]> {
    return this.#db.read(() => read.tasksById(ids));
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

  gates(): Promise<S.GateState[]> {
    return this.#db.read(() => read.gates());
  }

  asked(): Promise<string[]> {
    return this.#db.read(() => asked());
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
    // The settings in force for writes are wanted, because a server can have others for reads. On SQLite a
    // write would take the lock of the file, so they are read.
    const { passesAtOnce } = this.capabilities;
    const inForce = await (passesAtOnce ? this.#db.transact(settings) : this.#db.read(settings));
    return { ...seen, settings: { ...inForce, ...this.#db.ground?.() } };
  }

  advance(decide: S.DecideRuns, most?: number): Promise<S.Advanced> {
    const how = { dialect: this.#db.dialect, ...(most === undefined ? {} : { most }) };
    return this.#db
      .transact(() => advance(decide, how))
      .catch((error: unknown) => {
        if (!isDataError(error)) throw error;
        return advanceCarefully(this.#db, decide, how);
      });
  }

  cancelRun(id: string, by: string, only?: "queued"): ReturnType<S.Store["cancelRun"]> {
    return this.#db.transact(() => handRun.cancelRun(id, by, this.#db.dialect, only));
  }

  failRun(id: string, error: string, handler?: S.NewTask): Promise<boolean> {
    return this.#db.transact(() => handRun.failRun(id, error, this.#db.dialect, handler));
  }

  pauseRun(id: string, paused: boolean, by: string): Promise<boolean> {
    return this.#db.transact(() => handRun.pauseRun(id, paused, by));
  }

  reprioritize(id: string, priority: number, by: string): Promise<{ from: number } | undefined> {
    return this.#db.transact(() => handRun.reprioritize(id, priority, by));
  }

  failWaiting(id: string, error: string, handler?: S.NewTask): Promise<boolean> {
    return this.#db.transact(() => handRun.failWaiting(id, error, this.#db.dialect, handler));
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

  runWaits(id: string, most: number): Promise<S.RunWaits | undefined> {
    return this.#db.read(() => runWaits(id, most));
  }

  runs(filter: S.RunFilter): Promise<S.RunRow[]> {
    return this.#db.read(() => readRun.runs(filter));
  }

  items(run: string, step: string, page: { after: number; limit: number }): Promise<S.ItemRow[]> {
    return this.#db.read(() => readRun.items(run, step, page));
  }

  standstill(lane: string): Promise<S.Standstill | undefined> {
    return this.#db.read(() => readRun.standstill(lane));
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

  listen(hear: Hear): Promise<() => Promise<void>> {
    return this.#db.listen(hear);
  }

  hint(hint: Hint): void {
    this.#db.hint(hint);
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}
