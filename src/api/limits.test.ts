import { describe, expect, test } from "vitest";
import type { SluiceError } from "../core/error.ts";
import { laneOf } from "../store/lane.ts";
import type { MemoryStore } from "../store/memory/index.ts";
import { openMemory } from "../store/memory/index.ts";
import type { NewTask, Scope } from "../store/store.ts";
import { FakeClock } from "../testing/clock.ts";
import { defineApp } from "./app.ts";
import { Limits, Queues } from "./limits.ts";

interface World {
  readonly store: MemoryStore;
  readonly clock: FakeClock;
  readonly limits: Limits;
  readonly queues: Queues;
  readonly hints: string[];
}

async function world(): Promise<World> {
  const clock = new FakeClock();
  const store = openMemory({ now: clock.now });
  await store.declare({
    queues: [{ name: "mail", rank: 1 }],
    gates: [
      { key: "cluster", limit: -1, line: "skip" },
      { key: "queue:mail", limit: 5, line: "skip" },
    ],
  });
  const hints: string[] = [];
  await store.listen((hint) => hints.push(hint));
  return { store, clock, limits: new Limits(store), queues: new Queues(store), hints };
}

const gate = async ({ limits }: World, key: string) => (await limits.list()).find((each) => each.key === key);

/** Puts this many tasks in the line of a queue. No pass sees them yet. */
async function enqueue(store: MemoryStore, queue: string, count: number): Promise<void> {
  const lane = laneOf(queue, "send", [{ gate: `queue:${queue}`, slots: 1 }]);
  const units = Array.from({ length: count }, (_, index): NewTask => {
    const none = { key: null, runAt: null, delayMs: null, goodUntil: null, goodForMs: null };
    return { id: `u${index}`, name: "send", priority: 0, lane, input: "{}", options: "{}", ...none };
  });
  await store.enqueue(units);
}

/** Runs this many tasks of the queue. */
async function run(store: MemoryStore, count: number): Promise<void> {
  await store.openSession({ id: "s", name: "w", slots: 10, serves: "{}", leaseMs: 60_000 });
  await enqueue(store, "mail", count);
  const scope: Scope = {
    session: "s",
    finished: [],
    started: [],
    lanes: [],
    without: [],
    exclusive: [],
    shared: [],
    intake: true,
    queues: [],
    perQueue: 0,
    parkedOn: [],
    elsewhere: [],
    sideBySide: false,
    prefetching: 0,
  };
  const claim = Array.from({ length: count }, (_, index) => ({ id: `u${index}`, held: true }));
  await store.pass(scope, () => ({
    claim,
    claimLeaseMs: 60_000,
    start: [],
    expire: [],
    recover: [],
    lanes: [],
  }));
}

