// PostgreSQL keeps claimed rows in its indexes until a vacuum comes. A look at a line must not walk over
// them: its cost would grow with everything the line has seen.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SETTINGS } from "../../src/store/postgres/settings.ts";
import { selectHeads, selectUsage } from "../../src/store/query/look.ts";
import type { Sql } from "../../src/store/sql.ts";
import type { Store } from "../../src/store/store.ts";
import type { Aside } from "../conformance/tables.ts";
import type { Place } from "./support.ts";
import { describeOn, intake, LANE, newTask, placeOf } from "./support.ts";

const GONE = 9_000;
const LEFT = 1_000;
/** The pages that a look may touch: a few per index, whatever lies before the head. */
const FEW = 20;

describe.each(["PostgreSQL", "PostgreSQL as installed"] as const)("%s", (server) =>
  describeOn(server, () => {
    let place: Place;
    let store: Store;
    let aside: Aside;

    beforeEach(async () => {
      place = await placeOf(server);
      store = await place.open();
      aside = await place.beside();
      for (const table of ["sluice_waiting", "sluice_running", "sluice_lane"])
        await aside.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
      for (const [name, value] of Object.entries(SETTINGS)) await aside.query(`SET ${name} = '${value}'`);
    });
    afterEach(() => place.close());

    /** Runs the statement with its generic plan, and returns how many pages it read. */
    const looked = async (statement: Sql<unknown>): Promise<{ pages: number; rows: number }> => {
      const clock = "0::bigint";
      const { text, values } = statement.render("postgres", { wall: clock, lease: clock });
      await aside.query(`PREPARE looked AS ${text}`);
      const given = values.length > 0 ? `(${values.map((value) => `'${value}'`).join(", ")})` : "";
      await aside.query(`EXECUTE looked${given}`);
      const rows = await aside.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE looked${given}`);
      await aside.query("DEALLOCATE looked");
      const explained = rows[0]?.["QUERY PLAN"] as { Plan: Record<string, number> }[] | undefined;
      const plan = explained?.[0]?.Plan ?? {};
      return { pages: Number(plan["Shared Hit Blocks"]), rows: Number(plan["Actual Rows"]) };
    };

    const inLine = async (): Promise<void> => {
      const total = GONE + LEFT;
      const id = (n: number): string => `t${String(n).padStart(6, "0")}`;
      for (let from = 0; from < total; from += 1_000)
        await store.enqueue(Array.from({ length: 1_000 }, (_, n) => newTask(id(from + n))));
      await intake(store);
      await aside.query("ANALYZE");
      await aside.query(`DELETE FROM sluice_waiting WHERE id < '${id(GONE)}'`);
      await aside.query(`UPDATE sluice_lane SET (head_precedence, head_at, head_id) =
      (SELECT precedence, at, id FROM sluice_waiting ORDER BY precedence, at, id LIMIT 1)`);
    };

    test.each([{ arriving: false }, { arriving: true }])(
      "a look at a line begins at its head, not at those who have gone (newcomers: $arriving)",
      async ({ arriving }) => {
        await inLine();
        if (arriving) await store.enqueue([newTask("u1")]);
        const heads = selectHeads([{ id: LANE.id, want: 25 }], { skipLocked: false, arriving });
        const { pages, rows } = await looked(heads);
        expect(rows).toBe(25);
        expect(pages).toBeLessThan(FEW);
      },
    );

    test("claims that have ended cost a count of usage nothing", async () => {
      await inLine();
      await aside.query(`INSERT INTO sluice_running (id, lane, session, held, claimed_at, claimed_n, precedence, at, attempt, losses, n)
      SELECT id, lane, 'by hand', 1, 0, 2, precedence, at, 1, 0, 2 FROM sluice_waiting`);
      await aside.query(`DELETE FROM sluice_running WHERE id <> 't009999'`);
      const { pages, rows } = await looked(selectUsage());
      expect(rows).toBe(1);
      expect(pages).toBeLessThan(FEW);
    });
  }),
);
