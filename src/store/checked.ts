/**
 * A store that refuses input that no store should have to keep. Every name, key, id, value and number is
 * checked against the rules of core first. All callers go through this, so a text that one database cannot
 * keep, or would compare in its own way, reaches none of them.
 */

import { SluiceError } from "../core/error.ts";
import { checkKey } from "../core/gate/check-key.ts";
import { UNLIMITED } from "../core/gate/gate.ts";
import type { Range } from "../core/number.ts";
import { checkNumber, INSTANTS, MOST_SLOTS, PRIORITIES, SPANS } from "../core/number.ts";
import { bytesOf, checkText, LONGEST_LIST } from "../core/text.ts";
import type { NewRun } from "./runs.ts";
import type { Declaration, LimitChange, NewSession, NewTask, Store, TaskFilter } from "./store.ts";
import type { NewTrigger } from "./triggers.ts";

type Verb = keyof Store;
type Rule<V extends Verb> = Store[V] extends (...given: infer Given) => unknown
  ? (...given: Given) => void
  : never;

const MOST_LISTED = 100_000;
const LISTS: Range = { least: 1, most: MOST_LISTED };
const LIMITS: Range = { least: UNLIMITED, most: MOST_SLOTS };
const id = (given: unknown): void => checkText("An id", given);
const by = (given: unknown): void => checkText("The name in `by`", given);
const optional = (what: string, given: unknown): void => {
  if (given !== undefined && given !== null) checkText(what, given);
};
const idAndBy = (given: string, who: string): void => {
  id(given);
  by(who);
};

/** The check for each verb's arguments. Verbs without outside input are not listed. */
const RULES: { readonly [V in Verb]?: Rule<V> } = {
  enqueue: (tasks) => tasks.forEach(checkUnit),
  submit: (runs) => runs.forEach(checkRun),
  declare: checkDeclaration,
  deleteGate: checkKey,
  fire: ({ submit }) => submit.forEach(checkRun),
  pauseTrigger: (name, _, who) => {
    checkText("The name of a schedule, sensor or automation", name);
    by(who);
  },
  openSession: checkSession,
  changeLimit: checkChange,
  cancel: idAndBy,
  retry: idAndBy,
  restore: idAndBy,
  cancelRun: idAndBy,
  pauseRun: (run, _, who) => idAndBy(run, who),
  reprioritize: (unit, priority, who) => {
    idAndBy(unit, who);
    checkNumber("BAD_PRIORITY", "A priority", priority, PRIORITIES);
  },
  task: id,
  ended: (ids) => ids.forEach(id),
  run: id,
  wait: id,
  items: (run, step, { after, limit }) => {
    id(run);
    checkText("The name of a step", step);
    checkNumber("BAD_PAGE", "The place after which to list", after, { least: -1, most: MOST_SLOTS });
    checkLimit(limit);
  },
  find: (prefix) => checkText("The ID prefix", prefix),
  events: (subject) => checkText("The subject of the events", subject),
  holders: (gate) => checkKey(gate),
  limits: (keys) => {
    for (const key of keys) checkKey(key);
  },
  tasks: checkFilter,
  runs: ({ limit, ids, ...texts }) => {
    checkLimit(limit);
    ids?.forEach(id);
    for (const [name, text] of Object.entries(texts)) optional(`${name}, by which to list,`, text);
  },
  line: (queue) => checkText("The name of a queue", queue),
  standstill: (lane) => checkText("The id of a lane", lane),
};

const CHECKED = Symbol("checked");

/** The same store behind its rules. A store that is already checked is returned as it is. */
export function checked<S extends Store>(store: S): S {
  if (CHECKED in store) return store;
  const verbs = new Map<PropertyKey, unknown>();
  return new Proxy(store, {
    has: (target, name) => name === CHECKED || name in target,
    get: (target, name) => {
      if (!verbs.has(name)) verbs.set(name, verbOf(target, name));
      return verbs.get(name);
    },
  });
}

function verbOf(store: Store, name: PropertyKey): unknown {
  const value: unknown = Reflect.get(store, name, store);
  if (typeof value !== "function") return value;
  const verb: (...given: unknown[]) => unknown = value.bind(store);
  const rule: ((...given: unknown[]) => void) | undefined = Reflect.get(RULES, name);
  if (!rule) return verb;
  return async (...given: unknown[]) => {
    rule(...given);
    return verb(...given);
  };
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
