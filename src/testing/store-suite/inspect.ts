import { expect, test } from "vitest";
import { SCHEMA_VERSION } from "../../store/schema.ts";
import type { Inspection } from "../../store/store.ts";
import type { Fresh } from "./bench.ts";
import { BILL, BULK, MAIL, NOTHING, newTask, scopeOf } from "./bench.ts";

export function inspectSuite(fresh: Fresh<"inspection" | "steering" | "declarations">): void {
  test("of an empty store finds nothing, and says which schema it has", async () => {
    const bench = await fresh();
    const seen = await bench.store.inspect();
    expect(seen).toMatchObject({
      now: bench.clock.now(),
      schema: SCHEMA_VERSION,
      gates: [],
      sessions: [],
      lost: [],
    });
    expect(contradictions(seen)).toEqual({});
  });

  test("finds no contradiction in any place a task can be", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("waits", "runs", "ends", "back", newTask("later", { delayMs: 5 }));
    await bench.enqueue(newTask("good", { goodForMs: 50 }), newTask("unseen", { lane: BILL }));
    const seen = async () => contradictions(await bench.store.inspect());
    expect(await seen()).toEqual({});
    await bench.claim(["runs"]);
    await bench.report(await bench.claimOne("ends"), { to: "succeeded", body: "1" });
    await bench.report(await bench.claimOne("back"), { to: "returned" });
    await bench.enqueue(newTask("urgent", { priority: 9 }));
    expect(await seen()).toEqual({});
    bench.clock.advance(60);
    await bench.store.tend();
    await bench.store.cancel("waits", "me");
    await bench.move(MAIL, { state: "parked", parked: "pool:smtp" });
    expect(await seen()).toEqual({});
    expect((await bench.store.inspect()).rows).toMatchObject({
      task: 8,
      running: 1,
      outcome: 3,
      later: 0,
      waiting: 4,
    });
  });

  test("shows each gate with what is held, the newest grant and the last change", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a", "b", "c");
    const at = async () => gateOf(await bench.store.inspect());
    await bench.intake();
    expect(await at()).toMatchObject({ held: 0, grantedAt: null, changed: null });
    await bench.claim(["a"]);
    const first = bench.clock.now();
    bench.clock.advance(10);
    await bench.store.changeLimit({ key: "pool:smtp", to: "value", limit: 4, by: "me" });
    expect(await at()).toMatchObject({
      held: 1,
      grantedAt: first,
      changed: { at: bench.clock.now(), limit: 4 },
    });
    bench.clock.advance(10);
    await bench.claim(["b"]);
    expect(await at()).toMatchObject({ held: 2, grantedAt: bench.clock.now() });
  });

  test("dates the grant of a prefetched claim by its start, and counts none before", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    const claim = await bench.claimOne("a", { held: false });
    expect(gateOf(await bench.store.inspect())).toMatchObject({ held: 0, grantedAt: null });
    bench.clock.advance(7);
    await bench.store.pass(scopeOf([]), () => ({ ...NOTHING, start: [claim] }));
    expect(gateOf(await bench.store.inspect())).toMatchObject({ held: 1, grantedAt: bench.clock.now() });
  });

  test("lists claims that are lost and since when; what a closed session left has no date", async () => {
    const bench = await fresh();
    await bench.session("s1", { leaseMs: 1_000 });
    await bench.session("s2");
    await bench.enqueue("expired", "closed", "lapsed", "alive");
    await bench.claim(["expired"]);
    await bench.claim(["closed", "alive"], { session: "s2" });
    await bench.claim(["lapsed"], { session: "s2", held: false, claimLeaseMs: 500 });
    expect((await bench.store.inspect()).lost).toEqual([]);
    bench.clock.advance(1_200);
    const lost = async () => (await bench.store.inspect()).lost.map(({ id, forMs }) => [id, forMs]);
    expect(await lost()).toEqual([
      ["expired", 200],
      ["lapsed", 700],
    ]);
    expect((await bench.store.inspect()).lost[0]).toMatchObject({ queue: "mail", task: "send" });
    await bench.store.closeSession("s2");
    expect(await lost()).toEqual([
      ["expired", 200],
      ["alive", null],
      ["closed", null],
      ["lapsed", 700],
    ]);
    // The slots of lost claims are free.
    expect(gateOf(await bench.store.inspect())).toMatchObject({ held: 0, grantedAt: null });
  });

  test("counts what waits by queue and task, also what no pass has seen, and names who is alive", async () => {
    const bench = await fresh();
    await bench.session("s1", { leaseMs: 1_000 });
    await bench.enqueue("a", "b", newTask("c", { lane: BULK }));
    await bench.intake();
    await bench.enqueue(newTask("d", { lane: BILL }));
    const seen = await bench.store.inspect();
    expect(seen.waiting).toEqual([
      { queue: "mail", task: "bulk", units: 1 },
      { queue: "mail", task: "send", units: 2 },
      { queue: "money", task: "bill", units: 1 },
    ]);
    expect(seen.sessions).toMatchObject([{ id: "s1", name: "worker s1", startedAt: bench.clock.now() }]);
    bench.clock.advance(1_000);
    expect((await bench.store.inspect()).sessions).toEqual([]);
  });

  test("shows since when a declared limit is in force: from the declaration that changed it", async () => {
    const bench = await fresh();
    const declare = async (limit: number) => {
      bench.clock.advance(5);
      await bench.store.declare({ queues: [], gates: [{ key: "pool:smtp", limit, line: "bypass" }] });
      return gateOf(await bench.store.inspect())?.setAt;
    };
    expect(await declare(4)).toBeNull();
    expect(await declare(4)).toBeNull();
    expect(await declare(3)).toBe(bench.clock.now());
    const since = bench.clock.now();
    expect(await declare(3)).toBe(since);
    await bench.store.changeLimit({ key: "pool:smtp", to: "value", limit: 9, by: "me" });
    const set = bench.clock.now();
    expect(await declare(2)).toBe(set);
  });
}

function contradictions({ broken }: Inspection): Record<string, readonly string[]> {
  const found = Object.entries(broken).filter(([, { ids, more }]) => ids.length > 0 || more);
  return Object.fromEntries(found.map(([name, { ids }]) => [name, ids]));
}

const gateOf = ({ gates }: Inspection) => gates.find(({ key }) => key === "pool:smtp");
