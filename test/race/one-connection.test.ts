// A store that may open only one connection: nothing it does needs a second one while it holds the first.

import { expect, test } from "vitest";
import { openMysql } from "../../src/store/mysql/index.ts";
import { openPostgres } from "../../src/store/postgres/index.ts";
import type { Store } from "../../src/store/store.ts";
import { MAIL, NOTHING, newTask, scopeOf } from "../../src/testing/store-suite/bench.ts";
import {
  describeWithMariadb,
  describeWithPostgres,
  freshMariadb,
  freshPostgres,
} from "../support/databases.ts";

async function works(store: Store): Promise<void> {
  await store.migrate();
  await store.migrate();
  await store.verify();
  await store.declare({ queues: [], gates: [{ key: "pool:smtp", limit: 1, line: "bypass" }] });
  await store.enqueue([newTask("a")]);
  await store.openSession({ id: "s1", name: "s1", slots: 1, serves: "{}", leaseMs: 60_000 });
  await store.pass(scopeOf([MAIL]), () => ({ ...NOTHING, claim: [{ id: "a", held: true, leaseMs: null }] }));
  expect((await store.wait("a"))?.task.holds).toBe(true);
  expect(await store.cancel("a", "ann")).toEqual({ was: "running" });
  await store.close();
}

describeWithMariadb("with one connection", () => {
  test("MariaDB migrates and works", { timeout: 60_000 }, async () => {
    await works(openMysql({ url: await freshMariadb(), connections: 1 }));
  });
});

describeWithPostgres("with one connection", () => {
  test("PostgreSQL migrates and works", { timeout: 60_000 }, async () => {
    await works(openPostgres({ url: await freshPostgres(), connections: 1 }));
  });
});
