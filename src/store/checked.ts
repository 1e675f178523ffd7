/**
 * A store that refuses input that no store should have to keep. Every name, key, id, value and number is
 * checked against the rules of core first. All callers go through this, so a text that one database cannot
 * keep, or would compare in its own way, reaches none of them.
 */

import { SluiceError } from "../core/error.ts";
import { checkKey } from "../core/gate/check-key.ts";
import { UNLIMITED } from "../core/gate/gate.ts";
import type { Hint } from "../core/hint.ts";
import type { Range } from "../core/number.ts";
import { checkNumber, checkPage, INSTANTS, MOST_SLOTS, PRIORITIES, SPANS } from "../core/number.ts";
import { bytesOf, checkBy, checkId, checkText, LONGEST_LIST, shortly } from "../core/text.ts";
import type { Ports } from "./capabilities.ts";
import { isVerb } from "./capabilities.ts";
import { checkCursor, POSITIONS } from "./feed.ts";
import { Lifetime } from "./lifetime.ts";
import { fieldsOf } from "./match.ts";
import type { NewRun } from "./runs.ts";
import type {
  Declaration,
  LimitChange,
  Listener,
  NewSession,
  NewSignal,
  NewTask,
  Store,
  TaskFilter,
} from "./store.ts";
import { MOST_FIELDS } from "./store.ts";
import type { NewTrigger } from "./triggers.ts";

type VerbOf<P> = P extends unknown ? keyof P : never;
type Name = VerbOf<Ports[keyof Ports]>;
type Rule<V extends Name> = (...given: Parameters<Store[V]>) => void;
/** A verb without parameters needs no rule. Every other verb has one, or says that only the engine calls it. */
type Rules = {
  readonly [V in Name]: Parameters<Store[V]> extends [] ? null : Rule<V> | typeof ENGINE;
};

/** Only the engine calls this verb, with ids and names that it made itself or read from the store. */
const ENGINE = Symbol("only the engine calls it");

const MOST_LISTED = 100_000;
const LISTS: Range = { least: 1, most: MOST_LISTED };
const LIMITS: Range = { least: UNLIMITED, most: MOST_SLOTS };
const id = checkId;
const by = checkBy;
const optional = (what: string, given: unknown): void => {
  if (given !== undefined && given !== null) checkText(what, given);
};
const idAndBy = (given: string, who: string): void => {
  id(given);
  by(who);
};
const ids = (given: readonly string[]): void => {
  if (!Array.isArray(given))
    throw new SluiceError("BAD_OPTIONS", `IDs must be given as a list, but are ${shortly(given)}.`);
  given.forEach(id);
};

