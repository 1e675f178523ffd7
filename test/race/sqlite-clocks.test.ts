// SQLite has no clock of its own. Leases use the host's monotonic clock, which cannot be set and starts again
// at each start of the host. Everything else uses the wall clock, which people and time servers set as they
// like.

import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import type { SqliteTime } from "../../src/store/sqlite/index.ts";
import { hostTime, openSqlite } from "../../src/store/sqlite/index.ts";
import type { Store } from "../../src/store/store.ts";
import { advance, claimsOfRuns, letIn, newRun } from "../runs/support/coordinating.ts";
import { freshSqlite } from "../support/databases.ts";
import { GATE, IDLE, intake, limit, newTask, scopeOf } from "./support.ts";

const DAY = 86_400_000;
const UP_FOR_A_MONTH = 30 * DAY;

afterEach(() => {
  vi.useRealTimers();
});

class Host implements SqliteTime {
  wallAt = Date.UTC(2026, 0);
  upFor: number;
  readonly bootId: string;

  constructor(bootId: string, upFor: number) {
    this.bootId = bootId;
    this.upFor = upFor;
  }

  wall(): number {
    return this.wallAt;
  }

  lease(): number {
    return this.upFor;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }
}

async function open(path: string, host: Host): Promise<Store> {
  const store = await openSqlite(path, host);
  onTestFinished(() => store.close());
  return store;
}

/** A session with a lease of one minute that has claimed "a", whose code runs. */
async function working(host: Host): Promise<{ store: Store; path: string }> {
  const path = await freshSqlite();
  const store = await open(path, host);
  await store.openSession({ id: "s1", name: "s1", slots: 4, serves: "{}", leaseMs: 60_000 });
  await limit(store, GATE, 1);
  await store.enqueue([newTask("a")]);
  await intake(store);
  const { claimed } = await store.pass(scopeOf({ exclusive: [GATE] }), () => ({
    ...IDLE,
    claim: [{ id: "a", held: true }],
  }));
  await store.pass(scopeOf({ started: claimed }), () => IDLE);
  return { store, path };
}

async function lost(store: Store): Promise<string[]> {
  let found: string[] = [];
  await store.pass(scopeOf({ exclusive: [GATE] }), (view) => {
    found = view.lost.map(({ id }) => id);
    return IDLE;
  });
  return found;
}

test("a clock on the wall that is put forward ends no lease", async () => {
  const host = new Host("first", UP_FOR_A_MONTH);
  const { store } = await working(host);
  host.wallAt += DAY;
  expect([await lost(store), await store.renewSession("s1", 60_000)]).toEqual([[], true]);
});

test("a clock on the wall that is put back keeps none alive", async () => {
  const host = new Host("first", UP_FOR_A_MONTH);
  const { store } = await working(host);
  host.wallAt -= DAY;
  host.upFor += 60_000;
  expect([await lost(store), await store.renewSession("s1", 60_000)]).toEqual([["a"], false]);
});

test("the host's lease clock does not follow the clock on the wall", () => {
  const { lease, wall } = hostTime();
  const [before, date] = [lease(), wall()];
  vi.useFakeTimers({ toFake: ["Date"], now: date + DAY });
  expect(wall() - date).toBeGreaterThanOrEqual(DAY);
  expect(lease() - before).toBeLessThan(DAY / 2);
});

test("sessions of before the host was started again are over, whatever their leases said", async () => {
  const { path, store: before } = await working(new Host("first", UP_FOR_A_MONTH));
  await before.close();
  const store = await open(path, new Host("second", 5_000));
  expect([await lost(store), (await store.sessions()).length]).toEqual([["a"], 0]);
  expect((await store.gates()).find(({ key }) => key === GATE)?.held).toBe(0);
});

test("sessions of the same start of the host go on when the store is opened once more", async () => {
  const host = new Host("first", UP_FOR_A_MONTH);
  const { path } = await working(host);
  const second = await open(path, host);
  expect([await lost(second), await second.renewSession("s1", 60_000)]).toEqual([[], true]);
});

test("runs in progress outlive the host; one that had not started by then is lost at once", async () => {
  const path = await freshSqlite();
  const before = await open(path, new Host("first", UP_FOR_A_MONTH));
  for (const id of ["old", "new"]) await before.submit([newRun(id)]);
  const claims = claimsOfRuns(before);
  expect((await letIn(claims)).sort()).toEqual(["new", "old"]);
  await advance(before, ({ id }) => (id === "old" ? { start: { gates: [], timeoutMs: null } } : {}));
  await before.close();
  const store = await open(path, new Host("second", 5_000));
  expect((await store.run("old"))?.run.state).toBe("started");
  expect(await lost(store)).toEqual(["new"]);
});

test("a trigger that somebody was at when the host went down is free again", async () => {
  const path = await freshSqlite();
  const before = await open(path, new Host("first", UP_FOR_A_MONTH));
  await before.declare({
    queues: [],
    gates: [],
    triggers: [{ name: "nightly", kind: "schedule", workflow: "job", spec: "{}", paused: false }],
  });
  expect(await before.takeTrigger("nightly", 0, 60_000)).toBe(1);
  await before.close();
  const store = await open(path, new Host("second", 5_000));
  expect((await store.triggers()).triggers.map(({ busy }) => busy)).toEqual([false]);
  expect(await store.takeTrigger("nightly", 1, 60_000)).toBe(2);
});
