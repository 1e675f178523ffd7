/**
 * The store in memory: an independent, simple implementation of the contract. The other stores are tested
 * against it. Each verb runs from start to end without a pause, so nothing ever interleaves.
 */

import { SluiceError } from "../../core/error.ts";
import type { Hear, Hint } from "../../core/hint.ts";
import { ALL_PORTS } from "../capabilities.ts";
import { appsInForce, replacedIn } from "../declaration.ts";
import type * as S from "../store.ts";
import { advance } from "./advance.ts";
import * as aside from "./aside.ts";
import { asked, declare, deleteGate } from "./declare.ts";
import type { Dump } from "./dump.ts";
import { dump } from "./dump.ts";
import { cancelRun, failRun } from "./end-run.ts";
import { enqueue } from "./enqueue.ts";
import { feedVerbs } from "./feed-verbs.ts";
import * as hand from "./hand.ts";
import { inspect } from "./inspect.ts";
import { items, standstill } from "./item.ts";
import { holders, line } from "./line.ts";
import { stirring } from "./news.ts";
import { pass } from "./pass.ts";
import * as read from "./read.ts";
import { sweepRequests, withdrawRequests } from "./requests.ts";
import { laterRuns, run, runs } from "./run.ts";
import { runWaits } from "./run-waits.ts";
import * as session from "./session.ts";
import * as sharing from "./sharing.ts";
import * as steer from "./steer.ts";
import { stopping } from "./stopping.ts";
import { submit } from "./submit.ts";
import { swap } from "./swap.ts";
import { Tables } from "./tables.ts";
import { tend } from "./tend.ts";
import { resetTimer, timers } from "./timer.ts";
import * as trigger from "./triggers.ts";
import { wait } from "./wait.ts";
import * as waiting from "./waiting.ts";

export type { Dump } from "./dump.ts";

export interface MemoryStore extends S.Store {
  readonly kind: "memory";
  /** All rows, named and sorted like the SQL tables. */
  dump(): Dump;
}

export interface MemoryOptions {
  /** The only clock, for waiting and for leases. */
  readonly now?: () => number;
}

/**
 * The tables, and how a verb accesses them. Each verb runs at one instant, and a write that fails is undone
 * as a whole.
 */
interface World {
  readonly tables: Tables;
  readonly now: () => number;
  readonly write: <T>(verb: (now: number) => T) => Promise<T>;
  readonly look: <T>(query: (now: number) => T) => Promise<T>;
}

export function openMemory({ now = Date.now }: MemoryOptions = {}): MemoryStore {
  const tables = new Tables();
  const listeners = new Set<Hear>();
  const hint = (told: Hint): void => {
    for (const hear of listeners) queueMicrotask(() => listeners.has(hear) && hear(told));
  };
  const write = async <T>(verb: (now: number) => T): Promise<T> => {
    const at = now();
    tables.feed.forget();
    const done = tables.transact(() => verb(at));
    if (tables.feed.publish(at)) hint("feed");
    return done;
  };
  const look = async <T>(query: (now: number) => T): Promise<T> => query(now());
  const world: World = { tables, now, write, look };
  return {
    kind: "memory",
    capabilities: {
      ports: ALL_PORTS,
      durable: false,
      shared: false,
      passesAtOnce: false,
      callerTransaction: false,
      parking: true,
    },
    migrate: async () => {},
    verify: async () => {},
    now: () => look((at) => at),
    declare: (declaration, occasion = "deploy") => write((at) => declare(tables, at, declaration, occasion)),
    ...movesOf(world),
    ...steeringOf(world),
    ...waitsOf(world),
    ...triggersOf(world),
    ...sharingOf(world),
    ...sessionsOf(world),
    ...readsOf(world),
    listen: async (hear) => {
      listeners.add(hear);
      return async () => {
        listeners.delete(hear);
      };
    },
    ...feedVerbs(tables, now),
    hint,
    close: async () => listeners.clear(),
    dump: () => dump(tables),
  };
}

/** Verbs that move units, lanes and limits. */
const movesOf = ({
  tables,
  now,
  write,
  look,
}: World): Pick<
  S.Store,
  | "enqueue"
  | "submit"
  | "advance"
  | "pass"
  | "swap"
  | "probe"
  | "takeIn"
  | "setAside"
  | "restore"
  | "asides"
  | "tend"
  | "cancel"
  | "retry"
  | "changeLimit"
  | "deleteGate"
  | "withdraw"
  | "sweepRequests"
  | "replaced"
  | "apps"