describe("a limit", () => {
  test("is listed with what is held, and drains when it was lowered below that", async () => {
    const made = await world();
    await run(made.store, 3);
    expect(await gate(made, "queue:mail")).toMatchObject({ limit: 5, held: 3, draining: false });
    await made.limits.set("queue:mail", 2);
    expect(await gate(made, "queue:mail")).toMatchObject({ limit: 2, held: 3, draining: true });
    await made.limits.set("queue:mail", 3);
    expect(await gate(made, "queue:mail")).toMatchObject({ limit: 3, held: 3, draining: false });
  });

  test("that is set says from what to what, by whom and when, and wakes those who may go on", async () => {
    const made = await world();
    made.clock.advance(500);
    expect(await made.limits.set("queue:mail", 9, "ann")).toEqual({ from: 5, limit: 9 });
    expect(await gate(made, "queue:mail")).toMatchObject({
      limit: 9,
      declared: 5,
      source: "operator",
      setBy: "ann",
      setAt: made.clock.now(),
    });
    expect(made.hints).toEqual(["work", "runs"]);
  });

  test("of a gate that nobody knows is refused with what was meant, and leaves nothing behind", async () => {
    const made = await world();
    const refused = (key: string) => made.limits.set(key, 4).catch((error: SluiceError) => error.message);
    expect(await refused("queue:mial")).toMatch(
      /Did you mean queue:mail\?.*limits\.set\("queue:mial", 4, "code", \{ isNew: true \}\)/,
    );
    expect(await refused("mail")).toMatch(/Did you mean queue:mail\?/);
    expect(await refused("pool:gpu")).toMatch(
      /^There is no gate "pool:gpu" in this store: no app declares it/,
    );
    expect(await refused("run:01m7/workers")).toMatch(/its run has ended, or there is no such run/);
    expect((await made.limits.list()).map(({ key }) => key)).toEqual(["cluster", "queue:mail"]);
  });

  test.each(["pool:", "pool: ", "", ":x", "plain", `pool:${"x".repeat(191)}`, "run:01m7/workers"])(
    'cannot be set at "%s", new or not',
    async (key) => {
      const made = await world();
      for (const isNew of [true, false])
        await expect(made.limits.set(key, 4, "ann", { isNew })).rejects.toThrow(/gate/);
      expect(await made.store.gates()).toHaveLength(2);
    },
  );

  test("may be set before anybody has asked for it, where that is said", async () => {
    const made = await world();
    expect(await made.limits.set("pool:gpu", 4, "code", { isNew: true })).toEqual({ from: null, limit: 4 });
    expect(await gate(made, "pool:gpu")).toMatchObject({ limit: 4, source: "operator", setBy: "code" });
    expect(await made.limits.set("cluster", 4)).toMatchObject({ limit: 4 });
    expect(await made.limits.set("runs", 4)).toMatchObject({ limit: 4 });
  });

  test("may be set for what waits in line, and for one value where there is a limit for each", async () => {
    const made = await world();
    const lane = laneOf("mail", "send", [{ gate: "pool:smtp", slots: 1 }]);
    const none = { key: null, runAt: null, delayMs: null, goodUntil: null, goodForMs: null };
    await made.store.enqueue([
      { id: "a", name: "send", priority: 0, lane, input: "{}", options: "{}", ...none },
    ]);
    expect(await made.limits.set("pool:smtp", 2)).toMatchObject({ limit: 2 });
    const family = { key: "pool:tenant=*", limit: 2, line: "bypass" } as const;
    await made.store.declare({ app: "web", queues: [], gates: [family] });
    expect(await made.limits.set("pool:tenant=acme", 5)).toMatchObject({ limit: 5 });
  });

  test("is known at once where something asks for it, also what is put off", async () => {
    const made = await world();
    const asking = (id: string, delayMs: number | null): NewTask => {
      const lane = laneOf("mail", "send", [{ gate: `pool:${id}`, slots: 1 }]);
      const none = { key: null, runAt: null, goodUntil: null, goodForMs: null };
      return { id, name: "send", priority: 0, lane, input: "{}", options: "{}", delayMs, ...none };
    };
    await made.store.enqueue([asking("now", null), asking("late", 5_000)]);
    const known = async (key: string) => made.limits.isKnown(key);
    expect(await Promise.all(["pool:now", "pool:late", "cluster", "runs"].map(known))).toEqual(
      Array(4).fill(true),
    );
    expect(await known("pool:nwo")).toBe(false);
    expect(await made.limits.set("pool:late", 2)).toMatchObject({ limit: 2 });
  });

  test("has a lease of a second or more, as in an app", async () => {
    const made = await world();
    const set = (leaseMs: number) => made.limits.set("queue:mail", 4, "ann", { leaseMs });
    await expect(set(999)).rejects.toMatchObject({ code: "BAD_LEASE" });
    await set(1_000);
    const app = (lease: "999ms" | "1s") => () =>
      defineApp({ tasks: [], pools: { gpu: { limit: 1, lease } } });
    expect(app("999ms")).toThrow(/pools\.gpu\.lease: must be 1s or more, but is 999ms/);
    expect(app("1s")).not.toThrow();
  });

  test("with a name that no gate can have is refused without a way to make it", async () => {
    const made = await world();
    await made.limits.set("pool:gpu", 4, "ann", { isNew: true });
    await expect(made.limits.set("gpu", 4, "ann")).rejects.toMatchObject({
      code: "UNKNOWN_GATE",
      message: expect.stringContaining("Did you mean pool:gpu?"),
      remedies: [{ action: "listLimits" }],
    });
    await expect(made.limits.set("pool:cpu", 4, "ann")).rejects.toMatchObject({
      remedies: expect.arrayContaining([{ action: "makeGate", gate: "pool:cpu", limit: 4 }]),
    });
  });

  test("goes out of the store once nobody declares it, asks for it or holds it", async () => {
    const made = await world();
    await made.limits.set("pool:gpu", 4, "ann", { isNew: true });
    await made.limits.delete("pool:gpu");
    expect(await gate(made, "pool:gpu")).toBeUndefined();
    await expect(made.limits.delete("pool:gpu")).rejects.toMatchObject({ code: "UNKNOWN_GATE" });
    await expect(made.limits.delete("queue:mail")).rejects.toMatchObject({
      code: "GATE_IN_USE",
      message: expect.stringContaining('app "default" declares it'),
    });
  });

  test("may be none, or 0 to pause", async () => {
    const { limits } = await world();
    expect(await limits.set("queue:mail", -1)).toMatchObject({ limit: -1 });
    expect(await limits.set("queue:mail", 0)).toMatchObject({ from: -1, limit: 0 });
  });

  test.each([1.5, -2, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])("cannot be %s", async (limit) => {
    const made = await world();
    await expect(made.limits.set("queue:mail", limit)).rejects.toMatchObject({
      code: "BAD_LIMIT",
      message: expect.stringContaining("queue:mail"),
    });
    expect(await gate(made, "queue:mail")).toMatchObject({ limit: 5, source: "app" });
    expect(made.hints).toEqual([]);
  });

  test("goes back to what the app declares", async () => {
    const made = await world();
    await made.limits.set("queue:mail", 9, "ann");
    expect(await made.limits.reset("queue:mail", "ann")).toEqual({ from: 9, limit: 5 });
    expect(await gate(made, "queue:mail")).toMatchObject({ limit: 5, source: "app", setBy: null });
  });

  test("that no pass has seen yet stays at its default, and its gate is in use", async () => {
    const made = await world();
    await enqueue(made.store, "early", 1);
    expect(await made.limits.reset("queue:early")).toEqual({ from: -1, limit: -1 });
    expect(await made.limits.reset("runs")).toEqual({ from: 10, limit: 10 });
    await expect(made.limits.delete("queue:early")).rejects.toMatchObject({
      code: "GATE_IN_USE",
      message: expect.stringContaining("units wait for it"),
    });
    await expect(made.limits.delete("runs")).rejects.toMatchObject({ code: "UNKNOWN_GATE" });
  });

  test("of one value that no pass has seen yet stays at the limit of its family", async () => {
    const { limits } = await world();
    await limits.set("pool:tenant=*", 3, "ann", { isNew: true });
    expect(await limits.reset("pool:tenant=acme")).toEqual({ from: 3, limit: 3 });
  });

  test("of a gate that is not there cannot be reset", async () => {
    const { limits, hints } = await world();
    await expect(limits.reset("pool:none")).rejects.toMatchObject({ code: "UNKNOWN_GATE" });
    expect(hints).toEqual([]);
  });
});

