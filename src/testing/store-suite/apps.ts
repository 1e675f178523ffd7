import { expect, test } from "vitest";
import { laneOf } from "../../store/lane.ts";
import type { Declaration, DeclaredGate, GateState } from "../../store/store.ts";
import type { Bench, Fresh } from "./bench.ts";
import { newTask } from "./bench.ts";
import type { StoreSuiteOptions } from "./options.ts";

const GPU = "pool:gpu";

const gpu = (limit: number, leaseMs?: number): DeclaredGate => ({ key: GPU, limit, line: "bypass", leaseMs });

const of = (app: string, ...gates: readonly DeclaredGate[]): Declaration => ({ app, queues: [], gates });

const gate = async ({ store }: Bench, key = GPU): Promise<GateState | undefined> =>
  (await store.gates()).find((each) => each.key === key);

const limitOf = async (bench: Bench, key = GPU): Promise<number | null | undefined> =>
  (await gate(bench, key))?.limit;

export function appSuite(
  fresh: Fresh<"declarations" | "lines">,
  { setLimitDirectly }: StoreSuiteOptions,
): void {
  test("does not touch what another one declares", async () => {
    const bench = await fresh();
    await bench.store.declare({ ...of("shop", gpu(2)), queues: [{ name: "mail", rank: 3 }] });
    const before = [await bench.store.gates(), await bench.store.queues()];
    await bench.store.declare(of("web"));
    expect([await bench.store.gates(), await bench.store.queues()]).toEqual(before);
  });

  test("has the stricter limit where two name one gate, whichever came last, and both are shown", async () => {
    const bench = await fresh();
    await bench.store.declare(of("shop", gpu(5, 9_000)));
    await bench.store.declare(of("web", gpu(7, 4_000)));
    const at = bench.clock.now();
    expect(await gate(bench)).toMatchObject({ limit: 5, declared: 5, leaseMs: 4_000 });
    bench.clock.advance(10);
    await bench.store.declare(of("web", gpu(3, 4_000)));
    expect(await gate(bench)).toMatchObject({
      limit: 3,
      said: [
        { app: "shop", limit: 5, leaseMs: 9_000, rank: null, at },
        { app: "web", limit: 3, leaseMs: 4_000, rank: null, at: at + 10 },
      ],
    });
    await bench.store.declare(of("shop", gpu(4, 9_000)));
    expect(await limitOf(bench)).toBe(3);
  });

  test("names its tasks, and another list of them is the same deploy", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    const apps = async () => (await bench.store.wait("a"))?.apps;
    expect(await apps()).toEqual([]);
    const { at } = await bench.store.declare({ ...of("shop", gpu(5)), tasks: ["send", "pack"] }, "start");
    expect(await apps()).toEqual([{ app: "shop", tasks: ["pack", "send"], workflows: [] }]);
    bench.clock.advance(10);
    expect(await bench.store.declare({ ...of("shop", gpu(5)), tasks: ["send"] }, "start")).toEqual({
      inForce: true,
      at,
    });
    await bench.store.declare({ ...of("web"), tasks: ["show"], workflows: ["weekly", "nightly"] });
    expect(await apps()).toEqual([
      { app: "shop", tasks: ["send"], workflows: [] },
      { app: "web", tasks: ["show"], workflows: ["nightly", "weekly"] },
    ]);
    expect(await bench.store.apps()).toEqual(await apps());
    // A worker of a replaced version does not change its app's tasks either.
    await bench.store.declare({ ...of("shop", gpu(4)), tasks: ["send", "print"] });
    await bench.store.declare({ ...of("shop", gpu(5)), tasks: ["send"] }, "start");
    expect((await apps())?.[0]).toEqual({ app: "shop", tasks: ["print", "send"], workflows: [] });
  });

  test("counts as unlimited only where nobody says a number", async () => {
    const bench = await fresh();
    await bench.store.declare(of("shop", { key: "runs", limit: -1, line: "skip" }));
    expect(await limitOf(bench, "runs")).toBe(-1);
    await bench.store.declare(of("web", { key: "runs", limit: 20, line: "skip" }));
    expect(await limitOf(bench, "runs")).toBe(20);
    await bench.store.declare(of("web"));
    expect(await limitOf(bench, "runs")).toBe(-1);
    await bench.store.declare(of("shop"));
    expect(await limitOf(bench, "runs")).toBe(10);
  });

  test("gives up a gate that it no longer declares, which falls back to the others' word, and then to how it was born", async () => {
    const bench = await fresh();
    await bench.store.declare(of("shop", gpu(2, 9_000)));
    await bench.store.declare(of("web", gpu(7)));
    await bench.store.declare(of("shop"));
    expect(await gate(bench)).toMatchObject({ limit: 7, leaseMs: null, said: [{ app: "web" }] });
    await bench.store.declare(of("web"));
    expect(await gate(bench)).toMatchObject({ limit: null, declared: null, said: [] });
  });

  test("does not lift what an operator or plain SQL has set, whoever declares or gives up", async () => {
    const bench = await fresh();
    await bench.store.declare(of("shop", gpu(5)));
    await bench.store.changeLimit({ key: GPU, to: "value", limit: 1, by: "ann" });
    await bench.store.declare(of("web", gpu(3)));
    await bench.store.declare(of("shop"));
    expect(await gate(bench)).toMatchObject({ limit: 1, declared: 3, setBy: "ann" });
    await bench.store.changeLimit({ key: GPU, to: "declared", by: "ann" });
    expect(await limitOf(bench)).toBe(3);
    if (!setLimitDirectly) return;
    await setLimitDirectly(bench.store, GPU, 9);
    await bench.store.declare(of("shop", gpu(2)));
    expect(await gate(bench)).toMatchObject({ limit: 9, declared: 2, setBy: null });
  });

  test("has its queue served by the first rank that is said, and both are shown", async () => {
    const { store } = await fresh();
    const ranked = (app: string, rank: number | null) =>
      store.declare({ app, queues: [{ name: "mail", rank }], gates: [] });
    const queue = async () => (await store.queues())[0];
    await ranked("shop", 5);
    await ranked("web", null);
    expect(await queue()).toMatchObject({ rank: 5, ranks: [{ app: "shop", rank: 5 }] });
    await ranked("web", 2);
    const ranks = [
      { app: "shop", rank: 5 },
      { app: "web", rank: 2 },
    ];
    expect(await queue()).toMatchObject({ rank: 2, ranks });
    await store.declare(of("web"));
    expect(await queue()).toMatchObject({ rank: 5 });
    await store.declare(of("shop"));
    expect(await queue()).toMatchObject({ name: "mail", rank: 100, ranks: [] });
  });

  test("whose start brings what a later deploy has replaced changes nothing, and is told so", async () => {
    const bench = await fresh();
    const { store, clock } = bench;
    const began = clock.now();
    expect(await store.declare(of("shop", gpu(5)), "start")).toEqual({ inForce: true, at: began });
    clock.advance(10);
    expect(await store.declare(of("shop", gpu(2)), "start")).toEqual({ inForce: true, at: began + 10 });
    clock.advance(10);
    // Old workers may start again as often as they like.
    for (let round = 0; round < 2; round += 1)
      expect(await store.declare(of("shop", gpu(5)), "start")).toEqual({ inForce: false, at: began + 10 });
    expect(await limitOf(bench)).toBe(2);
    expect(await store.declare(of("shop", gpu(2)), "start")).toEqual({ inForce: true, at: began + 10 });
    expect(await store.declare(of("web", gpu(5)), "start")).toMatchObject({ inForce: true });
    expect(await limitOf(bench)).toBe(2);
  });

  test("goes back to an earlier declaration by a deploy, and then the later one stays away", async () => {
    const bench = await fresh();
    const { store } = bench;
    await store.declare(of("shop", gpu(5)), "start");
    await store.declare(of("shop", gpu(2)), "start");
    expect(await store.declare(of("shop", gpu(5)), "deploy")).toMatchObject({ inForce: true });
    expect(await limitOf(bench)).toBe(5);
    expect(await store.declare(of("shop", gpu(2)), "start")).toMatchObject({ inForce: false });
    expect(await limitOf(bench)).toBe(5);
  });

  test("declares the same in whatever order it writes it", async () => {
    const { store } = await fresh();
    const cluster: DeclaredGate = { key: "cluster", limit: 9, line: "skip" };
    await store.declare(of("shop", cluster, gpu(5)), "start");
    await store.declare(of("shop", cluster, gpu(6)), "start");
    expect(await store.declare(of("shop", gpu(6), cluster), "start")).toMatchObject({ inForce: true });
    expect(await store.declare(of("shop", gpu(5), cluster), "start")).toMatchObject({ inForce: false });
  });

  test("of many that start at once has one declaration in force, and its gates are as that one says", async () => {
    const bench = await fresh();
    const limits = [1, 2, 3, 4, 5, 6];
    const apps = limits.map((limit) =>
      of(limit % 2 ? "shop" : "web", gpu(limit), { ...gpu(limit), key: "pool:b" }),
    );
    const declared = await Promise.all(apps.map((app) => bench.store.declare(app, "start")));
    expect(declared.every(({ inForce }) => inForce)).toBe(true);
    const [a, b] = [await gate(bench), await gate(bench, "pool:b")];
    expect(a?.said.map(({ app }) => app)).toEqual(["shop", "web"]);
    expect(a?.limit).toBe(Math.min(...(a?.said.map(({ limit }) => limit ?? 0) ?? [])));
    expect(b?.said.map(({ limit }) => limit)).toEqual(a?.said.map(({ limit }) => limit));
  });

  test("that declares a limit for one value beside one for each has both: the stricter one binds", async () => {
    const bench = await fresh();
    const value: DeclaredGate = { key: "tag:env=prod", limit: 5, line: "skip" };
    const each = (limit: number): DeclaredGate => ({ key: "tag:env=*", limit, line: "skip" });
    const seen = async () => {
      const { gates } = await bench.look([], { exclusive: ["tag:env=prod"], shared: ["tag:env=*"] });
      return gates.find(({ key }) => key === "tag:env=prod")?.limit;
    };
    await bench.store.declare(of("shop", value, each(2)));
    expect([await seen(), await limitOf(bench, "tag:env=prod")]).toEqual([2, 2]);
    expect(await gate(bench, "tag:env=prod")).toMatchObject({ declared: 5, perValue: true });
    expect((await bench.store.limits(["tag:env=prod"])).get("tag:env=prod")).toBe(2);
    await bench.store.declare(of("shop", value, each(9)));
    expect([await seen(), await limitOf(bench, "tag:env=prod")]).toEqual([5, 5]);
    expect(await gate(bench, "tag:env=prod")).toMatchObject({ perValue: false });
    await bench.store.changeLimit({ key: "tag:env=*", to: "value", limit: 0, by: "ann" });
    expect(await seen()).toBe(0);
    // An operator's limit for one value replaces the limit for each value.
    await bench.store.changeLimit({ key: "tag:env=prod", to: "value", limit: 7, by: "ann" });
    expect([await seen(), await limitOf(bench, "tag:env=prod")]).toEqual([7, 7]);
    await bench.store.changeLimit({ key: "tag:env=prod", to: "declared", by: "ann" });
    expect(await seen()).toBe(0);
    if (!setLimitDirectly) return;
    await setLimitDirectly(bench.store, "tag:env=prod", 8);
    expect([await seen(), await limitOf(bench, "tag:env=prod")]).toEqual([8, 8]);
  });

  test("keeps its gates in the store; one that nobody declares, asks for or holds can be taken out", async () => {
    const bench = await fresh();
    const { store } = bench;
    expect(await store.deleteGate(GPU)).toBeUndefined();
    await store.declare(of("shop", gpu(5)));
    await store.declare(of("web", gpu(5)));
    expect(await store.deleteGate(GPU)).toEqual({ apps: ["shop", "web"], isAsked: false });
    await store.declare(of("shop"));
    await store.declare(of("web"));
    await store.changeLimit({ key: GPU, to: "value", limit: 3, by: "ann" });
    const lane = laneOf("mail", "send", [{ gate: GPU, slots: 1 }]);
    await bench.enqueue(newTask("a", { lane }));
    expect(await store.deleteGate(GPU)).toEqual({ apps: [], isAsked: true });
    await bench.intake();
    expect(await store.deleteGate(GPU)).toEqual({ apps: [], isAsked: true });
    await bench.session();
    const claim = await bench.claimOne("a");
    expect(await store.deleteGate(GPU)).toEqual({ apps: [], isAsked: true });
    await bench.report(claim, { to: "succeeded" });
    expect(await store.deleteGate(GPU)).toBeNull();
    expect(await gate(bench)).toBeUndefined();
    expect(await store.events(GPU)).toEqual([]);
    // The gate is created again for the next unit that asks for it, with a new history.
    await bench.enqueue(newTask("b", { lane }));
    await bench.intake();
    expect(await limitOf(bench)).toBeNull();
    expect(await store.changeLimit({ key: GPU, to: "value", limit: 2, by: "ann" })).toMatchObject({
      limit: 2,
    });
  });

  test("that is deleted as a queue is no longer listed", async () => {
    const { store } = await fresh();
    await store.declare({ app: "shop", queues: [{ name: "mail", rank: 2 }], gates: [] });
    await store.declare(of("shop"));
    expect(await store.deleteGate("queue:mail")).toBeNull();
    expect([await store.queues(), await store.gates()]).toEqual([[], []]);
  });

  test("is remembered with what it no longer declares, and since when, until somebody declares it again", async () => {
    const bench = await fresh();
    const { store, clock } = bench;
    await store.declare({ ...of("shop", gpu(2)), queues: [{ name: "mail", rank: 3 }] });
    expect(await store.replaced()).toEqual([]);
    clock.advance(10);
    await store.declare(of("shop", { key: "pool:db", limit: 5, line: "bypass" }));
    const at = clock.now();
    expect(await store.replaced()).toEqual([
      { gate: GPU, app: "shop", limit: 2, at },
      { gate: "queue:mail", app: "shop", limit: null, at },
    ]);
    clock.advance(10);
    await store.declare(of("web", gpu(9)));
    expect((await store.replaced()).map((each) => each.gate)).toEqual(["queue:mail"]);
    // Now the first declaration again, so what only the second one declared is replaced.
    await store.declare({ ...of("shop", gpu(2)), queues: [{ name: "mail", rank: 3 }] }, "deploy");
    expect(await store.replaced()).toEqual([{ gate: "pool:db", app: "shop", limit: 5, at: clock.now() }]);
  });
}
