/** Gates alone: no unit waits for them or holds them. */
import { expect, test } from "vitest";
import type { StoreWith } from "../../store/capabilities.ts";
import type { GateState } from "../../store/store.ts";
import type { FakeClock } from "../clock.ts";

type Opening = () => Promise<{ readonly store: StoreWith<"gates">; readonly clock: FakeClock }>;

const POOL = "pool:smtp";

const gateOf = async (store: StoreWith<"gates">, key = POOL): Promise<GateState | undefined> =>
  (await store.gates()).find((gate) => gate.key === key);

const set = (store: StoreWith<"gates">, limit: number, key = POOL) =>
  store.changeLimit({ key, to: "value", limit, by: "ann" });

export function gateSuite(open: Opening): void {
  test("comes into being when its limit is set, and nothing else can be done before", async () => {
    const { store, clock } = await open();
    expect(await store.changeLimit({ key: POOL, to: "paused", by: "ann" })).toBeUndefined();
    expect(await store.changeLimit({ key: POOL, to: "declared", by: "ann" })).toBeUndefined();
    expect(await store.gates()).toEqual([]);
    expect(await set(store, 4)).toEqual({ from: null, limit: 4 });
    expect(await store.gates()).toEqual([
      {
        key: POOL,
        limit: 4,
        declared: null,
        paused: false,
        line: "bypass",
        leaseMs: null,
        perValue: false,
        setBy: "ann",
        setAt: clock.now(),
        held: 0,
        said: [],
      },
    ]);
  });

  test("that nobody has said anything of has the limit its kind is born with", async () => {
    const { store } = await open();
    const setTo = (key: string) => store.changeLimit({ key, to: "value", limit: 5, by: "ann" });
    expect(await setTo("queue:new")).toEqual({ from: -1, limit: 5 });
    expect(await setTo("runs")).toEqual({ from: 10, limit: 5 });
    expect(await setTo("pool:new")).toEqual({ from: null, limit: 5 });
  });

  test("goes back to what its kind is born with where nobody declares it", async () => {
    const { store } = await open();
    await set(store, 4);
    expect(await store.changeLimit({ key: POOL, to: "declared", by: "bob" })).toEqual({
      from: 4,
      limit: null,
    });
    expect(await gateOf(store)).toMatchObject({ limit: null, setBy: null });
    await set(store, 2, "queue:mail");
    expect(await store.changeLimit({ key: "queue:mail", to: "declared", by: "bob" })).toEqual({
      from: 2,
      limit: -1,
    });
  });

  test("keeps its limit while it is paused", async () => {
    const { store } = await open();
    await set(store, 4);
    const unchanged = { from: 4, limit: 4 };
    expect(await store.changeLimit({ key: POOL, to: "paused", by: "ann" })).toEqual(unchanged);
    expect(await gateOf(store)).toMatchObject({ limit: 4, paused: true });
    expect(await store.changeLimit({ key: POOL, to: "resumed", by: "ann" })).toEqual(unchanged);
    expect(await gateOf(store)).toMatchObject({ limit: 4, paused: false });
  });

  test("is created closed if it is paused before anybody has asked for it, and the change says so", async () => {
    const { store } = await open();
    const change = { key: POOL, to: "paused", by: "ann" } as const;
    expect(await store.changeLimit(change)).toBeUndefined();
    expect(await store.changeLimit({ ...change, isNew: true })).toEqual({ from: null, limit: null });
    expect(await gateOf(store)).toMatchObject({ limit: null, paused: true, setBy: null });
  });

  test("of one value has its family's limit until it has one of its own", async () => {
    const { store } = await open();
    const acme = "pool:tenant=acme";
    await set(store, 3, "pool:tenant=*");
    expect(await set(store, 9, acme)).toEqual({ from: 3, limit: 9 });
    expect(await store.changeLimit({ key: acme, to: "declared", by: "ann" })).toEqual({ from: 9, limit: 3 });
    expect(await gateOf(store, acme)).toMatchObject({ limit: 3, declared: null, perValue: true });
    expect((await store.limits([acme])).get(acme)).toBe(3);
    await store.changeLimit({ key: "pool:tenant=*", to: "paused", by: "ann" });
    expect(await gateOf(store, acme)).toMatchObject({ paused: true });
  });

  test("has its limit told where it is asked for and there", async () => {
    const { store } = await open();
    await store.changeLimit({ key: "pool:a", to: "value", limit: 4, by: "me" });
    const limits = await store.limits(["pool:a", "pool:b"]);
    expect([...limits]).toEqual([["pool:a", 4]]);
    expect((await store.limits([])).size).toBe(0);
  });

  test("can be taken out when nobody wants it", async () => {
    const { store } = await open();
    await set(store, 4);
    expect(await store.deleteGate(POOL)).toBeNull();
    expect(await store.gates()).toEqual([]);
    expect(await store.deleteGate(POOL)).toBeUndefined();
  });
}
