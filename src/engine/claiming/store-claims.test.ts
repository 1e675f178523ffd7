import { describe, expect, test } from "vitest";
import { Claimer, many, states, USUAL, unit, world } from "../../../test/support/claimers.ts";
import { openMemory } from "../../store/memory/index.ts";
import type { GateRow, HeadRow, LaneRow, Moves, Scope, View } from "../../store/store.ts";
import { RUNS } from "../../store/store.ts";
import type { Answer, Claimed } from "./claims.ts";
import { servesText } from "./serving.ts";
import type { StoreClaims } from "./store-claims.ts";

describe("two claimers on one store", () => {
  test("serve the line by rank, then priority, then age, and never the same unit", async () => {
    const { store, clock, claimer } = await world({}, { first: 1, q: 100 });
    await store.enqueue([unit("old", {})]);
    clock.advance(10);
    await store.enqueue([
      unit("young", {}),
      unit("urgent", {}, { priority: 7 }),
      unit("ranked", {}, { queue: "first" }),
    ]);
    const a = await claimer("a", { slots: 2, queues: ["q", "first"] });
    const b = await claimer("b", { slots: 2, queues: ["q", "first"] });
    await a.exhaust();
    await b.exhaust();
    expect(a.ids).toEqual(["ranked", "urgent"]);
    expect(b.ids).toEqual(["old", "young"]);
  });

  test("come to share a scarce gate: who frees a slot leaves it to the one that has less than its part", async () => {
    const { store, claimer } = await world({ "queue:q": 4 });
    await store.enqueue(many(20, (name) => unit(name, {})));
    const a = await claimer("a");
    await a.exhaust();
    expect(a.ids).toHaveLength(4);
    const b = await claimer("b");
    for (const part of [3, 2]) {
      a.finish(a.ids[0] as string);
      await a.exhaust({ hinted: false });
      expect(a.answers.at(-1)).toMatchObject({ yielded: true });
      await b.exhaust();
      expect([a.ids.length, b.ids.length]).toEqual([part, 4 - part]);
    }
    // In balance nobody is held back. The first claimer takes what nobody took, in its own turn.
    a.finish(a.ids[0] as string);
    expect((await a.exchange()).claimed).toHaveLength(1);
    expect(a.ids).toHaveLength(2);
    b.finish(...b.ids);
    await b.exchange({ draining: true });
    await a.exchange({ ownTurn: true });
    expect(a.ids).toHaveLength(4);
  });

  test("never hold more than a gate's limit together, whoever comes first", async () => {
    const { store, claimer } = await world({ cluster: 3, "pool:gpu": 2 });
    await store.enqueue(many(20, (name) => unit(name, Number(name) % 2 ? { "pool:gpu": 1 } : {})));
    const both = [await claimer("a"), await claimer("b")];
    for (let round = 0; round < 60; round += 1) {
      const one = both[round % 2] as Claimer;
      one.finish(...one.ids.slice(0, 1));
      await one.exchange({ ownTurn: round % 3 === 0 });
      for (const { key, held } of await store.gates()) {
        if (key === "cluster") expect(held).toBeLessThanOrEqual(3);
        if (key === "pool:gpu") expect(held).toBeLessThanOrEqual(2);
      }
    }
    for (const one of both) one.finish(...one.ids);
    await both[0]?.exchange();
    await both[1]?.exchange();
    expect(await states(store)).toEqual({ succeeded: 20 });
  });

  test("tell the others once of what they leave to them", async () => {
    const { store, claimer } = await world();
    await store.enqueue(many(3, (name) => unit(name, {})));
    const a = await claimer("a", { slots: 1 });
    await claimer("b", { slots: 4 });
    const hints: string[] = [];
    await store.listen((hint) => hints.push(hint));
    await a.exhaust();
    await a.exchange({ hinted: false });
    await Promise.resolve();
    expect(hints).toContain("work");
    hints.length = 0;
    for (let round = 0; round < 5; round += 1) await a.exchange({ hinted: false });
    await Promise.resolve();
    expect(hints).toEqual([]);
    await store.enqueue([unit("new", {})]);
    await a.exchange();
    await Promise.resolve();
    expect(hints).toEqual(["work"]);
  });

  test("tell coordinators of a run that arrived: who looked while it was in hand found nothing", async () => {
    const { store, claimer } = await world();
    const a = await claimer("a", { slots: 1 });
    await store.enqueue([unit("run", {}, { queue: RUNS })]);
    const hints: string[] = [];
    await store.listen((hint) => hints.push(hint));
    await a.exchange();
    await Promise.resolve();
    expect(hints).toContain("runs");
  });

  test("tell coordinators of a parked run whose lock they free, since nobody who lets runs in hears of work", async () => {
    const { store, claimer } = await world();
    const worker = await claimer("a", { slots: 1 });
    await store.enqueue([unit("holder", { "mutex:m": 1 })]);
    await worker.exhaust();
    const coordinator = new Claimer(store, { slots: 1_000, queues: [RUNS], tasks: ["*"] });
    coordinator.claims.speakFor(RUNS);
    await store.enqueue(
      many(60, (name) => unit(name, { "mutex:m": 1, [`tag:tenant=${name}`]: 1 }, { queue: RUNS })),
    );
    await coordinator.exhaust();
    expect(store.dump().lane.filter((row) => row.parked !== null)).not.toHaveLength(0);
    const hints: string[] = [];
    await store.listen((hint) => hints.push(hint));
    worker.finish("holder");
    await worker.exhaust({ hinted: false });
    await Promise.resolve();
    expect(hints).toContain("runs");
    await coordinator.exhaust();
    expect(coordinator.ids).toEqual(["0000"]);
  });
});