/** The check for each verb's arguments. */
const RULES: Rules = {
  enqueue: (tasks) => tasks.forEach(checkUnit),
  task: id,
  tasksById: ids,
  tasks: checkFilter,
  ended: ids,
  find: (prefix) => checkText("The ID prefix", prefix),
  events: (subject) => checkText("The subject of the events", subject),

  pass: ENGINE,
  swap: ENGINE,

  openSession: checkSession,
  renewSession: ENGINE,
  retireSession: ENGINE,
  closeSession: ENGINE,
  sessions: null,
  claimsOf: ENGINE,
  stale: ENGINE,
  progress: ENGINE,
  note: ENGINE,

  gates: null,
  limits: (keys) => keys.forEach(checkKey),
  changeLimit: checkChange,
  deleteGate: checkKey,

  holders: checkKey,
  stopping: (session) => optional("The id of a session", session),
  renewClaims: ENGINE,

  declare: checkDeclaration,
  replaced: null,
  apps: null,

  wait: id,
  waiting: null,
  asked: null,
  queues: null,
  line: (queue, limit, offset = 0) => {
    checkText("The name of a queue", queue);
    checkPage(limit, offset);
  },

  cancel: idAndBy,
  retry: idAndBy,
  reprioritize: (unit, priority, who) => {
    idAndBy(unit, who);
    checkNumber("BAD_PRIORITY", "A priority", priority, PRIORITIES);
  },

  probe: ENGINE,
  takeIn: null,
  setAside: ENGINE,
  restore: idAndBy,
  asides: null,

  withdraw: ids,
  sweepRequests: ENGINE,

  submit: (runs) => runs.forEach(checkRun),
  advance: ENGINE,
  cancelRun: idAndBy,
  failRun: ENGINE,
  pauseRun: (run, _, who) => idAndBy(run, who),
  failWaiting: ENGINE,
  timers: null,
  resetTimer: ENGINE,
  stirring: null,
  run: id,
  runWaits: (run, most) => {
    id(run);
    checkNumber("BAD_PAGE", "How many steps to explain", most, { least: 0, most: MOST_LISTED });
  },
  runs: ({ limit, ids: only, ...texts }) => {
    checkLimit(limit);
    if (only !== undefined) ids(only);
    for (const [name, text] of Object.entries(texts)) optional(`${name}, by which to list,`, text);
  },
  items: (run, step, { after, limit }) => {
    id(run);
    checkText("The name of a step", step);
    checkNumber("BAD_PAGE", "The place after which to list", after, { least: -1, most: MOST_SLOTS });
    checkLimit(limit);
  },
  standstill: (lane) => checkText("The id of a lane", lane),
  laterRuns: checkPage,

  signal: checkSignal,
  answerWait: ({ run, step }) => {
    id(run);
    checkText("The name of a step", step);
  },
  lapseWait: ENGINE,

  lead: ENGINE,
  sharing: null,
  intend: ENGINE,
  openShared: ENGINE,
  closeShared: ENGINE,
  forgetShared: ENGINE,

  triggers: null,
  pauseTrigger: (name, _, who) => {
    checkText("The name of a schedule, sensor or automation", name);
    by(who);
  },
  setTrigger: (trigger, who) => {
    checkTrigger(trigger);
    by(who);
  },
  removeTrigger: (name, who) => {
    checkText("The name of a schedule", name);
    by(who);
  },
  takeTrigger: ENGINE,
  fire: ({ submit, enqueue = [] }) => {
    submit.forEach(checkRun);
    enqueue.forEach(checkUnit);
  },
  lastSuccesses: ENGINE,
  activeRuns: ENGINE,

  inspect: null,

  follow: (listeners) => listeners.forEach(checkListener),
  resume: (listener, from) => {
    checkListener(listener);
    checkCursor(from);
  },
  changes: ({ after, limit, listeners }) => {
    checkNumber("BAD_CURSOR", "A position in the feed", after, POSITIONS);
    checkLimit(limit);
    ids(listeners);
  },
  keepFollowing: (listeners, readUpTo) => {
    ids(listeners.map(({ id: listener }) => listener));
    checkNumber("BAD_CURSOR", "A position in the feed", readUpTo, POSITIONS);
  },
  unfollow: ids,

  listen: ENGINE,
  hint: ENGINE,

  migrate: null,
  verify: null,
  now: null,
  tend: ENGINE,
};

const CHECKED = Symbol("checked");

/**
 * The same store behind its rules. A store that is already checked is returned as it is. Once closed, it
 * refuses every verb, even if the store behind it stays usable.
 */
export function checked<S extends Store>(store: S): S {
  if (CHECKED in store) return store;
  const life = new Lifetime();
  const verbs = new Map<PropertyKey, unknown>();
  return new Proxy(store, {
    has: (target, name) => name === CHECKED || name in target,
    get: (target, name) => {
      if (!verbs.has(name)) verbs.set(name, verbOf(target, name, life));
      return verbs.get(name);
    },
  });
}

function verbOf(store: Store, name: PropertyKey, life: Lifetime): unknown {
  const value: unknown = Reflect.get(store, name, store);
  if (name === "close") return () => life.close(() => store.close());
  // A hint may always be lost, so a closed store need not report it.
  if (name === "hint") return (hint: Hint) => (life.isOver ? undefined : store.hint(hint));
  if (typeof value !== "function") return value;
  const verb: (...given: unknown[]) => Promise<unknown> = value.bind(store);
  if (!isVerb(name)) return verb;
  const rule: unknown = Reflect.get(RULES, name);
  return (...given: unknown[]) =>
    life.during(async () => {
      if (typeof rule === "function") rule(...given);
      return verb(...given);
    });
}

