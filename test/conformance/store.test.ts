// One suite, four stores.

import { afterAll, expect, test } from "vitest";
import { openMemory } from "../../src/store/memory/index.ts";
import { openMysql } from "../../src/store/mysql/index.ts";
import { openPostgres } from "../../src/store/postgres/index.ts";
import { sql } from "../../src/store/sql.ts";
import { openSqlite } from "../../src/store/sqlite/index.ts";
import type { Store } from "../../src/store/store.ts";
import type { FakeClock } from "../../src/testing/index.ts";
import { describeStore, sqliteTimeOf } from "../../src/testing/index.ts";
import {
  describeWithMariadb,
  describeWithPostgres,
  freshMariadb,
  freshPostgres,
  freshSqlite,
} from "../support/databases.ts";
import { fill, Statements } from "./plans.ts";
import type { Aside } from "./tables.ts";
import { besideMariadb, besidePostgres, besideSqlite, emptyTables } from "./tables.ts";

/** One database for the whole suite, emptied for each test: quicker than one for each. */
function onSql(
  name: string,
  place: () => Promise<string>,
  aside: (where: string) => Promise<Aside>,
  open: (where: string, clock: FakeClock) => Promise<Store>,
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

describeWithPostgres("a server", () => {
  let where: string;
  const statements = new Statements();
  afterAll(() => statements.release());
  const place = async (): Promise<string> => {
    where = await freshPostgres();
    return where;
  };
  onSql("PostgreSQL", place, besidePostgres, async (url, { now }) => openPostgres({ url, now }));

  test.each(["a long line", "many lanes"] as const)(
    "no statement walks through all of a table: %s",
    async (state) => {
      const aside = await besidePostgres(where);
      await emptyTables(aside);
      const long = await fill(aside, state);
      const walking = sql`SELECT count(*) FROM sluice_outcome`.render("postgres", { wall: 0, lease: 0 });
      expect(await statements.walks(aside, long)).toEqual([`sluice_outcome: ${walking.text}`]);
      expect(statements.count).toBeGreaterThan(100);
      await aside.close();
    },
  );
});

describeWithMariadb("a server", () => {
  onSql("MariaDB", freshMariadb, besideMariadb, async (url, { now }) => openMysql({ url, now }));
});
