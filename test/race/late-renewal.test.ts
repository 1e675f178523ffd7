// A session is renewed at the last moment, and the renewal is committed only after the lease expired, while
// the holder's own transaction has its claim locked. A pass in between sees the claim as lost and cannot take
// it away. It must not give the slot to another claimer: the renewal brings the claim back.

import { expect, test } from "vitest";
import { Claimer, describeOn, GATE, intake, limit, newTask, placeOf, until } from "./support.ts";

const NOW = {
  PostgreSQL: "(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
  MariaDB: "CAST(ROUND(UNIX_TIMESTAMP(NOW(3)) * 1000) AS SIGNED)",
} as const;

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    test("a claim that seems lost but could not be taken away keeps its slot", async () => {
      const place = await placeOf(name);
      try {
        const store = await place.open();
        await limit(store, GATE, 1);
        await store.enqueue([newTask("a"), newTask("b")]);
        await intake(store);
        const holder = await Claimer.open(store, "holder");
        await until(async () => (await holder.take()) === 1);
        const look = await place.beside();
        await look.query(`UPDATE sluice_session SET expires_at = ${NOW[name]} + 400 WHERE id = 'holder'`);

        // The first half of a renewal: the session is alive, and its row is locked.
        const renewal = await place.beside();
        await renewal.query("BEGIN");
        const alive = `SELECT id FROM sluice_session WHERE id = 'holder' AND expires_at > ${NOW[name]} FOR UPDATE`;
        expect(await renewal.query(alive)).toHaveLength(1);
        // The first half of the holder's own pass: its claim is marked as begun, so it is locked.
        const pass = await place.beside();
        await pass.query("BEGIN");
        await pass.query("UPDATE sluice_running SET started_at = 1, until_at = NULL WHERE id = 'a'");

        const over = `SELECT id FROM sluice_session WHERE id = 'holder' AND expires_at <= ${NOW[name]}`;
        await until(async () => (await look.query(over)).length === 1);
        const other = await Claimer.open(store, "other");
        // A new claimer has seen everything after a few looks.
        for (let looks = 0; looks < 5; looks += 1) await other.take();

        await renewal.query(
          `UPDATE sluice_session SET expires_at = ${NOW[name]} + 60000 WHERE id = 'holder'`,
        );
        await renewal.query("COMMIT");
        await pass.query("COMMIT");
        const gate = (await store.gates()).find(({ key }) => key === GATE);
        expect(gate?.held).toBe(1);
      } finally {
        await place.close();
      }
    });
  });
}
