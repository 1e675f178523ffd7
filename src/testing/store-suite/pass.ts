import { expect, test } from "vitest";
import { laneOf } from "../../store/lane.ts";
import { RUNS } from "../../store/runs.ts";
import type { Fresh } from "./bench.ts";
import { BILL, BULK, MAIL, NOTHING, newTask, scopeOf } from "./bench.ts";

const ACME = laneOf("mail", "send", [{ gate: "pool:tenant=acme", slots: 1 }]);

export function passSuite(fresh: Fresh): void {
  test("claims what was decided, in the order of the line, and counts the attempt", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue(newTask("b"), newTask("c"), newTask("a", { goodForMs: 90 }));
    bench.clock.advance(5);
    const claimed = await bench.claim(["c", "a"]);
    expect(claimed.map(({ epoch: _, ...rest }) => rest)).toEqual([
      {
        id: "a",
        name: "send",
        lane: MAIL.id,
        attempt: 1,
        losses: 0,
        held: true,
        input: '{"to":"a@b"}',
        options: "{}",
        goodUntil: bench.clock.now() + 85,
        leaseMs: null,
      },
      {
        id: "c",
        name: "send",
        lane: MAIL.id,
        attempt: 1,
        losses: 0,
        held: true,
        input: '{"to":"a@b"}',
        options: "{}",
        goodUntil: null,
        leaseMs: null,
      },
    ]);
    expect(await bench.store.task("a")).toMatchObject({
      state: "claimed",
      holds: true,
      session: "s1",
      epoch: claimed[0]?.epoch,
      attempt: 1,
      at: bench.clock.now(),
    });
    expect(await bench.state("b")).toBe("waiting");
    const [, event] = await bench.store.events("a");
    expect(event).toMatchObject({ n: 2, kind: "TaskClaimed", at: bench.clock.now() });
    expect(JSON.parse(event?.data ?? "")).toEqual({ attempt: 1, epoch: claimed[0]?.epoch, session: "s1" });
  });

  test("gives every claim a larger epoch than all before", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a", "b", "c");
    const first = await bench.claimOne("b");
    await bench.report(first, { to: "retry" });
    const rest = await bench.claim(["a", "b", "c"]);
    const epochs = [first, ...rest].map(({ epoch }) => epoch);
    expect(epochs).toEqual([...new Set(epochs)].sort((a, b) => a - b));
    expect(rest.map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });

  test("claims nothing that is not in line: unknown, delayed, claimed and finished units stay as they are", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("run", "gone", "free", newTask("later", { delayMs: 9 }));
    await bench.session("s2");
    await bench.claim(["run"], { session: "s2" });
    await bench.report(await bench.claimOne("gone"), { to: "succeeded" });
    const claimed = await bench.claim(["run", "gone", "later", "nobody", "free"]);
    expect(claimed.map(({ id }) => id)).toEqual(["free"]);
    expect(await bench.history("run")).toEqual(["1 TaskEnqueued", "2 TaskClaimed"]);
    expect(await bench.history("gone")).toEqual(["1 TaskEnqueued", "2 TaskClaimed", "3 TaskSucceeded"]);
    expect(await bench.state("later")).toBe("later");
  });

  test("shows the first units of its lanes, as many as are wanted, in the order of the line", async () => {
    const bench = await fresh();
    await bench.enqueue("a", "b", "c", newTask("x", { lane: BILL }), newTask("y", { lane: BILL }));
    await bench.intake();
    const lanes = [
      { id: MAIL.id, want: 2 },
      { id: BILL.id, want: 5 },
    ];
    const { heads } = await bench.look([MAIL, BILL], { lanes });
    const at = bench.clock.now();
    expect(heads).toHaveLength(4);
    expect(heads.filter(({ lane }) => lane === MAIL.id)).toEqual([
      { id: "a", lane: MAIL.id, priority: 0, at, goodUntil: null },
      { id: "b", lane: MAIL.id, priority: 0, at, goodUntil: null },
    ]);
    expect(heads.filter(({ lane }) => lane === BILL.id).map(({ id }) => id)).toEqual(["x", "y"]);
  });

  test("shows the same units when it passes over those that others have in hand, and nobody has", async () => {
    const bench = await fresh();
    await bench.enqueue("a", "b");
    await bench.intake();
    const { heads } = await bench.look([MAIL], {
      sideBySide: true,
      exclusive: [],
      shared: ["pool:smtp", "queue:mail"],
    });
    expect(heads.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test("shows its gates with the limit in force, and which of them it holds alone", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    await bench.intake();
    await bench.store.changeLimit({ key: "queue:mail", to: "value", limit: 3, by: "me" });
    await bench.store.changeLimit({ key: "queue:mail", to: "paused", by: "me" });
    const { gates } = await bench.look([], {
      exclusive: ["queue:mail", "queue:nowhere"],
      shared: ["pool:smtp"],
    });
    expect([...gates].sort((a, b) => (a.key < b.key ? -1 : 1))).toEqual([
      { key: "pool:smtp", limit: null, paused: false, line: "bypass", leaseMs: null, locked: false },
      { key: "queue:mail", limit: 3, paused: true, line: "skip", leaseMs: null, locked: true },
    ]);
  });

  test("shows the limit of the family where a gate of one value has none of its own", async () => {
    const bench = await fresh();
    await bench.enqueue(newTask("a", { lane: ACME }));
    await bench.intake();
    await bench.store.changeLimit({ key: "pool:tenant=*", to: "value", limit: 2, by: "me" });
    const both = { exclusive: ["pool:tenant=acme"], shared: ["pool:tenant=*"] };
    const limitOf = async () =>
      (await bench.look([], both)).gates.find(({ key }) => key === "pool:tenant=acme")?.limit;
    expect(await limitOf()).toBe(2);
    await bench.store.changeLimit({ key: "pool:tenant=acme", to: "value", limit: 7, by: "me" });
    expect(await limitOf()).toBe(7);
  });

  test("shows usage by lane and holder, and who is alive", async () => {
    const bench = await fresh();
    await bench.session("s1");
    await bench.session("s2", { slots: 9 });
    await bench.enqueue("a", "b", "c", newTask("x", { lane: BULK }));
    await bench.claim(["a", "b"]);
    await bench.claim(["c", "x"], { session: "s2" });
    const { usage, sessions, now } = await bench.look();
    const rows = usage
      .map(({ lane, session, units, held, lost }) => [lane, session, units, held, lost].join(" "))
      .sort();
    expect(rows).toEqual(
      [`${MAIL.id} s1 2 true false`, `${MAIL.id} s2 1 true false`, `${BULK.id} s2 1 true false`].sort(),
    );
    expect(sessions.filter(({ id }) => id !== RUNS).map(({ id, slots }) => [id, slots])).toEqual([
      ["s1", 4],
      ["s2", 9],
    ]);
    expect(now).toBe(bench.clock.now());
    expect(await bench.heldAt("pool:smtp")).toBe(6);
  });

  test("frees what it is told has finished before it looks", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    const { id, epoch } = await bench.claimOne("a");
    const finished = [{ id, epoch, to: "succeeded", body: null, delayMs: 0 } as const];
    expect((await bench.look([MAIL], { finished })).usage).toEqual([]);
  });

  test("leaves what was enqueued for a later one when it is not to take it in", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    const { arrived } = await bench.store.pass(scopeOf([], { intake: false }), () => NOTHING);
    expect(arrived).toEqual([]);
    expect(await bench.store.gates()).toEqual([]);
    expect((await bench.intake()).arrived).toEqual([MAIL]);
  });

  test("shows open lanes beyond its own, the best of each queue first, but none that were put aside", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    bench.clock.advance(1);
    await bench.enqueue(
      newTask("b", { lane: BULK, priority: 1 }),
      newTask("c", { lane: ACME }),
      newTask("d", { lane: BILL }),
    );
    await bench.intake();
    const beyond = async (more: object) =>
      (await bench.look([], { queues: ["mail"], ...more })).beyond.map(({ id }) => id);
    expect(await beyond({})).toEqual([BULK.id, MAIL.id, ACME.id]);
    expect(await beyond({ perQueue: 2 })).toEqual([BULK.id, MAIL.id]);
    expect(await beyond({ without: [MAIL.id] })).toEqual([BULK.id, ACME.id]);
    expect(await beyond({ lanes: [{ id: BULK.id, want: 1 }] })).toEqual([MAIL.id, ACME.id]);
    expect(await beyond({ queues: ["money", "nowhere"] })).toEqual([BILL.id]);
  });

  test("whose decision throws leaves everything as it was", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a", "b");
    const { id, epoch } = await bench.claimOne("a");
    await bench.enqueue("c");
    const finished = [{ id, epoch, to: "failed", body: "{}", delayMs: 0 } as const];
    const failing = bench.store.pass(scopeOf([MAIL], { finished, started: [{ id, epoch }] }), () => {
      throw new Error("no idea");
    });
    await expect(failing).rejects.toThrow("no idea");
    expect(await bench.store.task("a")).toMatchObject({ state: "claimed", holds: true, epoch });
    expect(await bench.history("a")).toEqual(["1 TaskEnqueued", "2 TaskClaimed"]);
    expect((await bench.intake()).arrived).toEqual([MAIL]);
  });

  test("ends units whose time is over: they get an outcome and never run", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue(newTask("a", { goodForMs: 10 }), "b");
    await bench.intake();
    bench.clock.advance(10);
    await bench.store.pass(scopeOf([MAIL]), () => ({ ...NOTHING, expire: ["a"] }));
    expect(await bench.store.task("a")).toMatchObject({
      state: "expired",
      attempt: 0,
      at: bench.clock.now(),
      epoch: null,
    });
    expect(await bench.history("a")).toEqual(["1 TaskEnqueued", "2 TaskExpired"]);
    expect((await bench.look()).heads.map(({ id }) => id)).toEqual(["b"]);
  });

  test("may claim ahead of time: such a claim is claimed, holds no slot, and is shown to its session alone", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.session("s2");
    await bench.enqueue("a", "b");
    const early = await bench.claimOne("b", { held: false, claimLeaseMs: 500 });
    expect(early).toMatchObject({ held: false, attempt: 1 });
    expect(await bench.state("b")).toBe("claimed");
    expect(await bench.heldAt("pool:smtp")).toBe(0);
    const mine = await bench.look([MAIL], { prefetching: 9 });
    expect(mine.prefetched).toEqual([
      { id: "b", lane: MAIL.id, priority: 0, at: bench.clock.now(), goodUntil: null, epoch: early.epoch },
    ]);
    expect(mine.heads.map(({ id }) => id)).toEqual(["a"]);
    await bench.claimOne("a", { held: false, claimLeaseMs: 500 });
    expect((await bench.look([MAIL], { prefetching: 1 })).prefetched.map(({ id }) => id)).toEqual(["a"]);
    expect((await bench.look([MAIL], { prefetching: 0 })).prefetched).toEqual([]);
    expect((await bench.look([MAIL], { prefetching: 9, session: "s2" })).prefetched).toEqual([]);
  });

  test("starts such a claim once, while its lease lasts: from then on it holds its slots", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a", "b");
    const claims = await bench.claim(["a", "b"], { held: false, claimLeaseMs: 500 });
    const start = async (index: number) => {
      const { id, epoch } = claims[index] as (typeof claims)[number];
      return (await bench.store.pass(scopeOf([MAIL]), () => ({ ...NOTHING, start: [{ id, epoch }] })))
        .started;
    };
    bench.clock.advance(499);
    expect(await start(0)).toEqual(["a"]);
    expect(await bench.state("a")).toBe("running");
    expect(await bench.heldAt("pool:smtp")).toBe(1);
    expect(await bench.history("a")).toEqual(["1 TaskEnqueued", "2 TaskClaimed", "3 TaskStarted"]);
    bench.clock.advance(1);
    expect(await start(1)).toEqual([]);
    expect(await bench.state("b")).toBe("claimed");
    expect((await bench.look([MAIL], { prefetching: 9 })).prefetched).toEqual([]);
  });

  test("is safe among many: no unit is claimed twice", async () => {
    const bench = await fresh();
    await bench.session();
    const ids = Array.from({ length: 40 }, (_, index) => `t${index}`);
    await bench.enqueue(...ids);
    await bench.intake();
    const claimAll = () =>
      bench.store.pass(scopeOf([MAIL]), ({ heads }) => ({
        ...NOTHING,
        claim: heads.slice(0, 7).map(({ id }) => ({ id, held: true })),
      }));
    const rounds = await Promise.all(Array.from({ length: 12 }, claimAll));
    const claimed = rounds.flatMap((round) => round.claimed.map(({ id }) => id));
    expect(claimed).toHaveLength(40);
    expect(new Set(claimed)).toEqual(new Set(ids));
    expect(rounds.every((round) => round.claimed.length <= 7)).toBe(true);
  });

  test("shows a claim as running when its code has begun, and not before", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    const claim = await bench.claimOne("a");
    expect(await bench.store.task("a")).toMatchObject({ state: "claimed", holds: true });
    expect(await bench.heldAt("pool:smtp")).toBe(1);
    await bench.store.pass(scopeOf([], { started: [claim] }), () => NOTHING);
    expect(await bench.store.task("a")).toMatchObject({ state: "running", holds: true });
    // A claim that reports progress has begun.
    await bench.enqueue("b");
    const other = await bench.claimOne("b");
    await bench.store.progress([{ id: "b", epoch: other.epoch, value: "0.5" }]);
    expect(await bench.state("b")).toBe("running");
  });
}