function checkUnit(unit: NewTask): void {
  const whose = `task "${unit.name}":`;
  checkText(`${whose} its id`, unit.id);
  checkText("A task's name", unit.name);
  checkText(`${whose} the queue`, unit.lane.queue);
  optional(`${whose} the idempotency key`, unit.key);
  checkNumber("BAD_PRIORITY", `${whose} priority`, unit.priority, PRIORITIES);
  checkTime(`${whose} runAt`, unit.runAt, INSTANTS);
  checkTime(`${whose} goodUntil`, unit.goodUntil, INSTANTS);
  checkTime(`${whose} delay`, unit.delayMs, SPANS);
  checkTime(`${whose} goodUntil`, unit.goodForMs, SPANS);
}

function checkTime(what: string, ms: number | null, range: Range): void {
  if (ms !== null) checkNumber("BAD_OPTIONS", `${what}, in milliseconds,`, ms, range);
}

function checkRun(run: NewRun): void {
  checkUnit(run);
  checkText(`workflow "${run.name}": the source`, run.source);
  optional("The id of the run that is run again", run.rerunOf);
  if (bytesOf(run.tags) <= LONGEST_LIST) return;
  throw new SluiceError(
    "BAD_TAG",
    `workflow "${run.name}": its tags are too long in total: ${bytesOf(run.tags)} bytes, and ${LONGEST_LIST} are allowed. Make some of them part of the run's input.`,
  );
}

function checkDeclaration({ app, gates, queues, triggers = [] }: Declaration): void {
  optional("The name of an app", app);
  triggers.forEach(checkTrigger);
  for (const { key, limit, leaseMs } of gates) {
    checkKey(key);
    checkNumber("BAD_LIMIT", `${key}: the limit`, limit, LIMITS);
    if (leaseMs !== undefined) checkNumber("BAD_LEASE", `${key}: the lease`, leaseMs, SPANS);
  }
  for (const { name, rank } of queues) {
    checkText("The name of a queue", name);
    if (rank !== null) checkNumber("BAD_RANK", `queue "${name}": rank`, rank, { least: 0, most: MOST_SLOTS });
  }
}

function checkTrigger({ name, workflow }: NewTrigger): void {
  checkText("The name of a schedule, sensor or automation", name);
  optional("The name of a workflow", workflow);
}

function checkSession({ id: session, name, slots, leaseMs }: NewSession): void {
  id(session);
  checkText("The name of a worker", name);
  checkNumber("BAD_SLOTS", "The number of a worker's slots", slots, { least: 0, most: MOST_SLOTS });
  checkNumber("BAD_LEASE", "A worker's lease", leaseMs, SPANS);
}

function checkSignal({ id: signal, event, keepMs, key, payload }: NewSignal): void {
  id(signal);
  checkText("The name of an event", event);
  optional(`event "${event}": the key`, key);
  checkNumber("BAD_OPTIONS", `event "${event}": keep, in milliseconds,`, keepMs, SPANS);
  const fields = fieldsOf(payload).length;
  if (fields <= MOST_FIELDS) return;
  throw new SluiceError(
    "BAD_SIGNAL",
    `event "${event}": the payload has ${fields} fields that are texts, numbers, true or false, and ${MOST_FIELDS} are allowed. Put the rest into one field.`,
  );
}

function checkChange(change: LimitChange): void {
  checkKey(change.key);
  by(change.by);
  if (change.to !== "value") return;
  checkNumber("BAD_LIMIT", `${change.key}: the limit`, change.limit, LIMITS);
  if (change.leaseMs !== undefined)
    checkNumber("BAD_LEASE", `${change.key}: the lease`, change.leaseMs, SPANS);
}

function checkFilter({ limit, queue, name, before }: TaskFilter): void {
  checkLimit(limit);
  optional("The queue by which to list", queue);
  optional("The name by which to list", name);
  optional("The id before which to list", before);
}

const checkLimit = (limit: number): void => checkNumber("BAD_PAGE", "How many to list", limit, LISTS);

function checkListener({ id: listener, run, task, queue, keepMs }: Listener): void {
  id(listener);
  optional("The run of a feed", run);
  optional("The task of a feed", task);
  optional("The queue of a feed", queue);
  checkNumber("BAD_OPTIONS", "How long to keep a listener, in milliseconds,", keepMs, SPANS);
}