describe("the source of a limit", () => {
  const source = async (row: Record<string, unknown>) => {
    const { store } = await world();
    const gates = (await store.gates()).filter(({ key }) => key === "queue:mail");
    const limits = new Limits({ ...store, gates: async () => gates.map((each) => ({ ...each, ...row })) });
    return (await limits.list())[0]?.source;
  };

  test("is the app where it declares one, and a default where it does not", async () => {
    expect(await source({})).toBe("app");
    expect(await source({ limit: -1, declared: -1, said: [] })).toBe("default");
    expect(await source({ limit: null, declared: null, said: [] })).toBe("default");
  });

  test("is whoever set it, or SQL when nobody has said so", async () => {
    expect(await source({ limit: 9, setBy: "ann" })).toBe("operator");
    expect(await source({ limit: 9 })).toBe("sql");
    expect(await source({ limit: 5, setBy: "ann" })).toBe("operator");
  });
});

describe("a queue", () => {
  test("is paused and resumed, whatever its limit is, and those who may go on are woken", async () => {
    const made = await world();
    await made.queues.pause("mail", "ann");
    expect(await gate(made, "queue:mail")).toMatchObject({ paused: true, limit: 5 });
    await made.queues.resume("mail", "ann");
    expect(await gate(made, "queue:mail")).toMatchObject({ paused: false, limit: 5, source: "app" });
    expect(made.hints).toEqual(["work", "work"]);
    expect((await made.store.events("queue:mail")).map(({ kind }) => kind)).toEqual([
      "GatePaused",
      "GateResumed",
    ]);
  });

  test("whose tasks no pass has seen yet is paused and resumed like any other", async () => {
    const made = await world();
    await enqueue(made.store, "early", 1);
    expect((await made.queues.list()).map(({ name }) => name)).toContain("early");
    await made.queues.resume("early", "ann");
    await made.queues.pause("early", "ann");
    expect(await gate(made, "queue:early")).toMatchObject({ paused: true, limit: -1, source: "default" });
    expect(made.hints).toEqual(["work", "work"]);
  });

  test("that is not there is neither", async () => {
    const { queues } = await world();
    const unknown = { code: "UNKNOWN_QUEUE", message: expect.stringContaining('"post"') };
    await expect(queues.pause("post")).rejects.toMatchObject(unknown);
    await expect(queues.resume("post")).rejects.toMatchObject(unknown);
  });

  test("is listed with what waits and runs in it", async () => {
    const { store, queues } = await world();
    await run(store, 2);
    expect(await queues.list()).toMatchObject([{ name: "mail", rank: 1, waiting: 0, running: 2, later: 0 }]);
  });
});
