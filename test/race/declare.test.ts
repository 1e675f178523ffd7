// Workers of several versions and apps start at the same moment, each with a connection of its own. All of
// them stop at one locked gate, so that what each writes is decided only when the gate is released. No
// declaration is lost, and the gates are as the declarations in force say.

import { expect, test } from "vitest";
import type { Declaration, Store } from "../../src/store/store.ts";
import { describeOn, placeOf, untilWaiting } from "./support.ts";

const gate = (key: string, limit: number) => ({ key, limit, line: "bypass" as const });
const of = (app: string, limit: number): Declaration => ({
  app,
  queues: [{ name: "mail", rank: limit }],
  gates: [gate("pool:a", limit), gate("pool:b", limit)],
});

const wordsAt = async (store: Store, key: string) => {
  const found = (await store.gates()).find((each) => each.key === key);
  return { limit: found?.limit, said: found?.said.map(({ app, limit }) => [app, limit]) };
};

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    test("apps that start at once all have their word, and the strictest of them is in force", async () => {
      const place = await placeOf(name);
      try {
        const stores = [await place.open(), await place.open(), await place.open()];
        const [first, second, third] = stores as [Store, Store, Store];
        await first.declare(of("before", 9));
        const [holder, observer] = await Promise.all([place.beside(), place.beside()]);
        await holder.query("BEGIN");
        await holder.query("SELECT name FROM sluice_gate WHERE name = 'pool:b' FOR UPDATE");
        const declared = Promise.all([
          first.declare(of("shop", 5), "start"),
          second.declare(of("web", 3), "start"),
          third.declare(of("api", 4), "start"),
        ]);
        await untilWaiting(name, observer);
        await holder.query("COMMIT");
        expect((await declared).map(({ inForce }) => inForce)).toEqual([true, true, true]);
        const said = [
          ["api", 4],
          ["before", 9],
          ["shop", 5],
          ["web", 3],
        ];
        for (const key of ["pool:a", "pool:b"]) expect(await wordsAt(first, key)).toEqual({ limit: 3, said });
        expect((await first.queues())[0]?.rank).toBe(3);
      } finally {
        await place.close();
      }
    });

    test("versions of one app that start at once leave one whole declaration, and the others stay away", async () => {
      const place = await placeOf(name);
      try {
        const stores = [await place.open(), await place.open(), await place.open()];
        const [first] = stores as [Store];
        await first.declare(of("shop", 9));
        const [holder, observer] = await Promise.all([place.beside(), place.beside()]);
        await holder.query("BEGIN");
        await holder.query("SELECT name FROM sluice_gate WHERE name = 'pool:b' FOR UPDATE");
        const limits = [5, 3, 4];
        const declared = Promise.all(
          stores.map((store, index) => store.declare(of("shop", limits[index] as number), "start")),
        );
        await untilWaiting(name, observer);
        await holder.query("COMMIT");
        await declared;
        const { limit, said } = await wordsAt(first, "pool:a");
        expect(said).toEqual([["shop", limit]]);
        expect(await wordsAt(first, "pool:b")).toEqual({ limit, said });
        // The last declaration is in force. None of the others comes back by itself.
        const again = await Promise.all(limits.map((each) => first.declare(of("shop", each), "start")));
        expect(again.map(({ inForce }) => inForce)).toEqual(limits.map((each) => each === limit));
        const rows = await observer.query("SELECT n FROM sluice_deploy WHERE app = 'shop' ORDER BY n");
        expect(rows.map(({ n }) => Number(n))).toEqual([1, 2, 3, 4]);
      } finally {
        await place.close();
      }
    });
  });
}
