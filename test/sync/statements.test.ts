// The four tables are a contract with people who use plain SQL. Every statement that Argo's manual prints is
// executed as it is printed, and has the described effect.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { SyncTables } from "../../src/store/sync/port.ts";
import { SYNC_TABLES } from "../../src/store/sync/tables.ts";
import type { Row } from "../conformance/tables.ts";
import { describeSync, INACTIVE_MS } from "./support/places.ts";
import { entry, joinAs, speaker, takeAs, wantAs } from "./support/units.ts";

const PRINTED = {
  allowWorkflow: "INSERT INTO sync_limit (name, sizelimit) VALUES ('foo/bar', 3)",
  allow: "INSERT INTO sync_limit (name, sizelimit) VALUES ('namespace/semaphore', 3)",
  change: "UPDATE sync_limit SET sizelimit = 4 WHERE name = 'namespace/semaphore'",
  limits: "SELECT * FROM sync_limit",
  limit: "SELECT * FROM sync_limit WHERE name = 'namespace/lock-name'",
  holders: "SELECT * FROM sync_state WHERE held = true",
  waiters: "SELECT * FROM sync_state WHERE held = false ORDER BY priority DESC, time ASC",
  line: "SELECT workflowkey, priority, time FROM sync_state WHERE name = 'sem/namespace/lock-name' AND held = false ORDER BY priority DESC, time ASC",
  controllers: "SELECT * FROM sync_controller",
  heldByWhom:
    "SELECT s.name, s.workflowkey, s.controller, c.time as last_heartbeat FROM sync_state s LEFT JOIN sync_controller c ON s.controller = c.controller WHERE s.held = true",
  forget: "DELETE FROM sync_controller WHERE controller = 'inactive-controller'",
  release: "DELETE FROM sync_state WHERE controller = 'inactive-controller'",
} as const;

const SEEDS = new URL("../../../shared/seeds/", import.meta.url);

describe("the printed statements", () => {
  test.skipIf(!existsSync(SEEDS))("are those of the manual, all of them", () => {
    const file = readdirSync(SEEDS).find((name) => name.startsWith("003"));
    const manual = readFileSync(new URL(file ?? "", SEEDS), "utf8");
    const printed = manual.match(/^(?:SELECT|INSERT|UPDATE|DELETE)\b[^;]*/gm) ?? [];
    const oneLine = printed.map((statement) => statement.replace(/\s+/g, " ").trim());
    expect(new Set(oneLine)).toEqual(new Set(Object.values(PRINTED)));
  });
});

const OTHER: SyncTables = {
  limits: "argo_limits",
  controllers: "argo_hearts",
  states: "Argo_States",
  locks: "argo_guards",
};

describeSync("plain SQL at the tables of shared locks", (placed) => {
  for (const tables of [SYNC_TABLES, OTHER]) {
    test(`under the names ${Object.values(tables).join(", ")}`, async () => {
      const place = await placed();
      const world = { now: Date.now() };
      const sync = await place.open({ tables, now: () => world.now });
      const aside = await place.beside();
      const say = (printed: keyof typeof PRINTED): Promise<Row[]> =>
        aside.query(under(tables, PRINTED[printed]));

      await joinAs(sync, "here");
      await joinAs(sync, "inactive-controller");
      await limitsByHand(say, async (locks) => {
        const units = [1, 2, 3, 4, 5].map((n) => entry(`${locks}-${n}`, [locks]));
        return wantAs(sync, "here", ...units);
      });

      await aside.query(
        under(tables, "INSERT INTO sync_limit (name, sizelimit) VALUES ('namespace/lock-name', 1)"),
      );
      const lock = "sem/namespace/lock-name";
      await wantAs(sync, "inactive-controller", entry("foo/dead", [lock], { priority: 9 }));
      const line = [
        entry("foo/late", [lock], { at: 3_000_000 }),
        entry("foo/early", [lock], { at: 2_000_000 }),
        entry("foo/urgent", [lock], { at: 4_000_000, priority: 1 }),
      ];
      expect(await wantAs(sync, "here", ...line)).toEqual([]);
      expect(await say("limit")).toMatchObject([{ name: "namespace/lock-name", sizelimit: 1 }]);
      expect((await say("line")).map(({ workflowkey }) => workflowkey)).toEqual([
        "foo/urgent",
        "foo/early",
        "foo/late",
      ]);
      expect((await say("waiters")).filter(({ name }) => name === lock)).toHaveLength(3);
      expect((await say("holders")).filter(({ name }) => name === lock)).toMatchObject([
        { workflowkey: "foo/dead", controller: "inactive-controller" },
      ]);
      expect((await say("controllers")).map(({ controller }) => controller).sort()).toEqual([
        "here",
        "inactive-controller",
      ]);

      world.now += INACTIVE_MS;
      await sync.heartbeat(speaker("here"));
      expect(await takeAs(sync, "here", line)).toEqual([]);
      const dead = (await say("heldByWhom")).find(({ name }) => name === lock);
      expect(dead).toMatchObject({ workflowkey: "foo/dead", controller: "inactive-controller" });
      expect(new Date(String(dead?.last_heartbeat)).getTime()).not.toBeNaN();

      await say("forget");
      await say("release");
      expect((await sync.controllers()).map(({ name }) => name)).toEqual(["here"]);
      expect(await takeAs(sync, "here", line)).toEqual(["foo/urgent"]);
    });
  }

  test("a guard row that somebody left keeps everybody out until it is old", async () => {
    const place = await placed();
    const world = { now: Date.now() };
    const sync = await place.open({ now: () => world.now });
    const aside = await place.beside();
    await joinAs(sync, "here");
    await aside.query("INSERT INTO sync_lock (name, controller) VALUES ('mtx/ns/m', 'gone')");
    world.now += 5_000;
    expect(await wantAs(sync, "here", entry("1", ["mtx/ns/m"]), entry("2", ["mtx/ns/free"]))).toEqual(["2"]);
    world.now += INACTIVE_MS;
    await sync.heartbeat(speaker("here"));
    expect(await takeAs(sync, "here", [entry("1", ["mtx/ns/m"])])).toEqual(["1"]);
    expect(await aside.query("SELECT * FROM sync_lock")).toEqual([]);
  });
});

/** Three are allowed, then four. */
async function limitsByHand(
  say: (printed: keyof typeof PRINTED) => Promise<Row[]>,
  want: (lock: string) => Promise<readonly string[]>,
): Promise<void> {
  await say("allowWorkflow");
  expect(await want("sem/foo/bar")).toHaveLength(3);
  await say("allow");
  expect(await want("sem/namespace/semaphore")).toHaveLength(3);
  await say("change");
  expect(await want("sem/namespace/semaphore")).toHaveLength(1);
  const limits = (await say("limits")).map(({ name, sizelimit }) => [name, Number(sizelimit)]);
  expect(new Map(limits as [string, number][])).toEqual(
    new Map([
      ["foo/bar", 3],
      ["namespace/semaphore", 4],
    ]),
  );
}

const under = (tables: SyncTables, statement: string): string =>
  statement
    .replace(/\bsync_limit\b/g, tables.limits)
    .replace(/\bsync_controller\b/g, tables.controllers)
    .replace(/\bsync_state\b/g, tables.states)
    .replace(/\bsync_lock\b/g, tables.locks);