describe("an exchange", () => {
  test("is not worth repeating when nothing moved, whatever could not be taken", async () => {
    const { store, claimer } = await world({ "queue:q": 1, "pool:k=*": 1 });
    await store.enqueue(many(100, (name) => unit(name, { [`pool:k=${name}`]: 1 })));
    const a = await claimer("a");
    await a.exhaust();
    for (const hinted of [true, false, true, false]) {
      const answer = await a.exchange({ hinted });
      expect([answer.claimed.length, answer.more]).toEqual([0, false]);
    }
  });

  const open: GateRow = {
    key: "queue:q",
    limit: 1_000,
    paused: false,
    line: "skip",
    leaseMs: null,
    locked: true,
  };
  const row = (id: string, head: LaneRow["head"]): LaneRow => {
    const spec = { id, queue: "q", task: "t", asks: '[["queue:q",1]]', rank: 100 };
    return { ...spec, state: "open", parked: null, head, stamp: 1, mark: null, blocked: "[]" };
  };

  /**
   * A store that shows these lanes again and again, each with one unit. Unless claims succeed, others are
   * always faster.
   */
  const showing = (lanes: readonly LaneRow[], heads: readonly HeadRow[], succeeds: boolean): StoreClaims => {
    const pass = async (scope: Scope, decide: (view: View) => Moves) => {
      const named = new Set(scope.lanes.map(({ id }) => id));
      const { claim } = decide({
        now: 1,
        gates: [open, { ...open, key: "pool:shared", limit: 1, locked: false }],
        usage: [],
        lanes: lanes.filter(({ id }) => named.has(id)),
        heads: heads.filter(({ lane }) => named.has(lane)),
        prefetched: [],
        sessions: [{ id: "", slots: 4, serves: servesText(["q"], ["t"]) }],
        lost: [],
        beyond: lanes.filter(({ id }) => !named.has(id)).slice(0, scope.perQueue),
      });
      const claimed = succeeds ? claim.map(({ id }) => ({ id, lane: "l0" }) as Claimed) : [];
      return { now: 1, claimed, started: [], accepted: new Set<string>(), arrived: [] };
    };
    return new Claimer({ ...openMemory(), pass }, { slots: 100 }).claims;
  };
  const settled = async (claims: StoreClaims): Promise<Answer> => {
    const ask = () => claims.exchange({ ...USUAL, finished: [], active: 0 });
    for (let round = 0; round < 10; round += 1) await ask();
    return ask();
  };
  const heads = Array.from({ length: 100 }, (_, index): HeadRow => {
    return { id: `u${index}`, lane: `l${index}`, priority: 0, at: 5 + index, goodUntil: null };
  });
  const exact = heads.map(({ lane, priority, at, id }) => row(lane, { priority, at, id }));

  test("is worth repeating when something moved and not all could be read, but not when others were faster", async () => {
    const unread = { ...row("unread", { priority: 0, at: 9, id: "x" }), asks: '[["pool:shared",1]]' };
    const lanes = [...exact.slice(0, 1), unread];
    expect(await settled(showing(lanes, heads, true))).toMatchObject({ claimed: [{ id: "u0" }], more: true });
    expect(await settled(showing(lanes, heads, false))).toMatchObject({ claimed: [], more: false });
  });

  test("is worth repeating when the heads of lanes were corrected: they may have hidden all others", async () => {
    const early = heads.map(({ lane }) => row(lane, { priority: 0, at: 1, id: "claimed long ago" }));
    expect(await settled(showing(early, heads, false))).toMatchObject({ claimed: [], more: true });
  });

  test("takes at most three rounds from an empty hand to full slots", async () => {
    const { store, claimer } = await world();
    await store.enqueue(many(50, (name) => unit(name, {})));
    const a = await claimer("a", { slots: 20 });
    expect(await a.exhaust()).toBeLessThanOrEqual(3);
    expect(a.ids).toHaveLength(20);
  });

  test("hands a freed slot over in the same transaction that reports it", async () => {
    const { store, claimer } = await world({ "queue:q": 1 });
    await store.enqueue(many(2, (name) => unit(name, {})));
    const a = await claimer("a");
    await a.exhaust();
    a.finish("0000");
    const { claimed } = await a.exchange({ hinted: false });
    expect(claimed.map(({ id }) => id)).toEqual(["0001"]);
  });

  test("names the reports that came too late", async () => {
    const { store, claimer } = await world();
    await store.enqueue([unit("a", {}), unit("b", {})]);
    const one = await claimer("one");
    await one.exhaust();
    await store.cancel("a", "me");
    one.finish("a", "b");
    expect((await one.exchange()).refused).toEqual(["a"]);
  });

  test("of a session that has ended claims nothing and says so", async () => {
    const { store, clock, claimer } = await world();
    const one = await claimer("one");
    await store.enqueue([unit("a", {})]);
    clock.advance(1_000_001);
    await one.exchange();
    const answer = await one.exchange();
    expect(answer).toMatchObject({ ended: true, claimed: [], more: false });
  });

  test("recovers in its own pass what a lost worker held, and claims it in the next", async () => {
    const { store, clock, claimer } = await world({ "queue:q": 1 });
    await store.enqueue([unit("a", {}, { options: '{"retry":{"attempts":3}}' })]);
    const lost = await claimer("lost");
    await lost.exhaust();
    expect(lost.ids).toEqual(["a"]);
    clock.advance(1_000_001);
    const heir = await claimer("heir");
    await heir.exhaust();
    expect(heir.held.get("a")).toMatchObject({ attempt: 2 });
  });

  test("takes in soft mode what may come soon, and starts it when a slot comes free", async () => {
    const { store, claimer } = await world({ "queue:q": 1 });
    await store.enqueue(many(5, (name) => unit(name, {})));
    const a = await claimer("a", { prefetch: 2 });
    await a.exhaust();
    expect([...a.held.values()].map(({ id, held }) => [id, held])).toEqual([
      ["0000", true],
      ["0001", false],
      ["0002", false],
    ]);
    const next = async (ended: string): Promise<unknown> => {
      a.finish(ended);
      const { started, claimed } = await a.exchange({ hinted: false });
      return { started, claimed: claimed.map(({ id, held }) => [id, held]) };
    };
    expect(await next("0000")).toEqual({ started: ["0001"], claimed: [] });
    // Now too few are left, so they are filled up.
    expect(await next("0001")).toEqual({
      started: ["0002"],
      claimed: [
        ["0003", false],
        ["0004", false],
      ],
    });
  });
});

test("a claimer whose session is opened anew knows nothing of the old one's claims", async () => {
  const { store, claimer } = await world();
  await store.enqueue([unit("a", {})]);
  const one = await claimer("one");
  await one.exhaust();
  expect((await one.claims.held()).map(({ id }) => id)).toEqual(["a"]);
  await one.claims.close();
  await one.claims.open("two", 1_000);
  expect(await one.claims.held()).toEqual([]);
  expect(await one.claims.renew(1_000)).toBe(true);
  expect((await store.sessions()).map(({ id }) => id)).toEqual(["two"]);
});
