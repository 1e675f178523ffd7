// The connection dies while a commit is on its way. Whether or not the commit was done, an enqueue has
// exactly one effect and reports it, and a pass reports that it does not know.

import { expect, test } from "vitest";
import type { Scene } from "./behind-broken-line.ts";
import { behindBrokenLine } from "./behind-broken-line.ts";
import type { Cut } from "./broken-line.ts";
import { describeOn, GATE, IDLE, intake, limit, newTask, scopeOf } from "./support.ts";

const cutWhen = ({ count }: Scene, answer: "lost" | "never asked", done: string): Cut =>
  answer === "lost" ? { answer, isDone: async () => (await count(done)) > 0 } : { answer };

for (const name of ["PostgreSQL", "MariaDB"] as const) {
  describeOn(name, () => {
    test("an enqueue whose commit arrives after everybody believed it lost has exactly one effect", async () => {
      const { line, store, count, isAnyoneWaiting } = await behindBrokenLine(name);
      // The second attempt finds the first one's row uncommitted, and has to wait for it.
      line.breakNext({ answer: "late", isTime: isAnyoneWaiting });
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
        const { line, store, count, aside, isAnyoneWaiting } = await behindBrokenLine(name);
        // Stands for a worker that is faster than our second attempt: with the late commit, the task is done
        // at once.
        await aside(`CREATE FUNCTION do_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF NOT EXISTS (SELECT 1 FROM sluice_outcome WHERE id = NEW.id) THEN
            INSERT INTO sluice_outcome (id, state, attempt, losses, finished_at, n) VALUES (NEW.id, 'succeeded', 1, 0, 0, 3);
            DELETE FROM sluice_waiting WHERE id = NEW.id;
          END IF;
          RETURN NULL; END $$`);
        await aside(
          "CREATE TRIGGER do_it AFTER INSERT ON sluice_waiting FOR EACH ROW EXECUTE FUNCTION do_it()",
        );
        line.breakNext({ answer: "late", isTime: isAnyoneWaiting });
        expect(await store.enqueue([newTask("a", { key: "k" })])).toEqual([{ id: "a", created: true }]);
        expect([await count("sluice_waiting"), await count("sluice_outcome")]).toEqual([0, 1]);
      },
    );

    test.each(["lost", "never asked"] as const)(
      "an enqueue whose commit is %s has exactly one effect",
      async (answer) => {
        const scene = await behindBrokenLine(name);
        const { line, store, count } = scene;
        line.breakNext(cutWhen(scene, answer, "sluice_task"));
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
        const scene = await behindBrokenLine(name);
        const { line, store, count } = scene;
        await store.enqueue([newTask("twin", { key: "taken" })]);
        line.breakNext(cutWhen(scene, answer, "sluice_task WHERE id = 'a'"));
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

    test("a read whose end is cut off is read again: there was nothing to commit", async () => {
      const { line, store } = await behindBrokenLine(name);
      line.breakNext({ answer: "never asked" });
      expect(await store.gates()).toEqual(expect.any(Array));
      expect(line.cuts).toBe(1);
    });

    test.each(["lost", "never asked"] as const)(
      "a session whose opening is %s is open, and once",
      async (answer) => {
        const scene = await behindBrokenLine(name);
        const { line, store, count } = scene;
        line.breakNext(cutWhen(scene, answer, "sluice_session"));
        await store.openSession({ id: "s", name: "w", slots: 1, serves: "{}", leaseMs: 60_000 });
        expect(line.cuts).toBe(1);
        expect(await count("sluice_session WHERE id = 's'")).toBe(1);
        expect(await store.renewSession("s", 60_000)).toBe(true);
      },
    );

    test.each(["lost", "never asked"] as const)(
      "a pass whose commit is %s says so, and the store knows what it claimed",
      async (answer) => {
        const scene = await behindBrokenLine(name);
        const { line, store, count } = scene;
        await store.openSession({ id: "s1", name: "s1", slots: 4, serves: "{}", leaseMs: 600_000 });
        await limit(store, GATE, 5);
        await store.enqueue([newTask("a")]);
        await intake(store);
        line.breakNext(cutWhen(scene, answer, "sluice_running"));
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