> => ({
  enqueue: async (tasks, within) => {
    if (tasks.length > 0 && within !== undefined) throw noCallerTransaction();
    return write((at) => enqueue(tables, at, tasks));
  },
  submit: async (runs, within) => {
    if (runs.length > 0 && within !== undefined) throw noCallerTransaction();
    return write((at) => submit(tables, at, runs));
  },
  advance: (decide, most) => write((at) => advance(tables, at, decide, most)),
  pass: (scope, decide) => write((at) => pass(tables, at, scope, decide)),
  swap: (given) => write((at) => swap(tables, at, given)),
  probe: async (scope, decide) => aside.probe(tables, now(), scope, decide),
  takeIn: () => write(() => aside.takeInAll(tables)),
  setAside: (lane, error) => write((at) => aside.setAside(tables, at, lane, error)),
  restore: (id, by) => write((at) => aside.restore(tables, at, id, by)),
  asides: () => look(() => aside.asides(tables)),
  tend: (parkedAfter = "") => write((at) => tend(tables, at, parkedAfter)),
  cancel: (id, by) => write((at) => hand.cancel(tables, at, id, by)),
  retry: (id, by) => write((at) => hand.retry(tables, at, id, by)),
  changeLimit: (change) => write((at) => hand.changeLimit(tables, at, change)),
  deleteGate: (key) => write(() => deleteGate(tables, key)),
  withdraw: (ids) => write(() => withdrawRequests(tables, ids)),
  sweepRequests: (idleMs) => write((at) => sweepRequests(tables, at, idleMs)),
  replaced: () => look(() => replacedIn(tables.deploy.all())),
  apps: () => look(() => appsInForce(tables.deploy.all())),
});

/** Verbs of operators and timers on runs. */
const steeringOf = ({
  tables,
  write,
  look,
}: World): Pick<
  S.Store,
  "cancelRun" | "failRun" | "pauseRun" | "reprioritize" | "failWaiting" | "timers" | "resetTimer"
> => ({
  cancelRun: (id, by, only) => write((at) => cancelRun(tables, at, id, by, only)),
  failRun: (id, error, handler) => write((at) => failRun(tables, at, id, error, handler)),
  pauseRun: (id, paused, by) => write((at) => steer.pauseRun(tables, at, id, paused, by)),
  reprioritize: (id, priority, by) => write((at) => steer.reprioritize(tables, at, id, priority, by)),
  failWaiting: (id, error, handler) => write((at) => steer.failWaiting(tables, at, id, error, handler)),
  timers: () => look((at) => timers(tables, at)),
  resetTimer: (timer, afterMs) => write((at) => resetTimer(tables, at, timer, afterMs)),
});

const waitsOf = ({ tables, write }: World): Pick<S.Store, "signal" | "answerWait" | "lapseWait"> => ({
  signal: (sent) => write((at) => waiting.signal(tables, at, sent)),
  answerWait: (wait, answer) => write((at) => waiting.answerWait(tables, at, wait, answer)),
  lapseWait: (wait) => write((at) => waiting.lapseWait(tables, at, wait)),
});

/** Verbs of triggers, which start runs automatically. */
const triggersOf = ({
  tables,
  write,
  look,
}: World): Pick<
  S.Store,
  | "triggers"
  | "pauseTrigger"
  | "setTrigger"
  | "removeTrigger"
  | "takeTrigger"
  | "fire"
  | "lastSuccesses"
  | "activeRuns"
> => ({
  triggers: () => look((at) => trigger.triggers(tables, at)),
  pauseTrigger: (name, paused, by) => write((at) => trigger.pauseTrigger(tables, at, { name, paused, by })),
  setTrigger: (given, by) => write((at) => trigger.setTrigger(tables, at, given, by)),
  removeTrigger: (name, by) => write((at) => trigger.removeTrigger(tables, at, name, by)),
  takeTrigger: (name, stamp, busyMs) =>
    write((at) => trigger.takeTrigger(tables, at, { name, stamp, busyMs })),
  fire: (firing) => write((at) => trigger.fire(tables, at, firing)),
  lastSuccesses: (workflows) => look(() => trigger.lastSuccesses(tables, workflows)),
  activeRuns: (of) => look(() => trigger.activeRuns(tables, of)),
});

