// The connection dies while a commit is on the way. Whether it was done or not, an enqueue has exactly one effect and
// says so, and a pass says that it does not know.

import { afterEach, beforeEach, expect, test } from "vitest";
import { openMysql } from "../../src/store/mysql/index.ts";
import { openPostgres } from "../../src/store/postgres/index.ts";
import type { Store } from "../../src/store/store.ts";
import type { Aside } from "../conformance/tables.ts";
import type { Cut } from "./broken-line.ts";
import { BrokenLine } from "./broken-line.ts";
import type { Place } from "./support.ts";
import {
  describeOn,
  GATE,
  IDLE,
  intake,
  limit,
  newTask,
  placeOf,
  scopeOf,
  waitingForLocks,
} from "./support.ts";

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    let place: Place;
    let line: BrokenLine;
    let store: Store;
    let observer: Aside;

    beforeEach(async () => {
      place = await placeOf(name);
      await place.open();
      observer = await place.beside();
      line = await BrokenLine.to(place.where);
      store = name === "PostgreSQL" ? openPostgres({ url: line.url }) : openMysql({ url: line.url });
    });
    afterEach(async () => {
      await store.close();
      await line.close();
      await place.close();
    });

    const count = async (what: string): Promise<number> =>
      Number((await observer.query(`SELECT count(*) AS n FROM ${what}`))[0]?.n);
    const cutWhen = (answer: "lost" | "never asked", done: string): Cut =>
      answer === "lost" ? { answer, isDone: async () => (await count(done)) > 0 } : { answer };

    test("an enqueue whose commit arrives after everybody believed it lost has exactly one effect", async () => {
      // The second try finds the first one's row uncommitted, and has to wait for it.
      line.breakNext({ answer: "late", isTime: async () => (await waitingForLocks(name, observer)) > 0 });
      expect(await store.enqueue([newTask("a", { key: "k" })])).toEqual([{ id: "a", created: true }]);
      expect(line.cuts).toBe(1);
      const counts = [
        await count("sluice_task"),
        await count("sluice_waiting"),
        await count("sluice_arrival"),
      ];
      expect(counts).toEqual([1, 1, 1]);
    });

    test.runIf(name === "PostgreSQL")(
      "an enqueue whose commit arrives late is not put in line a second time when it is done by then",
      async () => {
        // Stands for a worker that is quicker than our second try: with the late commit, the task is done at once.
        await observer.query(`CREATE FUNCTION do_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF NOT EXISTS (SELECT 1 FROM sluice_outcome WHERE id = NEW.id) THEN
            INSERT INTO sluice_outcome (id, state, attempt, losses, finished_at, n) VALUES (NEW.id, 'succeeded', 1, 0, 0, 3);
            DELETE FROM sluice_waiting WHERE id = NEW.id;
          END IF;
          RETURN NULL; END $$`);
        await observer.query(
          "CREATE TRIGGER do_it AFTER INSERT ON sluice_waiting FOR EACH ROW EXECUTE FUNCTION do_it()",
        );
        line.breakNext({ answer: "late", isTime: async () => (await waitingForLocks(name, observer)) > 0 });
        expect(await store.enqueue([newTask("a", { key: "k" })])).toEqual([{ id: "a", created: true }]);
        expect([await count("sluice_waiting"), await count("sluice_outcome")]).toEqual([0, 1]);
      },
    );

    test.each(["lost", "never asked"] as const)(
      "an enqueue whose commit is %s has exactly one effect",
      async (answer) => {
        line.breakNext(cutWhen(answer, "sluice_task"));
        expect(await store.enqueue([newTask("a"), newTask("b", { delayMs: 60_000 })])).toEqual([
          { id: "a", created: true },
          { id: "b", created: true },
        ]);
        expect(line.cuts).toBe(1);
        expect([
          await count("sluice_task"),
          await count("sluice_waiting"),
          await count("sluice_later"),
        ]).toEqual([2, 1, 1]);
        expect(await count("sluice_arrival")).toBe(1);
      },
    );

    test.each(["lost", "never asked"] as const)(
      "an enqueue with keys whose commit is %s says which tasks are new and which were there",
      async (answer) => {
        await store.enqueue([newTask("twin", { key: "taken" })]);
        line.breakNext(cutWhen(answer, "sluice_task WHERE id = 'a'"));
        const tasks = [newTask("a"), newTask("b", { key: "taken" }), newTask("c", { key: "free" })];
        expect(await store.enqueue(tasks)).toEqual([
          { id: "a", created: true },
          { id: "twin", created: false },
          { id: "c", created: true },
        ]);
        expect(line.cuts).toBe(1);
        expect([await count("sluice_task"), await count("sluice_waiting")]).toEqual([3, 3]);
      },
    );

    test.each(["lost", "never asked"] as const)(
      "a pass whose commit is %s says so, and the store knows what it claimed",
      async (answer) => {
        await store.openSession({ id: "s1", name: "s1", slots: 4, serves: "{}", leaseMs: 600_000 });
        await limit(store, GATE, 5);
        await store.enqueue([newTask("a")]);
        await intake(store);
        line.breakNext(cutWhen(answer, "sluice_running"));
        const pass = store.pass(scopeOf({ exclusive: [GATE, "queue:race"] }), () => ({
          ...IDLE,
          claim: [{ id: "a", held: true }],
        }));
        await expect(pass).rejects.toMatchObject({ code: "AMBIGUOUS_COMMIT" });
        expect((await store.claimsOf("s1")).map(({ id }) => id)).toEqual(answer === "lost" ? ["a"] : []);
        expect([await count("sluice_waiting"), await count("sluice_running")]).toEqual(
          answer === "lost" ? [0, 1] : [1, 0],
        );
      },
    );
  });
}
