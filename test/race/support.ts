// What the race tests share: databases, claimers, and raw connections that do it wrong on purpose.

import { describe } from "vitest";
import type { LaneSpec } from "../../src/store/lane.ts";
import { laneOf } from "../../src/store/lane.ts";
import { openMysql } from "../../src/store/mysql/index.ts";
import { openPostgres } from "../../src/store/postgres/index.ts";
import { openSqlite } from "../../src/store/sqlite/index.ts";
import type { Moves, NewTask, Scope, Store } from "../../src/store/store.ts";
import type { Aside } from "../conformance/tables.ts";
import { besideMariadb, besidePostgres, besideSqlite } from "../conformance/tables.ts";
import {
  describeWithInstalled,
  describeWithMariadb,
  describeWithPostgres,
  freshSqlite,
  migratedInstalled,
  migratedMariadb,
  migratedPostgres,
} from "../support/databases.ts";

export { Claimer, SEAT } from "./claimer.ts";

export const GATE = "pool:race";
export const LANE: LaneSpec = laneOf("race", "run", [
  { gate: GATE, slots: 1 },
  { gate: "queue:race", slots: 1 },
]);
export const IDLE: Moves = { claim: [], claimLeaseMs: 60_000, start: [], expire: [], recover: [], lanes: [] };

export function newTask(id: string, more: Partial<NewTask> = {}): NewTask {
  return {
    id,
    name: "run",
    priority: 0,
    lane: LANE,
    input: "{}",
    options: '{"retry":{"attempts":9,"backoff":"fixed","delayMs":0,"maxDelayMs":0,"jitter":0}}',
    key: null,
    runAt: null,
    delayMs: null,
    goodUntil: null,
    goodForMs: null,
    ...more,
  };
}

export function scopeOf(more: Partial<Scope> = {}): Scope {
  return {
    session: "s1",
    finished: [],
    started: [],
    lanes: [],
    without: [],
    exclusive: [],
    shared: [],
    intake: false,
    queues: [],
    perQueue: 10,
    parkedOn: [],
    elsewhere: [],
    sideBySide: false,
    prefetching: 0,
    ...more,
  };
}

/** A database shared by several stores and by raw connections beside them. */
export interface Place {
  readonly name: "PostgreSQL" | "MariaDB" | "SQLite";
  readonly where: string;
  open(options?: { connections?: number; sleep?: (ms: number) => Promise<void> }): Promise<Store>;
  beside(): Promise<Aside>;
  /** Registers something else to close with it. */
  atEnd(close: () => Promise<void>): void;
  close(): Promise<void>;
}

const places = {
  PostgreSQL: {
    fresh: migratedPostgres,
    open: async (url: string, options: object) => openPostgres({ url, ...options }),
    beside: besidePostgres,
  },
  "PostgreSQL as installed": {
    fresh: migratedInstalled,
    open: async (url: string, options: object) => openPostgres({ url, ...options }),
    beside: besidePostgres,
  },
  MariaDB: {
    fresh: migratedMariadb,
    open: async (url: string, options: object) => openMysql({ url, ...options }),
    beside: besideMariadb,
  },
  SQLite: { fresh: freshSqlite, open: (path: string) => openSqlite(path), beside: besideSqlite },
} as const;

/** The other PostgreSQL is for tests of what differs by server. */
export type Server = keyof typeof places;

export async function placeOf(server: Server): Promise<Place> {
  const { fresh, open, beside } = places[server];
  const where = await fresh();
  const closing: (() => Promise<void>)[] = [];
  return {
    name: server === "PostgreSQL as installed" ? "PostgreSQL" : server,
    where,
    open: async (options = {}) => {
      const store = await open(where, options);
      await store.migrate();
      closing.push(() => store.close());
      return store;
    },
    beside: async () => {
      const aside = await beside(where);
      closing.push(() => aside.close());
      return aside;
    },
    atEnd: (close) => void closing.push(close),
    close: async () => {
      for (const close of closing.splice(0).reverse()) await close().catch(() => {});
    },
  };
}

export function describeOn(name: Server, suite: () => void): void {
  if (name === "PostgreSQL") describeWithPostgres(`on ${name}`, suite);
  else if (name === "PostgreSQL as installed") describeWithInstalled(`on ${name}`, suite);
  else if (name === "MariaDB") describeWithMariadb(`on ${name}`, suite);
  else describe(`on ${name}`, suite);
}

/** The first pass takes in what was enqueued, and creates its gates. */
export async function intake(store: Store): Promise<void> {
  await store.pass(scopeOf({ intake: true }), () => IDLE);
}

export async function limit(store: Store, key: string, to: number): Promise<void> {
  await store.changeLimit({ key, to: "value", limit: to, by: "test" });
}

/** Whether the work ends, in success or failure, within this time. */
export async function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const ended = await Promise.race([
    work.then(
      () => true,
      () => true,
    ),
    late,
  ]);
  clearTimeout(timer);
  return ended;
}

/** Waits until a condition is true. Fails after forty seconds, which even a busy machine does not need. */
export async function until(isSo: () => Promise<boolean>, everyMs = 5): Promise<void> {
  const deadline = performance.now() + 40_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error("waited forty seconds in vain");
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/**
 * A transaction that the test has stopped at its barrier waits for an advisory lock with one number. The door
 * of the feed has two.
 */
const AT_BARRIER =
  "SELECT 1 FROM pg_locks l WHERE l.pid = a.pid AND NOT l.granted AND l.locktype = 'advisory' AND l.objsubid = 1";

/** How many of the other connections to this database wait for a lock, except for barriers of the test. */
export async function waitingForLocks(name: Place["name"], aside: Aside): Promise<number> {
  const question =
    name === "PostgreSQL"
      ? `SELECT count(*) AS n FROM pg_stat_activity a WHERE a.datname = current_database() AND a.wait_event_type = 'Lock' AND NOT EXISTS (${AT_BARRIER})`
      : "SELECT count(*) AS n FROM information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE()";
  return Number((await aside.query(question))[0]?.n);
}

export async function untilWaiting(name: Place["name"], aside: Aside, count = 1): Promise<void> {
  await until(async () => (await waitingForLocks(name, aside)) >= count, LOOK_EVERY_MS[name]);
}

/** Waits until a connection waits for a lock, or the work has ended without waiting. */
export async function untilWaitingOrOver(
  name: Place["name"],
  aside: Aside,
  work: Promise<unknown>,
): Promise<void> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  work.then(over, over);
  await until(async () => isOver || (await waitingForLocks(name, aside)) > 0, LOOK_EVERY_MS[name]);
}

/** InnoDB returns the same cached answer if it is asked again within a tenth of a second. */
const LOOK_EVERY_MS = { PostgreSQL: 5, MariaDB: 150, SQLite: 5 } as const;
