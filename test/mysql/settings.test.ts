// Our connections have the settings we need, whatever the server's own settings are.

import { beforeAll, expect, onTestFinished, test } from "vitest";
import type { Reference } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import { MysqlDatabase } from "../../src/store/mysql/database.ts";
import { besideMariadb } from "../conformance/tables.ts";
import { describeWithMariadb } from "../support/databases.ts";
import { oddMariadb } from "./odd-server.ts";

/** The server's setting, and the one our connections must have. */
const ODD: readonly (readonly [name: string, odd: string, ours: string])[] = [
  ["autocommit", "0", "ON"],
  ["completion_type", "'CHAIN'", "NO_CHAIN"],
  [
    "sql_mode",
    "'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'",
    "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION",
  ],
  ["tx_isolation", "'SERIALIZABLE'", "READ-COMMITTED"],
  ["time_zone", "'-09:30'", "+00:00"],
  ["innodb_lock_wait_timeout", "50", "3"],
  ["sql_select_limit", "1", "18446744073709551615"],
  ["max_sort_length", "64", "1024"],
  ["sql_safe_updates", "1", "OFF"],
  ["sql_big_selects", "0", "ON"],
  ["sql_auto_is_null", "1", "OFF"],
  ["unique_checks", "0", "ON"],
  ["wait_timeout", "2", "28800"],
  ["max_statement_time", "0.001", "0.000000"],
  ["idle_transaction_timeout", "0", "1"],
  ["character_set_client", "latin1", "utf8mb4"],
  ["character_set_results", "latin1", "utf8mb4"],
  ["collation_connection", "latin1_swedish_ci", "utf8mb4_nopad_bin"],
];

const echo = task({ id: "echo", run: (input: unknown) => input });
const items = workflow({
  id: "items",
  steps: (s, input: Reference<{ readonly list: readonly number[] }>) => {
    s.each("all", input.list, echo);
  },
});
const app = defineApp({ tasks: [echo], workflows: [items] });

describeWithMariadb("on a MariaDB with defaults of somebody else's", () => {
  const fresh = oddMariadb([]);

  beforeAll(async () => {
    const admin = await besideMariadb(await fresh());
    for (const [name, odd] of ODD) await admin.query(`SET GLOBAL ${name} = ${odd}`);
    await admin.query("SET GLOBAL max_join_size = 10");
    await admin.query("SET GLOBAL default_storage_engine = MyISAM");
    await admin.query("SET GLOBAL character_set_server = latin1");
    await admin.close();
  });

  test("they do not reach our connections", async () => {
    const database = new MysqlDatabase({ url: await fresh() });
    onTestFinished(() => database.close());
    const [rows] = await database.pool.query("SHOW SESSION VARIABLES");
    const is = new Map(
      (rows as { Variable_name: string; Value: string }[]).map((row) => [row.Variable_name, row.Value]),
    );
    expect(ODD.map(([name]) => [name, is.get(name)])).toEqual(ODD.map(([name, , ours]) => [name, ours]));
  });

  test("what is migrated, enqueued and run is kept, and seen by others", async () => {
    const url = await fresh();
    await (await connect({ store: url, app, migrate: true })).close();
    const sluice = await connect({ store: url, app });
    onTestFinished(() => sluice.close({ graceMs: 1_000 }));
    await sluice.worker({ slots: 2, poll: "50ms", pollJitter: "0ms" });
    const odd = { text: "back\\slash, 'quote', \"double\" and ü €" };
    const { id } = await sluice.enqueue(echo, odd);
    expect(await sluice.ended(id)).toMatchObject({ state: "succeeded", result: odd });
    const run = await sluice.submit(items, { list: [1, 2, 3, 4, 5] });
    expect(await sluice.runs.ended(run.id)).toMatchObject({ state: "succeeded" });
    const beside = await besideMariadb(url);
    onTestFinished(() => beside.close());
    await beside.query("SET SESSION sql_select_limit = DEFAULT, SESSION max_statement_time = 0");
    const [seen] = await beside.query("SELECT COUNT(*) AS n FROM sluice_outcome WHERE state = 'succeeded'");
    expect(Number(seen?.n)).toBe(7);
    const now = await sluice.store.now();
    expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
  });
});
