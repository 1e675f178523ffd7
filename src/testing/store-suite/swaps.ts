import { expect, test } from "vitest";
import type { LaneSpec } from "../../store/lane.ts";
import { asksOf } from "../../store/lane.ts";
import type { Claimed, Ended, Swap, SwapLane, Swapped } from "../../store/store.ts";
import type { BenchWith, Fresh } from "./bench.ts";
import { BILL, BULK, MAIL, newTask } from "./bench.ts";

export type SwapBench = BenchWith<"swaps" | "steering">;

const FRONT = { priority: 1_000_000, at: 0, id: "" };

export const done = (claims: readonly Claimed[], to: Ended["to"] = "succeeded"): Ended[] =>
  claims.map(({ id, epoch }) => ({ id, epoch, to, body: "1", delayMs: 0 }));

/** A swap that may go ahead: everything is as it is in the store now. */
export async function swapOf(
  bench: SwapBench,
  finished: readonly Ended[],
  lanes: readonly (readonly [LaneSpec, Partial<SwapLane>])[],
  more: Partial<Swap> = {},
): Promise<Swap> {
  const parkedOn = [...new Set(lanes.flatMap(([{ asks }]) => asksOf(asks).map(({ gate }) => gate)))];
  const gates = (await bench.store.gates()).filter(({ key }) => parkedOn.includes(key));
  return {
    session: "s1",
    sessions: (await bench.look([], { intake: false })).sessions.map(({ id }) => id),
    finished,
    started: [],
    lanes: lanes.map(([{ id }, lane]) => ({ id, want: 1, from: FRONT, before: null, ...lane })),
    ahead: [],
    gates: gates.map(({ key, limit, paused, line, leaseMs }) => ({ key, limit, paused, line, leaseMs })),
    parkedOn,
    claimLeaseMs: 60_000,
    leaseMs: null,
    ...more,
  };
}

const idsOf = (swapped: Swapped | undefined): string[] => (swapped?.claimed ?? []).map(({ id }) => id);

/** Units "a" to "f" of one lane, of which the first two are claimed, at gates with two slots. */
export async function busy(
  fresh: Fresh<"swaps" | "steering">,
): Promise<{ bench: SwapBench; claims: readonly Claimed[] }> {
  const bench = await fresh();
  await bench.session();
  for (const [key, limit] of [
    ["pool:smtp", 2],
    ["queue:mail", 2],
  ] as const)
    await bench.store.changeLimit({ key, to: "value", limit, by: "ann" });
  await bench.enqueue("a", "b", "c", newTask("d", { goodForMs: 50 }), "e", "f");
  const claims = await bench.claim(["a", "b"]);
  bench.clock.advance(5);
  return { bench, claims };
}

export function swapSuite(fresh: Fresh<"swaps" | "steering">): void {
  test("replaces finished units by the next of their lane, as if a pass had claimed them", async () => {
    const { bench, claims } = await busy(fresh);
    const swap = await swapOf(bench, done(claims), [[MAIL, { want: 2 }]]);
    const swapped = await bench.store.swap(swap);
    expect(swapped).toMatchObject({ now: bench.clock.now(), accepted: new Set(["a", "b"]) });
    expect(swapped?.claimed.map(({ epoch: _, ...rest }) => rest)).toEqual(
      ["c", "d"].map((id) => ({
        id,
        name: "send",
        lane: MAIL.id,
        attempt: 1,
        losses: 0,
        held: true,
        input: '{"to":"a@b"}',
        options: "{}",
        goodUntil: id === "d" ? bench.clock.now() + 45 : null,
        leaseMs: null,
      })),
    );
    expect(swapped?.from.get(MAIL.id)).toEqual({ priority: 0, at: bench.clock.now() - 5, id: "c" });
    expect(await bench.history("a")).toEqual(["1 TaskEnqueued", "2 TaskClaimed", "3 TaskSucceeded"]);
    expect(await bench.history("c")).toEqual(["1 TaskEnqueued", "2 TaskClaimed"]);
    expect([await bench.state("e"), await bench.heldAt("pool:smtp")]).toEqual(["waiting", 2]);
    const epochs = [...claims, ...(swapped?.claimed ?? [])].map(({ epoch }) => epoch);
    expect(epochs).toEqual([...epochs].sort((one, other) => one - other));
    const again = await bench.store.swap(swap);
    expect([idsOf(again), [...(again?.accepted ?? [])]]).toEqual([[], []]);
  });

  test("takes its claims' own lease from the gates, and no more than the claim lease until they start", async () => {
    const { bench, claims } = await busy(fresh);
    const leased = { leaseMs: 40, claimLeaseMs: 20 };
    const swapped = await bench.store.swap(await swapOf(bench, done(claims), [[MAIL, { want: 1 }]], leased));
    expect(swapped?.claimed.map(({ leaseMs }) => leaseMs)).toEqual([40]);
    const lost = async () => (await bench.look()).lost.map(({ id }) => id);
    bench.clock.advance(19);
    expect(await lost()).toEqual([]);
    bench.clock.advance(1);
    expect(await lost()).toEqual(["c"]);
  });

  test("marks claims whose code has begun", async () => {
    const { bench, claims } = await busy(fresh);
    const [a, b] = claims as readonly [Claimed, Claimed];
    const swap = await swapOf(bench, done([a]), [[MAIL, { want: 1 }]], { started: [b] });
    expect(idsOf(await bench.store.swap(swap))).toEqual(["c"]);
    bench.clock.advance(100_000);
    await bench.session("s2", { leaseMs: 1_000_000 });
    const { lost } = await bench.look();
    expect(lost.map(({ id }) => id)).toEqual(["b", "c"]);
    expect((await bench.store.claimsOf("s1")).map(({ id }) => id)).toEqual(["b", "c"]);
  });

  test("takes no unit before or behind the places it was given, and none that has expired", async () => {
    const { bench, claims } = await busy(fresh);
    bench.clock.advance(45);
    const at = bench.clock.now() - 50;
    const [a, b] = claims as readonly [Claimed, Claimed];
    const late = { want: 2, from: { priority: 0, at, id: "d" }, before: { priority: 0, at, id: "f" } };
    expect(idsOf(await bench.store.swap(await swapOf(bench, done([a]), [[MAIL, late]])))).toEqual(["e"]);
    expect(idsOf(await bench.store.swap(await swapOf(bench, done([b]), [[MAIL, { want: 2 }]])))).toEqual([
      "c",
      "f",
    ]);
    expect(await bench.state("d")).toBe("waiting");
  });

  test("compares places by priority first, then by time, then by id", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("x", newTask("y", { priority: 3 }), newTask("z", { priority: -3 }));
    const claims = await bench.claim(["x"]);
    const before = { priority: 0, at: 0, id: "" };
    const swap = await swapOf(bench, done(claims), [[MAIL, { want: 3, before }]]);
    expect(idsOf(await bench.store.swap(swap))).toEqual(["y"]);
  });

  test("replaces the units of several lanes at once", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a", "b", newTask("x", { lane: BILL }), newTask("y", { lane: BILL }));
    await bench.enqueue(newTask("z", { lane: BILL }));
    const claims = await bench.claim(["a", "x"]);
    const swap = await swapOf(bench, done(claims), [
      [MAIL, { want: 1 }],
      [BILL, { want: 2 }],
    ]);
    expect(idsOf(await bench.store.swap(swap)).sort()).toEqual(["b", "y", "z"]);
  });

  refusals(fresh);
}

