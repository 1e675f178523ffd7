// Upgrades a store of 0.1.0, where limits had no owner. The limits stay in force until an app that names the
// gate is deployed.

import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/api/open-store.ts";
import { migrations, recordVersion, versionTable } from "../../src/store/schema.ts";
import type { Dialect } from "../../src/store/sql.ts";
import type { Store } from "../../src/store/store.ts";
import type { Aside } from "../conformance/tables.ts";
import { besideMariadb, besidePostgres, besideSqlite } from "../conformance/tables.ts";
import {
  describeWithMariadb,
  describeWithPostgres,
  freshMariadb,
  freshPostgres,
  freshSqlite,
} from "../support/databases.ts";

const OLD = [
  "INSERT INTO sluice_gate (name, capacity, declared, line) VALUES ('cluster', 5, 5, 'skip'), ('queue:mail', -1, -1, 'skip'), ('queue:post', 3, 3, 'skip'), ('tag:env', -1, -1, 'skip'), ('mutex:m', 1, 1, 'strict'), ('run:r1/async', 4, 4, 'skip'), ('runs', 7, 7, 'skip')",
  "INSERT INTO sluice_gate (name, capacity, declared, line, lease_ms, lease_declared) VALUES ('pool:gpu', 2, 2, 'bypass', 9000, 9000)",
  "INSERT INTO sluice_gate (name, capacity, declared, line, set_by, set_at) VALUES ('pool:cpu', 8, 4, 'bypass', 'ann', 5)",
  "INSERT INTO sluice_queue (name, queue_rank) VALUES ('mail', 1), ('post', 100)",
];

async function upgraded(dialect: Dialect, aside: Aside, url: string): Promise<Store> {
  onTestFinished(() => aside.close());
  await aside.query(versionTable(dialect));
  for (const [index, statements] of migrations(dialect).slice(0, 2).entries())
    for (const statement of [...statements, recordVersion(index + 1)]) await aside.query(statement);
  for (const statement of OLD) await aside.query(statement);
  const store = await openStore(url, { migrate: true });
  onTestFinished(() => store.close());
  return store;
}

const limitsOf = async (store: Store): Promise<Record<string, number | null>> =>
  Object.fromEntries((await store.gates()).map(({ key, limit }) => [key, limit]));

function keepsLimits(open: () => Promise<Store>): void {
  test("limits of which nobody knows the app stay, until an app that names the gate is deployed", async () => {
    const store = await open();
    const before = await limitsOf(store);
    expect(before).toMatchObject({ cluster: 5, "queue:post": 3, "pool:gpu": 2, "pool:cpu": 8, runs: 7 });
    const said = (await store.gates()).flatMap(({ key, said }) =>
      said.map(({ app, limit }) => [key, app, limit]),
    );
    expect(said).toEqual([
      ["cluster", "", 5],
      ["pool:cpu", "", 4],
      ["pool:gpu", "", 2],
      ["queue:mail", "", null],
      ["queue:post", "", 3],
      ["runs", "", 7],
    ]);
    // An app that names none of the gates changes none of their limits.
    await store.declare({ app: "web", queues: [], gates: [{ key: "pool:other", limit: 1, line: "bypass" }] });
    expect(await limitsOf(store)).toMatchObject(before);
    expect((await store.queues()).map(({ name, rank }) => [name, rank])).toEqual([
      ["mail", 1],
      ["post", 100],
    ]);
    // An app that names a gate replaces its ownerless limit, and from then on only the app's declaration
    // counts.
    await store.declare({
      app: "shop",
      queues: [{ name: "mail", rank: 4 }],
      gates: [
        { key: "cluster", limit: 9, line: "skip" },
        { key: "pool:cpu", limit: 6, line: "bypass" },
      ],
    });
    const after = { ...before, cluster: 9, "pool:other": 1 };
    expect(await limitsOf(store)).toEqual(after);
    expect((await store.queues())[0]).toMatchObject({ name: "mail", rank: 4 });
    await store.changeLimit({ key: "pool:cpu", to: "declared", by: "ann" });
    expect(await limitsOf(store)).toEqual({ ...after, "pool:cpu": 6 });
  });
}

keepsLimits(async () => {
  const path = await freshSqlite();
  return upgraded("sqlite", await besideSqlite(path), `file:${path}`);
});

describeWithPostgres("on PostgreSQL", () =>
  keepsLimits(async () => {
    const url = await freshPostgres();
    return upgraded("postgres", await besidePostgres(url), url);
  }),
);

describeWithMariadb("on MariaDB", () =>
  keepsLimits(async () => {
    const url = await freshMariadb();
    return upgraded("mysql", await besideMariadb(url), url);
  }),
);
