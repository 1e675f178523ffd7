// Runs one suite on four stores.

import { afterAll, expect, test } from "vitest";
import type { Capabilities } from "../../src/store/capabilities.ts";
import { openMemory } from "../../src/store/memory/index.ts";
import { openMysql } from "../../src/store/mysql/index.ts";
import { openPostgres } from "../../src/store/postgres/index.ts";
import type { Sql } from "../../src/store/sql.ts";
import { sql } from "../../src/store/sql.ts";
import { openSqlite } from "../../src/store/sqlite/index.ts";
import type { Store } from "../../src/store/store.ts";
import type { FakeClock } from "../../src/testing/index.ts";
import { sqliteTimeOf } from "../../src/testing/index.ts";
import { describeStore } from "../../src/testing/store-suite/index.ts";
import {
  describeWithInstalled,
  describeWithMariadb,
  describeWithPostgres,
  freshInstalled,
  freshMariadb,
  freshPostgres,
  freshSqlite,
} from "../support/databases.ts";
import { fill, Statements } from "./plans.ts";
import type { Aside } from "./tables.ts";
import { besideMariadb, besidePostgres, besideSqlite, emptyTables } from "./tables.ts";

/** The suite uses one database and empties it for each test, which is faster than a database for each. */
function onSql(
  name: string,
  place: () => Promise<string>,
  aside: (where: string) => Promise<Aside>,
  open: (where: string, clock: FakeClock) => Promise<Store>,
  capabilities: Partial<Capabilities> = {},
): void {
  let where: string | undefined;
  let beside: Aside | undefined;
  afterAll(() => beside?.close());
  describeStore(
    name,
    async (clock) => {
      where ??= await place();
      const store = await open(where, clock);
      await store.migrate();
      beside ??= await aside(where);
      await emptyTables(beside);
      return store;
    },
    {
      capabilities,
      setLimitDirectly: async (_, key, limit) => {
        await beside?.query(`UPDATE sluice_gate SET capacity = ${limit} WHERE name = '${key}'`);
      },
      succeedDirectly: async (_, { workflow, run, at }) => {
        await beside?.query(
          `INSERT INTO sluice_success (workflow, run, at) VALUES ('${workflow}', '${run}', ${at})`,
        );
      },
    },
  );
}

describeStore("memory", async (clock) => openMemory({ now: clock.now }));

onSql("SQLite", freshSqlite, besideSqlite, (path, clock) => openSqlite(path, sqliteTimeOf(clock)));

// An installed PostgreSQL is usually built with LLVM and plans by other rules than the newest version.
const servers = [
  { title: "PostgreSQL", describeWith: describeWithPostgres, fresh: freshPostgres },
  { title: "PostgreSQL as installed", describeWith: describeWithInstalled, fresh: freshInstalled },
];
const statements = new Statements();
afterAll(() => statements.release());

for (const { title, describeWith, fresh } of servers)
  describeWith("a server", () => {
    let where: string;
    const place = async (): Promise<string> => {
      where = await fresh();
      return where;
    };
    onSql(title, place, besidePostgres, async (url, { now }) => openPostgres({ url, now }), {
      callerTransaction: true,
    });

    test.each(["new tables", "a long line", "many lanes"] as const)(
      "no statement walks through all of a table, or must do what is switched off: %s",
      async (state) => {
        const aside = await besidePostgres(where);
        await emptyTables(aside);
        await aside.query("VACUUM FULL");
        const long = state === "new tables" ? [] : await fill(aside, state);
        const walking = render(sql`SELECT count(*) FROM sluice_outcome`);
        const forced = render(sql`SELECT name FROM sluice_session`);
        const looked = await statements.look(aside, long);
        expect(looked.walks).toEqual(long.length > 0 ? [`sluice_outcome: ${walking}`] : []);
        expect(looked.forced).toEqual([forced]);
        expect(looked.dearest).toBeLessThan(COMPILED_FROM);
        expect(statements.count).toBeGreaterThan(100);
        await aside.close();
      },
    );
  });

/** PostgreSQL's default of jit_above_cost. */
const COMPILED_FROM = 100_000;

const render = (statement: Sql): string => statement.render("postgres", { wall: 0, lease: 0 }).text;

describeWithMariadb("a server", () => {
  onSql("MariaDB", freshMariadb, besideMariadb, async (url, { now }) => openMysql({ url, now }));
});