/** Verbs of units that need locks shared with other engines. */
const sharingOf = ({
  tables,
  write,
  look,
}: World): Pick<S.Store, "lead" | "sharing" | "intend" | "openShared" | "closeShared" | "forgetShared"> => ({
  lead: (by, leaseMs, engine) => write((at) => sharing.lead(tables, at, { session: by, leaseMs, engine })),
  sharing: () => look(() => sharing.sharing(tables)),
  intend: (by, units) => write((at) => sharing.intend(tables, at, by, units)),
  openShared: (by, intents) => write(() => sharing.openShared(tables, by, intents)),
  closeShared: (by, intents) => write(() => sharing.closeShared(tables, by, intents)),
  forgetShared: (by, intents, gone) => write(() => sharing.forgetShared(tables, by, intents, gone)),
});

/** Verbs of sessions, and the reports of their holders. */
const sessionsOf = ({
  tables,
  write,
  look,
}: World): Pick<
  S.Store,
  | "openSession"
  | "renewSession"
  | "retireSession"
  | "closeSession"
  | "claimsOf"
  | "renewClaims"
  | "stopping"
  | "stale"
  | "progress"
  | "note"
> => ({
  openSession: (opened) => write((at) => session.openSession(tables, at, opened)),
  renewSession: (id, leaseMs) => write((at) => session.renewSession(tables, at, id, leaseMs)),
  retireSession: (id) => write(() => session.retireSession(tables, id)),
  closeSession: (id) => write(() => session.closeSession(tables, id)),
  claimsOf: (id) => look(() => session.claimsOf(tables, id)),
  renewClaims: (id) => write((at) => session.renewClaims(tables, at, id)),
  stopping: (of) => look(() => stopping(tables, of)),
  stale: (claims) => look(() => session.stale(tables, claims)),
  progress: (entries) => write(() => session.progress(tables, entries)),
  note: (entries) => write((at) => session.note(tables, at, entries)),
});

/** Verbs that only read. */
const readsOf = ({
  tables,
  look,
}: World): Pick<
  S.Store,
  | "ended"
  | "task"
  | "tasksById"
  | "tasks"
  | "stirring"
  | "run"
  | "runWaits"
  | "runs"
  | "items"
  | "standstill"
  | "line"
  | "laterRuns"
  | "holders"
  | "find"
  | "wait"
  | "events"
  | "gates"
  | "asked"
  | "waiting"
  | "limits"
  | "queues"
  | "sessions"
  | "inspect"
> => ({
  ended: (ids) => look(() => ids.filter((id) => tables.outcome.has(id) || !tables.task.has(id))),
  task: (id) => look(() => read.task(tables, id)),
  tasksById: (ids) => look(() => [...new Set(ids)].flatMap((id) => read.task(tables, id) ?? [])),
  tasks: (filter) => look(() => read.tasks(tables, filter)),
  stirring: () => look(() => stirring(tables)),
  run: (id) => look(() => run(tables, id)),
  runWaits: (id, most) => look((at) => runWaits(tables, at, id, most)),
  runs: (filter) => look(() => runs(tables, filter)),
  items: (id, step, page) => look(() => items(tables, id, step, page)),
  standstill: (lane) => look(() => standstill(tables, lane)),
  line: (queue, limit, offset = 0) => look((at) => line(tables, at, queue, limit, offset)),
  laterRuns: (limit, offset) => look(() => laterRuns(tables, limit, offset)),
  holders: (gate) => look((at) => holders(tables, at, gate)),
  find: (prefix) => look(() => read.find(tables, prefix)),
  wait: (id) => look((at) => wait(tables, at, id)),
  events: (subject) => look(() => read.events(tables, subject)),
  gates: () => look((at) => read.gates(tables, at)),
  asked: () => look(() => asked(tables)),
  waiting: () => look(() => read.waiting(tables)),
  limits: (keys) => look(() => read.limits(tables, keys)),
  queues: () => look(() => read.queues(tables)),
  sessions: () => look((at) => read.sessions(tables, at)),
  inspect: () => look((at) => inspect(tables, at)),
});

const noCallerTransaction = (): SluiceError =>
  new SluiceError(
    "NO_CALLER_TRANSACTION",
    "This memory store cannot enqueue inside your own transaction; only PostgreSQL can. Enqueue after your commit, with an idempotency key.",
  );