type Change = (bench: SwapBench, swap: Swap) => Promise<Swap | undefined | unknown>;

export const CHANGES: Readonly<Record<string, Change>> = {
  "the limit of a gate was raised": ({ store }) =>
    store.changeLimit({ key: "pool:smtp", to: "value", limit: 3, by: "ann" }),
  "the limit of a gate was lowered": ({ store }) =>
    store.changeLimit({ key: "queue:mail", to: "value", limit: 1, by: "ann" }),
  "a gate was paused": ({ store }) => store.changeLimit({ key: "queue:mail", to: "paused", by: "ann" }),
  "a gate has another lease": ({ store }) =>
    store.changeLimit({ key: "pool:smtp", to: "value", limit: 2, leaseMs: 77, by: "ann" }),
  "another session has begun": (bench) => bench.session("s2"),
  "its session is over": ({ store }) => store.closeSession("s1"),
  "its session's lease has run out": async ({ clock }) => clock.advance(30_000),
  "a lane waits parked on one of the gates": async (bench) => {
    await bench.enqueue(newTask("big", { lane: BULK }));
    await bench.intake();
    await bench.move(BULK, { state: "parked", parked: "pool:smtp", slots: 3 });
  },
  "its own lane is not open": (bench) => bench.move(MAIL, { state: "idle" }),
  "one of its reports comes too late": async ({ store }, { finished }) => {
    await store.cancel(finished[0]?.id ?? "", "ann");
  },
};

function refusals(fresh: Fresh<"swaps" | "steering">): void {
  for (const [what, change] of Object.entries(CHANGES)) {
    test(`records reports, but claims nothing: ${what}`, async () => {
      const { bench, claims } = await busy(fresh);
      const swap = await swapOf(bench, done(claims), [[MAIL, { want: 2 }]]);
      await change(bench, swap);
      const swapped = await bench.store.swap(swap);
      expect(idsOf(swapped)).toEqual([]);
      const isLate = what.includes("too late");
      expect([...(swapped?.accepted ?? [])].sort()).toEqual(isLate ? ["b"] : ["a", "b"]);
      expect(await Promise.all(["a", "c"].map((id) => bench.state(id)))).toEqual([
        isLate ? "cancelled" : "succeeded",
        "waiting",
      ]);
    });
  }

  test("an older epoch of a claim settles nothing and brings nothing", async () => {
    const { bench, claims } = await busy(fresh);
    const stale = done(claims).map((one) => ({ ...one, epoch: one.epoch + 100 }));
    expect(
      (await bench.store.swap(await swapOf(bench, stale, [[MAIL, { want: 2 }]])))?.claimed ?? [],
    ).toEqual([]);
    expect(await bench.state("a")).toBe("claimed");
    expect(await bench.heldAt("pool:smtp")).toBe(2);
  });
}
