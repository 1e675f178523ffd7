import { expect, test } from "vitest";
import { laneOf } from "../../store/lane.ts";
import type { Declaration, GateInfo } from "../../store/store.ts";
import type { Bench, Fresh } from "./bench.ts";
import { MAIL, newTask } from "./bench.ts";
import type { StoreSuiteOptions } from "./options.ts";

const declared = (limit: number): Declaration => ({
  queues: [{ name: "mail", rank: 7 }],
  gates: [{ key: "pool:smtp", limit, line: "bypass", leaseMs: 300_000 }],
});

const gate = async ({ store }: Bench, key: string): Promise<GateInfo | undefined> =>
  (await store.gates()).find((each) => each.key === key);

export function limitSuite(
  fresh: Fresh<"declarations" | "lines">,
  { setLimitDirectly }: StoreSuiteOptions,
): void {
  test("that is declared is in force, and a later declaration replaces it", async () => {
    const bench = await fresh();
    await bench.store.declare(declared(5));
    expect(await gate(bench, "pool:smtp")).toEqual({
      key: "pool:smtp",
      limit: 5,
      declared: 5,
      paused: false,
      line: "bypass",
      leaseMs: 300_000,
      setBy: null,
      setAt: null,
      held: 0,
      perValue: false,
      said: [{ app: "default", limit: 5, leaseMs: 300_000, rank: null, at: bench.clock.now() }],
    });
    await bench.store.declare(declared(8));
    expect(await gate(bench, "pool:smtp")).toMatchObject({ limit: 8, declared: 8 });
    expect(await bench.store.queues()).toMatchObject([{ name: "mail", rank: 7 }]);
  });

  test("that is declared takes the place of the one a gate was born with", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    await bench.intake();
    expect(await gate(bench, "pool:smtp")).toMatchObject({ limit: null, line: "bypass" });
    expect(await gate(bench, "queue:mail")).toMatchObject({ limit: -1, line: "skip" });
    await bench.store.declare(declared(5));
    expect(await gate(bench, "pool:smtp")).toMatchObject({ limit: 5 });
    expect(await bench.store.queues()).toMatchObject([{ name: "mail", rank: 7, waiting: 1 }]);
  });

  test("that an operator set stays through every declaration", async () => {
    const bench = await fresh();
    await bench.store.declare(declared(5));
    const change = { key: "pool:smtp", to: "value", limit: 2, by: "ann" } as const;
    expect(await bench.store.changeLimit(change)).toEqual({ from: 5, limit: 2 });
    await bench.store.declare(declared(8));
    expect(await gate(bench, "pool:smtp")).toMatchObject({
      limit: 2,
      declared: 8,
      setBy: "ann",
      setAt: bench.clock.now(),
    });
  });

  test("that an operator set to the declared value stays, too", async () => {
    const bench = await fresh();
    await bench.store.declare(declared(5));
    await bench.store.changeLimit({ key: "pool:smtp", to: "value", limit: 5, by: "ann" });
    await bench.store.declare(declared(8));
    expect(await gate(bench, "pool:smtp")).toMatchObject({ limit: 5, declared: 8 });
  });

  test.skipIf(!setLimitDirectly)(
    "that was changed by a plain UPDATE stays through every declaration",
    async () => {
      const bench = await fresh();
      await bench.store.declare(declared(5));
      await setLimitDirectly?.(bench.store, "pool:smtp", 3);
      await bench.store.declare(declared(8));
      expect(await gate(bench, "pool:smtp")).toMatchObject({ limit: 3, declared: 8, setBy: null });
      const { gates } = await bench.look([], { exclusive: ["pool:smtp"] });
      expect(gates).toMatchObject([{ limit: 3 }]);
    },
  );

  test("that is reset is the declared one again, and follows it from then on", async () => {
    const bench = await fresh();
    await bench.store.declare(declared(5));
    await bench.store.changeLimit({ key: "pool:smtp", to: "value", limit: 2, by: "ann" });
    expect(await bench.store.changeLimit({ key: "pool:smtp", to: "declared", by: "bob" })).toEqual({
      from: 2,
      limit: 5,
    });
    expect(await gate(bench, "pool:smtp")).toMatchObject({ limit: 5, setBy: null });
    await bench.store.declare(declared(8));
    expect(await gate(bench, "pool:smtp")).toMatchObject({ limit: 8 });
  });

  test("may be set with a lease, which stays through every declaration until it is reset", async () => {
    const { store } = await fresh();
    const key = "pool:smtp";
    const declare = (leaseMs: number) =>
      store.declare({ queues: [], gates: [{ key, limit: 2, line: "bypass", leaseMs }] });
    const lease = async () => (await store.gates()).find((gate) => gate.key === key)?.leaseMs;
    await declare(900);
    await store.changeLimit({ key, to: "value", limit: 5, by: "ann" });
    expect(await lease()).toBe(900);
    await declare(800);
    expect(await lease()).toBe(800);
    await store.changeLimit({ key, to: "value", limit: 5, leaseMs: 70, by: "ann" });
    await declare(600);
    expect(await lease()).toBe(70);
    await store.changeLimit({ key, to: "declared", by: "ann" });
    expect(await lease()).toBe(600);
    await store.changeLimit({ key: "pool:new", to: "value", limit: 1, leaseMs: 40, by: "ann" });
    expect((await store.gates()).find((gate) => gate.key === "pool:new")?.leaseMs).toBe(40);
  });

  test("is kept while its gate is paused, and is there when it is resumed", async () => {
    const bench = await fresh();
    await bench.store.declare(declared(5));
    expect(await bench.store.changeLimit({ key: "pool:smtp", to: "paused", by: "ann" })).toEqual({
      from: 5,
      limit: 5,
    });
    expect(await gate(bench, "pool:smtp")).toMatchObject({ limit: 5, paused: true });
    expect(await bench.store.changeLimit({ key: "pool:smtp", to: "resumed", by: "ann" })).toEqual({
      from: 5,
      limit: 5,
    });
    expect(await gate(bench, "pool:smtp")).toMatchObject({ limit: 5, paused: false });
  });

  test("has its changes in the history of its gate, without gaps", async () => {
    const bench = await fresh();
    await bench.store.declare(declared(5));
    const key = "pool:smtp";
    await bench.store.changeLimit({ key, to: "value", limit: 2, by: "ann" });
    await bench.store.changeLimit({ key, to: "paused", by: "ann" });
    await bench.store.changeLimit({ key, to: "resumed", by: "ann" });
    await bench.store.changeLimit({ key, to: "declared", by: "bob" });
    expect(await bench.history(key)).toEqual([
      "1 LimitChanged",
      "2 GatePaused",
      "3 GateResumed",
      "4 LimitReset",
    ]);
    const [first] = await bench.store.events(key);
    expect(JSON.parse(first?.data ?? "")).toEqual({ by: "ann", from: 5, to: 2 });
  });

  test.each(["paused", "resumed"] as const)("is created %s if the change says so", async (to) => {
    const bench = await fresh();
    const key = "queue:early";
    const change = { key, to, isNew: true, by: "ann" } as const;
    expect(await bench.store.changeLimit(change)).toEqual({ from: -1, limit: -1 });
    const born = { limit: -1, declared: -1, line: "skip", setBy: null, setAt: null, paused: to === "paused" };
    expect(await gate(bench, key)).toMatchObject(born);
    await bench.enqueue(newTask("a", { lane: laneOf("early", "send", [{ gate: key, slots: 1 }]) }));
    await bench.intake();
    expect(await gate(bench, key)).toMatchObject(born);
    const kind = to === "paused" ? "GatePaused" : "GateResumed";
    expect(await bench.store.events(key)).toMatchObject([
      { n: 1, kind, data: '{"by":"ann","from":-1,"to":-1}' },
    ]);
    expect(await bench.store.changeLimit({ key, to: "resumed", isNew: true, by: "bob" })).toBeTruthy();
    expect(await gate(bench, key)).toMatchObject({ ...born, paused: false });
  });

  test("can be set before anybody has asked for its gate, and nothing else can", async () => {
    const bench = await fresh();
    expect(await bench.store.changeLimit({ key: "pool:new", to: "paused", by: "ann" })).toBeUndefined();
    expect(await bench.store.changeLimit({ key: "pool:new", to: "declared", by: "ann" })).toBeUndefined();
    const change = { key: "pool:new", to: "value", limit: 4, by: "ann" } as const;
    expect(await bench.store.changeLimit(change)).toEqual({ from: null, limit: 4 });
    expect(await gate(bench, "pool:new")).toMatchObject({
      limit: 4,
      declared: null,
      line: "bypass",
      setBy: "ann",
    });
    await bench.enqueue(newTask("a", { lane: laneOf("mail", "send", [{ gate: "pool:new", slots: 1 }]) }));
    await bench.intake();
    expect(await gate(bench, "pool:new")).toMatchObject({ limit: 4 });
  });

  test("of one value is its family's until it has one of its own", async () => {
    const bench = await fresh();
    await bench.enqueue(
      newTask("a", { lane: laneOf("mail", "send", [{ gate: "pool:tenant=acme", slots: 1 }]) }),
    );
    await bench.intake();
    await bench.store.declare({ queues: [], gates: [{ key: "pool:tenant=*", limit: 3, line: "bypass" }] });
    expect(await gate(bench, "pool:tenant=acme")).toMatchObject({ limit: 3, declared: null });
    expect((await bench.store.limits(["pool:tenant=acme"])).get("pool:tenant=acme")).toBe(3);
    await bench.store.changeLimit({ key: "pool:tenant=acme", to: "value", limit: 9, by: "ann" });
    expect(await gate(bench, "pool:tenant=acme")).toMatchObject({ limit: 9 });
    await bench.store.changeLimit({ key: "pool:tenant=acme", to: "declared", by: "ann" });
    expect(await gate(bench, "pool:tenant=acme")).toMatchObject({ limit: 3 });
  });

  test("of a family may be paused, which pauses each of its gates, and its line is theirs", async () => {
    const bench = await fresh();
    const acme = laneOf("mail", "send", [{ gate: "pool:tenant=acme", slots: 1 }]);
    await bench.enqueue(newTask("a", { lane: acme }));
    await bench.intake();
    await bench.store.declare({ queues: [], gates: [{ key: "pool:tenant=*", limit: 3, line: "strict" }] });
    await bench.store.changeLimit({ key: "pool:tenant=*", to: "paused", by: "ann" });
    expect(await gate(bench, "pool:tenant=acme")).toMatchObject({ limit: 3, paused: true, line: "strict" });
    const seen = await bench.look([], { exclusive: ["pool:tenant=acme"], shared: ["pool:tenant=*"] });
    expect(seen.gates.find(({ key }) => key === "pool:tenant=acme")).toMatchObject({
      limit: 3,
      paused: true,
      line: "strict",
    });
  });

  test("changed by many at once has one event for each change", async () => {
    const bench = await fresh();
    await bench.store.declare(declared(5));
    const limits = [1, 2, 3, 4, 6, 7, 8, 9];
    await Promise.all(
      limits.map((limit) => bench.store.changeLimit({ key: "pool:smtp", to: "value", limit, by: "ann" })),
    );
    expect((await bench.store.events("pool:smtp")).map(({ n }) => n)).toEqual(
      limits.map((_, index) => index + 1),
    );
  });

  test("of one value is told as it holds there, its family's where it has none of its own", async () => {
    const { store } = await fresh();
    await store.declare({ queues: [], gates: [{ key: "tag:env=*", limit: 2, line: "skip" }] });
    const set = (limit: number) => store.changeLimit({ key: "tag:env=prod", to: "value", limit, by: "ann" });
    expect(await set(5)).toEqual({ from: 2, limit: 5 });
    expect(await store.changeLimit({ key: "tag:env=prod", to: "declared", by: "ann" })).toEqual({
      from: 5,
      limit: 2,
    });
    expect(await set(2)).toEqual({ from: 2, limit: 2 });
    expect((await store.events("tag:env=prod")).map(({ data }) => JSON.parse(data ?? ""))).toEqual([
      { by: "ann", from: 2, to: 5 },
      { by: "ann", from: 5, to: 2 },
      { by: "ann", from: 2, to: 2 },
    ]);
  });

  test("has a lease beside it: the one of the family where a gate of one value has none of its own", async () => {
    const bench = await fresh();
    await bench.enqueue(
      newTask("a", { lane: laneOf("mail", "send", [{ gate: "pool:tenant=acme", slots: 1 }]) }),
    );
    await bench.intake();
    const declared = { limit: 2, line: "bypass" } as const;
    const leaseOf = async () => {
      const { gates } = await bench.look([], { exclusive: ["pool:tenant=acme"], shared: ["pool:tenant=*"] });
      return gates.find(({ key }) => key === "pool:tenant=acme")?.leaseMs;
    };
    const family = { key: "pool:tenant=*", ...declared, leaseMs: 900 };
    await bench.store.declare({ queues: [], gates: [family] });
    expect(await leaseOf()).toBe(900);
    const acme = { key: "pool:tenant=acme", ...declared, leaseMs: 50 };
    await bench.store.declare({ queues: [], gates: [family, acme] });
    expect(await leaseOf()).toBe(50);
  });

  test("comes with a rank for the queue, which a lane has when it comes in", async () => {
    const bench = await fresh();
    await bench.store.declare({ queues: [{ name: "mail", rank: 3 }], gates: [] });
    await bench.enqueue("b", newTask("a", { priority: 6 }));
    await bench.intake();
    expect(await bench.lane(MAIL)).toEqual({
      ...MAIL,
      rank: 3,
      state: "open",
      parked: null,
      head: { priority: 6, at: bench.clock.now(), id: "a" },
      stamp: 0,
      mark: null,
      blocked: "[]",
    });
  });
}
