// A closed connection says so, whichever verb is called and whichever store is behind it.

import { describe, expect, test } from "vitest";
import type { Sluice } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import { openMemory } from "../../src/store/memory/index.ts";
import type { Store } from "../../src/store/store.ts";
import { closedAtOnce, closedWhileWaiting } from "../support/closing.ts";
import {
  describeWithMariadb,
  describeWithPostgres,
  freshSqlite,
  migratedMariadb,
  migratedPostgres,
} from "../support/databases.ts";

const mail = task({ id: "mail", run: () => 1 });
const order = workflow({ id: "order", steps: (s) => s.step("mail", mail) });
const app = defineApp({
  name: "shop",
  tasks: [mail],
  workflows: [order],
  pools: { gpu: { limit: 1 } },
});

const VERBS: readonly ((sluice: Sluice) => Promise<unknown>)[] = [
  (sluice) => sluice.enqueue(mail, undefined),
  (sluice) => sluice.enqueueMany([{ task: mail, input: undefined }]),
  (sluice) => sluice.submit(order, undefined),
  (sluice) => sluice.execute(order, undefined),
  (sluice) => sluice.explain("a"),
  (sluice) => sluice.get("a"),
  (sluice) => sluice.ended("a"),
  (sluice) => sluice.list(),
  (sluice) => sluice.changes().begin(),
  (sluice) => sluice.changes({ after: "a.0" }).begin(),
  (sluice) => sluice.changes()[Symbol.asyncIterator]().next(),
  (sluice) => sluice.events("a"),
  (sluice) => sluice.stopping(),
  (sluice) => sluice.now(),
  (sluice) => sluice.find("a"),
  (sluice) => sluice.workers(),
  (sluice) => sluice.examine(),
  (sluice) => sluice.cancel("a"),
  (sluice) => sluice.retry("a"),
  (sluice) => sluice.restore("a"),
  (sluice) => sluice.deploy(),
  (sluice) => sluice.worker(),
  (sluice) => sluice.limits.list(),
  (sluice) => sluice.limits.set("pool:gpu", 2),
  (sluice) => sluice.limits.reset("pool:gpu"),
  (sluice) => sluice.queues.pause("default"),
  (sluice) => sluice.pools.list(),
  (sluice) => sluice.pools.info("gpu"),
  (sluice) => sluice.runs.list(),
  (sluice) => sluice.runs.ended("a"),
  (sluice) => sluice.runs.cancel("a"),
  (sluice) => sluice.runs.pause("a"),
  (sluice) => sluice.runs.rerun("a"),
  (sluice) => sluice.runs.events("a"),
  (sluice) => sluice.queue.list(),
  (sluice) => sluice.queue.why("a"),
  (sluice) => sluice.schedules.list(),
  (sluice) => sluice.schedules.pause("a"),
];

/** What a call was refused with: our code, or the driver's own words. */
const refusal = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "nothing",
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );

function suite(place: () => Promise<string | Store>): void {
  test("is closed once, however many close it at the same time or later", async () => {
    const sluice = await connect({ store: await place(), app });
    await sluice.worker();
    await Promise.all([sluice.close(), sluice.close(), sluice.store.close()]);
    await sluice.close();
  });

  test("refuses every verb afterwards with CLOSED", async () => {
    const sluice = await connect({ store: await place(), app });
    await sluice.close();
    const refusals = VERBS.map(async (verb) => `${verb}: ${await refusal(verb(sluice))}`);
    expect(await Promise.all(refusals)).toEqual(VERBS.map((verb) => `${verb}: CLOSED`));
    // A hint may be lost at any time, so nobody is told.
    sluice.wake();
  });

  test("tells who waits for an end at once, also when a feed has just begun", async () => {
    const sluice = await connect({ store: await place(), app });
    const { id } = await sluice.enqueue(mail, undefined);
    expect(await closedWhileWaiting(sluice, id)).toBe("CLOSED");
  });

  test("leaves no call open that began in the same turn", async () => {
    const sluice = await connect({ store: await place(), app });
    // The connections of the drivers are open and idle.
    await Promise.all(Array.from({ length: 8 }, () => sluice.list()));
    const calls = VERBS.filter((verb) => !/worker\(/.test(`${verb}`));
    expect(await closedAtOnce(sluice, calls)).not.toContain("open");
  });

  test("refuses what was under way with CLOSED, or finishes it", async () => {
    const sluice = await connect({ store: await place(), app });
    const calls = Array.from({ length: 30 }, () => refusal(sluice.enqueue(mail, undefined)));
    await sluice.close();
    expect(["CLOSED", "nothing"]).toEqual(expect.arrayContaining([...new Set(await Promise.all(calls))]));
  });
}

describe("on memory", () => suite(async () => openMemory()));
describe("on SQLite", () => suite(async () => `file:${await freshSqlite()}`));
describeWithPostgres("on PostgreSQL", () => suite(migratedPostgres));
describeWithMariadb("on MariaDB", () => suite(migratedMariadb));
