/** Lanes parked on a gate: no pass sees them until the gate has room. */
import { expect, test } from "vitest";
import { laneOf } from "../../store/lane.ts";
import { parkedSlots } from "../../store/parked.ts";
import type { Fresh } from "./bench.ts";
import { BULK, MAIL, newTask } from "./bench.ts";

export function parkingSuite(fresh: Fresh): void {
  test("is parked as it was seen: a stale stamp does not call it back", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    await bench.intake();
    const seen = await bench.lane(MAIL);
    const mark = { unit: "a", passed: 3, since: 17 };
    await bench.move(MAIL, { state: "parked", parked: "pool:smtp", mark, blocked: '["pool:smtp"]' });
    const parked = await bench.lane(MAIL);
    expect(parked).toMatchObject({
      state: "parked",
      parked: "pool:smtp",
      mark,
      blocked: '["pool:smtp"]',
      stamp: seen.stamp + 1,
    });
    await bench.move(MAIL, { stamp: seen.stamp, state: "open", parked: null, blocked: "[]" });
    expect(await bench.lane(MAIL)).toEqual(parked);
  });

  test("stays parked when something arrives, with a better head if it has one", async () => {
    const bench = await fresh();
    await bench.enqueue("b");
    await bench.intake();
    await bench.move(MAIL, { state: "parked", parked: "pool:smtp" });
    await bench.enqueue(newTask("a", { priority: 1 }));
    await bench.intake();
    expect(await bench.lane(MAIL)).toMatchObject({ state: "parked", parked: "pool:smtp", head: { id: "a" } });
  });

  test("is out of sight, and is shown to whom its gate has room for", async () => {
    const bench = await fresh();
    await bench.enqueue("a", newTask("b", { lane: BULK }));
    await bench.intake();
    await bench.move(MAIL, { state: "parked", parked: "pool:smtp" });
    const away = await bench.look([], { queues: ["mail"] });
    expect(away.beyond.map(({ id }) => id)).toEqual([BULK.id]);
    const more = { parkedOn: ["pool:smtp"], exclusive: ["pool:smtp"], queues: ["mail"] };
    const shut = await bench.look([BULK], more);
    expect(shut.parked ?? []).toEqual([]);
    await bench.store.changeLimit({ key: "pool:smtp", to: "value", limit: 2, by: "ann" });
    const back = await bench.look([BULK], more);
    expect(back.lanes.map(({ id }) => id)).toEqual([BULK.id]);
    expect(back.parked?.map(({ id }) => id)).toEqual([MAIL.id]);
    expect(await bench.lane(MAIL)).toMatchObject({ state: "parked", parked: "pool:smtp" });
  });

  test("is shown from the queues of others too, whichever queue comes first there", async () => {
    const bench = await fresh();
    const elsewhere = laneOf("parcels", "send", [{ gate: "pool:smtp", slots: 1 }]);
    await bench.store.changeLimit({ key: "pool:smtp", to: "value", limit: 2, by: "ann" });
    await bench.enqueue(newTask("a", { lane: BULK }), newTask("b", { lane: elsewhere }));
    await bench.intake();
    await bench.move(BULK, { state: "parked", parked: "pool:smtp", slots: 3 });
    await bench.move(elsewhere, { state: "parked", parked: "pool:smtp", slots: 1 });
    const more = { parkedOn: ["pool:smtp"], exclusive: ["pool:smtp"], queues: ["mail"] };
    const ours = await bench.look([], more);
    expect(ours.parked?.map(({ id }) => id)).toEqual([]);
    const all = await bench.look([], { ...more, elsewhere: ["parcels"] });
    expect(all.parked?.map(({ id }) => id)).toEqual([elsewhere.id]);
  });

  test("is shown as one that a line keeps slots for only if it keeps its place there", async () => {
    const bench = await fresh();
    const gate = "semaphore:default/seats";
    const lane = (task: string, slots: number, line?: "skip") =>
      laneOf("mail", task, [{ gate, slots, ...(line ? { line } : {}) }]);
    const [held, large, passing, fits] = [
      lane("a", 2),
      lane("b", 3),
      lane("c", 3, "skip"),
      lane("d", 1, "skip"),
    ];
    const lanes = [held, large, passing, fits];
    await bench.enqueue(...lanes.map((each, index) => newTask(`u${index}`, { lane: each })));
    await bench.intake();
    await bench.store.changeLimit({ key: gate, to: "value", limit: 3, by: "ann" });
    await bench.session();
    await bench.claimOne("u0");
    for (const each of [large, passing, fits])
      await bench.move(each, { state: "parked", parked: gate, slots: parkedSlots(each, gate) });
    const seen = await bench.look([], { parkedOn: [gate], exclusive: [gate], queues: ["mail"] });
    expect(seen.parked?.map(({ id }) => id).sort()).toEqual([large.id, fits.id].sort());
  });

  test("named by the scope is shown once, with its own units once", async () => {
    const bench = await fresh();
    await bench.enqueue("a", "b", "c");
    await bench.intake();
    await bench.move(MAIL, { state: "parked", parked: "pool:smtp" });
    const { lanes, heads } = await bench.look([MAIL], { parkedOn: ["pool:smtp"] });
    expect(lanes.map(({ id }) => id)).toEqual([MAIL.id]);
    expect(heads.map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });

  test("has its gate named by those who tend", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    await bench.intake();
    await bench.move(MAIL, { state: "parked", parked: "pool:smtp" });
    expect((await bench.store.tend()).parkedOn).toEqual(["pool:smtp"]);
  });
}
