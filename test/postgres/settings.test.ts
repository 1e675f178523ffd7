// The store works the same, whatever is set for a server, a database, a role or a URL.

import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { examine } from "../../src/api/doctor/doctor.ts";
import { connect, defineApp, task } from "../../src/index.ts";
import { openPostgres } from "../../src/store/postgres/index.ts";
import { accessOf } from "../../src/store/postgres/settings.ts";
import type { Store } from "../../src/store/store.ts";
import {
  describeWithInstalled,
  describeWithPostgres,
  freshInstalled,
  freshPostgres,
} from "../support/databases.ts";

const servers = [
  { title: "PostgreSQL", describeWith: describeWithPostgres, fresh: freshPostgres },
  { title: "PostgreSQL as installed", describeWith: describeWithInstalled, fresh: freshInstalled },
];

/** Each of these would change what our statements mean, how they run, or how long a connection may stay. */
const ADMINS = [
  ["default_transaction_isolation", "serializable"],
  ["statement_timeout", "1"],
  ["lock_timeout", "1"],
  ["idle_in_transaction_session_timeout", "1"],
  ["jit_above_cost", "0"],
  ["jit", "on"],
  ["plan_cache_mode", "force_custom_plan"],
  ["enable_seqscan", "on"],
  ["standard_conforming_strings", "off"],
  ["array_nulls", "off"],
  ["TimeZone", "Asia/Kolkata"],
  ["DateStyle", "SQL, DMY"],
  ["extra_float_digits", "-15"],
  ["row_security", "off"],
  ["transform_null_equals", "on"],
  ["search_path", "elsewhere"],
] as const;

const OURS = {
  jit: "off",
  enable_seqscan: "off",
  plan_cache_mode: "force_generic_plan",
  lock_timeout: "3000",
  idle_in_transaction_session_timeout: "1000",
  transaction_isolation: "read committed",
  // The settings came with the connection, so no pooler was suspected of dropping them.
  pooler: "off",
};

for (const { title, describeWith, fresh } of servers)
  describeWith(`a ${title} that somebody has set up`, () => {
    let url: string;
    let admin: pg.Client;
    const stores: Store[] = [];
    const opened = (options: Parameters<typeof openPostgres>[0]): Store => {
      const store = openPostgres(options);
      stores.push(store);
      return store;
    };

    beforeEach(async () => {
      url = await fresh();
      admin = new pg.Client({ connectionString: url });
      admin.on("error", () => {});
      await admin.connect();
      await admin.query("CREATE SCHEMA elsewhere");
    });
    afterEach(async () => {
      for (const store of stores.splice(0)) await store.close();
      await admin.end().catch(() => {});
    });

    const setForAll = (name: string, value: string): Promise<unknown> =>
      admin.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET ${name} = '${value}'`);

    test("to do what we set otherwise, or to read and write other words, does what it always does", async () => {
      for (const [name, value] of ADMINS) await setForAll(name, value);
      const work = task({ id: "work", pools: { one: 1 }, run: ({ said }: { said: string }) => said });
      const app = defineApp({ tasks: [work], pools: { one: { limit: 1 } } });
      const sluice = await connect({ store: url, app, migrate: true });
      const worker = await sluice.worker({ slots: 4 });
      const saids = ["plain", "back\\slash", "it's", '{"quoted",NULL}'];
      const tasks = await Promise.all(saids.map((said) => sluice.enqueue(work, { said })));
      const ends = await Promise.all(tasks.map(({ id }) => sluice.ended(id)));
      expect(ends.map(({ result }) => result)).toEqual(saids);
      await worker.stop();
      await sluice.close();
      const store = opened({ url });
      expect((await store.inspect()).settings).toMatchObject(OURS);
      expect((await examine(store)).verdict).toBe("ok");
    });

    test("nothing of ours is compiled, where the server compiles what others ask", async (context) => {
      for (const [name, value] of Object.entries({ jit: "on", jit_above_cost: "0" }))
        await setForAll(name, value);
      const isCompiled = async (config: pg.ClientConfig): Promise<boolean> => {
        const client = new pg.Client(config);
        await client.connect();
        const { rows } = await client.query("EXPLAIN (ANALYZE, FORMAT JSON) SELECT count(*) FROM pg_class");
        await client.end();
        return "JIT" in rows[0]["QUERY PLAN"][0];
      };
      if (!(await isCompiled({ connectionString: url }))) context.skip("this server is built without LLVM");
      expect(await isCompiled(accessOf(url))).toBe(false);
    });

    test("settings in the URL stand beside ours", async () => {
      const store = opened({ url: `${url}?options=${encodeURIComponent("-c search_path=elsewhere")}` });
      await store.migrate();
      expect((await store.inspect()).settings).toMatchObject(OURS);
      const { rows } = await admin.query("SELECT to_regclass('elsewhere.sluice_task') IS NOT NULL AS there");
      expect(rows).toEqual([{ there: true }]);
    });

    test("who waits for hints outlives idle_session_timeout", async () => {
      await setForAll("idle_session_timeout", "100");
      const store = opened({ url });
      await store.listen(() => {});
      const listening =
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'";
      const before = (await admin.query(listening)).rows;
      expect(before).toHaveLength(1);
      // A later connection without our settings is closed while idle, as ours would have been.
      const other = new pg.Client({ connectionString: url });
      other.on("error", () => {});
      await other.connect();
      await new Promise((resolve) => other.once("end", resolve));
      expect((await admin.query(listening)).rows).toEqual(before);
    });

    test("a role with too few connections for us works over those it has", async () => {
      const role = `few_${new URL(url).pathname.slice(-8)}`;
      await admin.query(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 2`);
      await opened({ url }).migrate();
      await admin.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
      const own = new URL(url);
      own.username = role;
      const store = opened({ url: own.href });
      const answers = await Promise.all(Array.from({ length: 16 }, () => store.now()));
      expect(answers.every((at) => at > 0)).toBe(true);
      await store.close();
      await admin.query(`DROP OWNED BY ${role}`);
      await admin.query(`DROP ROLE ${role}`);
    });

    test("a database that cannot store every text is refused before it has a table", async () => {
      const name = `${new URL(url).pathname.slice(1)}_latin`;
      await admin.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
      const latin = new URL(url);
      latin.pathname = `/${name}`;
      await expect(opened({ url: latin.href }).migrate()).rejects.toMatchObject({
        code: "STORE_REFUSED",
        message: expect.stringContaining("LATIN1"),
      });
    });

    test("a database that takes no writes says so, to who writes and to who asks a doctor", async () => {
      await opened({ url }).migrate();
      await setForAll("default_transaction_read_only", "on");
      const store = opened({ url });
      await expect(
        store.openSession({ id: "s", name: "s", slots: 1, serves: "{}", leaseMs: 1 } as never),
      ).rejects.toMatchObject({ code: "STORE_READ_ONLY" });
      const { checks } = await examine(store);
      expect(checks.find(({ check }) => check === "durability")?.says).toMatch(
        /^default_transaction_read_only is on/,
      );
    });
  });
