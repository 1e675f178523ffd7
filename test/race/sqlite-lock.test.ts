// SQLite: the write lock is the lock of every gate. A transaction that decides takes it before it looks, and
// a read shows one instant. The other connection here stands for another process: we do not control when it
// writes.

import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Flow } from "../../src/store/flow.ts";
import { SqlStore } from "../../src/store/sql-store.ts";
import { SqliteDatabase } from "../../src/store/sqlite/database.ts";
import { hostTime } from "../../src/store/sqlite/index.ts";
import type { SqliteTime } from "../../src/store/sqlite/time.ts";
import { freshSqlite } from "../support/databases.ts";
import { GATE, IDLE, intake, limit, newTask, scopeOf } from "./support.ts";

let other: InstanceType<typeof DatabaseSync>;
let database: SqliteDatabase;
let store: SqlStore;
/** Called when the store finds the lock taken and waits a moment. */
let onWait: () => void;

beforeEach(async () => {
  const path = await freshSqlite();
  const host = hostTime();
  onWait = () => {};
  const time: SqliteTime = {
    ...host,
    sleep: (ms) => {
      onWait();
      return host.sleep(ms);
    },
  };
  database = new SqliteDatabase(path, time);
  await database.migrate();
  store = new SqlStore(database);
  other = new DatabaseSync(path);
  await limit(store, GATE, 1);
  await store.enqueue([newTask("a"), newTask("b")]);
  await intake(store);
  await store.openSession({ id: "s1", name: "s1", slots: 4, serves: "{}", leaseMs: 600_000 });
});

afterEach(async () => {
  await store.close();
  other.close();
});

const CLAIM = `INSERT INTO sluice_running (id, lane, session, held, claimed_at, claimed_n, precedence, at, attempt, losses, n)
  SELECT id, lane, 's1', 1, 0, 2, precedence, at, 1, 0, 2 FROM sluice_waiting WHERE id = 'a'`;

test("a pass decides once, when it has the lock, on what the one before it has left", async () => {
  other.exec("BEGIN IMMEDIATE");
  other.exec(CLAIM);
  other.exec("DELETE FROM sluice_waiting WHERE id = 'a'");
  const waits = new Promise<void>((resolve) => {
    onWait = resolve;
  });
  const decided: number[] = [];
  const pass = store.pass(scopeOf({ exclusive: [GATE] }), ({ usage }) => {
    decided.push(usage.reduce((sum, { units }) => sum + units, 0));
    return IDLE;
  });
  await Promise.race([waits, pass]);
  expect(decided).toEqual([]);
  other.exec("COMMIT");
  await pass;
  expect(decided).toEqual([1]);
});

test("whoever moves runs on decides once, too, when it has the lock", async () => {
  await store.pass(scopeOf({ news: [{ run: "nobody", failed: null }] }), () => IDLE);
  other.exec("BEGIN IMMEDIATE");
  other.exec("DELETE FROM sluice_news");
  const waits = new Promise<void>((resolve) => {
    onWait = resolve;
  });
  const advanced = store.advance(() => ({ moves: [] }));
  await Promise.race([waits, advanced]);
  other.exec("COMMIT");
  expect((await advanced).news).toBe(0);
});

test("a wait is explained as it was at one instant, whatever another process writes while it is read", async () => {
  other.exec(CLAIM);
  other.exec("DELETE FROM sluice_waiting WHERE id = 'a'");
  // This happens between the two flights of the read, where nothing in this process could interfere.
  const { read } = database;
  database.read = <T>(flow: () => Flow<T>) =>
    read.call(database, () =>
      interrupted(flow(), () => other.exec("DELETE FROM sluice_running")),
    ) as Promise<T>;
  const view = await store.wait("b");
  expect(view?.usage.map(({ units }) => units)).toEqual([1]);
  expect(view?.holders.map(({ id }) => id)).toEqual(["a"]);
});

test("a renewal that comes after a pass gets the lock before it, when both have waited for it", async () => {
  other.exec("BEGIN IMMEDIATE");
  const first: string[] = [];
  const pass = store.pass(scopeOf({ exclusive: [GATE] }), () => IDLE).then(() => first.push("pass"));
  const renewal = store.renewSession("s1", 600_000).then(() => first.push("renewal"));
  // Both have found it taken, again and again.
  for (let waits = 0; waits < 40; waits += 1)
    await new Promise<void>((resolve) => {
      onWait = resolve;
    });
  other.exec("COMMIT");
  await Promise.all([pass, renewal]);
  expect(first).toEqual(["renewal", "pass"]);
});

/** The same flow, with something that happens after its first flight. */
function* interrupted<T>(flow: Flow<T>, happens: () => void): Flow<T> {
  let step = flow.next();
  for (let flights = 0; !step.done; flights += 1) {
    if (flights === 1) happens();
    step = flow.next(yield step.value);
  }
  return step.value;
}
