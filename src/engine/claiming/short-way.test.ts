import fc from "fast-check";
import { expect, test } from "vitest";
import { unit } from "../../../test/support/claimers.ts";
import { bornAs } from "../../core/gate/kind.ts";
import type { MemoryStore } from "../../store/memory/index.ts";
import { openMemory } from "../../store/memory/index.ts";
import type { Claimed, Finished, NewTask, Store } from "../../store/store.ts";
import { FakeClock } from "../../testing/clock.ts";
import type { Report } from "./claims.ts";
import { StoreClaims } from "./store-claims.ts";

/** The same store, and how many of its swaps replaced all units. */
function counting(store: Store): { store: Store; swaps: () => number } {
  let swaps = 0;
  const swap: Store["swap"] = async (given) => {
    const swapped = await store.swap(given);
    if (swapped && swapped.claimed.length + swapped.started.length === given.finished.length) swaps += 1;
    return swapped;
  };
  return { store: { ...store, swap }, swaps: () => swaps };
}

const without = (store: Store): Store => {
  const ports = store.capabilities.ports.filter((port) => port !== "swaps");
  return { ...store, capabilities: { ...store.capabilities, ports } };
};

/** Lanes of two queues that share gates of each kind. */
const LANES = [
  { asks: { "pool:p": 1 } },
  { asks: { "pool:p": 2 } },
  { asks: {} },
  { asks: { "mutex:m": 1 } },
  { asks: { "pool:p": 1 }, queue: "r", task: "t" },
  { asks: { "pool:f=x": 1 } },
  { asks: { "pool:unset": 1 } },
] as const;
const GATES = ["cluster", "queue:q", "queue:r", "pool:p", "pool:f=*", "pool:unset"] as const;

const RUNS = Number(process.env.SWAPS ?? 40);

type Step =
  | {
      readonly kind: "enqueue";
      readonly lane: number;
      readonly count: number;
      readonly priority: number;
      readonly goodForMs: number | null;
    }
  | { readonly kind: "exchange"; readonly ends: number; readonly to: Report["finished"][number]["to"] }
  | { readonly kind: "limit"; readonly gate: number; readonly to: number | "paused" | "resumed" }
  | { readonly kind: "cancel"; readonly nth: number }
  | { readonly kind: "rank"; readonly rank: number }
  | { readonly kind: "wait"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("enqueue" as const),
      lane: fc.oneof(fc.constant(0), fc.nat(LANES.length - 1)),
      count: fc.integer({ min: 1, max: 12 }),
      priority: fc.constantFrom(0, 0, 0, 1, -1),
      goodForMs: fc.constantFrom(null, null, 30),
    }),
  },
  {
    weight: 20,
    arbitrary: fc.record({
      kind: fc.constant("exchange" as const),
      ends: fc.integer({ min: 0, max: 4 }),
      to: fc.constantFrom("succeeded" as const, "succeeded" as const, "failed" as const, "retry" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("limit" as const),
      gate: fc.nat(GATES.length - 1),
      to: fc.constantFrom(-1, 1, 2, 3, 4, "paused" as const, "resumed" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel" as const), nth: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 60 }) }),
  },
);

/** One worker, and what each of its exchanges has claimed. */
async function played(
  steps: readonly Step[],
  mayswap: boolean,
  prefetch = 0,
): Promise<{ log: string[]; swaps: number }> {
  const clock = new FakeClock();
  const memory: MemoryStore = openMemory({ now: clock.now });
  await memory.declare({
    queues: [
      { name: "q", rank: 100 },
      { name: "r", rank: 100 },
    ],
    gates: [
      { key: "pool:p", limit: 3, line: bornAs("pool:p").line },
      { key: "pool:f=*", limit: 2, line: bornAs("pool:f=*").line },
    ],
  });
  const { store, swaps } = counting(memory);
  const claims = new StoreClaims(
    mayswap ? store : without(store),
    {
      name: "w",
      slots: 4,
      prefetch,
      claimLeaseMs: 60_000,
      queues: ["q", "r"],
      tasks: ["t"],
    },
    { monotonic: clock.now },
  );
  await claims.open("s", 1_000_000);
  const held = new Map<string, Claimed>();
  /** Claims that have not started. */
  const ahead = new Map<string, Claimed>();
  const log: string[] = [];
  let hinted = true;
  let next = 0;
  const exchange = async (finished: readonly Finished[]): Promise<void> => {
    const claimed: string[] = [];
    for (let more = true, reports = finished; more; reports = []) {
      const answer = await claims.exchange({
        finished: reports,
        started: [],
        active: held.size,
        appetite: 4,
        draining: false,
        hinted,
        ownTurn: false,
      });
      hinted = false;
      for (const claim of answer.claimed) ahead.set(claim.id, claim);
      const started = [
        ...answer.claimed.filter((claim) => claim.held).map(({ id }) => id),
        ...answer.started,
      ];
      // They end in this order, however they were claimed.
      for (const id of started.sort()) {
        held.set(id, ahead.get(id) as Claimed);
        ahead.delete(id);
      }
      claimed.push(...started, ...answer.refused.map((id) => `-${id}`));
      more = answer.more;
    }
    log.push(claimed.sort().join(" "));
  };
  for (const each of steps) {
    clock.advance(1);
    if (each.kind === "enqueue") {
      const { asks, ...more } = LANES[each.lane] as (typeof LANES)[number];
      const { priority, goodForMs } = each;
      const name = () => {
        next += 1;
        return `u${String(next).padStart(4, "0")}`;
      };
      await memory.enqueue(
        Array.from({ length: each.count }, () => unit(name(), asks, { ...more, priority, goodForMs })),
      );
      hinted = true;
    } else if (each.kind === "limit") {
      const key = GATES[each.gate] as string;
      // Nobody hints at a change by plain SQL.
      if (typeof each.to === "number")
        await memory.changeLimit({ key, to: "value", limit: each.to, by: "ann" });
      else await memory.changeLimit({ key, to: each.to, by: "ann" });
    } else if (each.kind === "cancel") {
      await memory.cancel(`u${String(each.nth).padStart(4, "0")}`, "ann");
    } else if (each.kind === "wait") clock.advance(each.ms);
    else if (each.kind === "exchange") {
      const ending = [...held.values()].slice(0, each.ends);
      for (const { id } of ending) held.delete(id);
      const { to } = each;
      await exchange(ending.map(({ id, epoch }) => ({ id, epoch, to, body: "1", delayMs: 0 }) as Finished));
      // A retry is back in line. No pass must see it before there is a hint.
      if (to === "retry") hinted = true;
    }
  }
  return { log, swaps: swaps() };
}

test("a worker that takes the short way claims exactly what it would claim with whole passes", async () => {
  let swaps = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const short = await played(steps, true);
      const whole = await played(steps, false);
      swaps += short.swaps;
      expect(short.log).toEqual(whole.log);
    }),
    { numRuns: RUNS },
  );
  if (process.env.SWAPS) console.log("swaps", swaps);
  expect(swaps).toBeGreaterThan(RUNS);
});

test("a worker with claims ahead of their slots starts exactly what it would start with whole passes", async () => {
  let swaps = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: 60 }),
      fc.constantFrom(4, 12),
      async (steps, prefetch) => {
        const short = await played(steps, true, prefetch);
        const whole = await played(steps, false, prefetch);
        swaps += short.swaps;
        expect(short.log).toEqual(whole.log);
      },
    ),
    { numRuns: RUNS },
  );
  if (process.env.SWAPS) console.log("swaps ahead", swaps);
  expect(swaps).toBeGreaterThan(RUNS / 2);
});

/** A worker with four slots at limits of its own, and a line of forty units of its lane. */
async function working(limits: Record<string, number> = {}) {
  const clock = new FakeClock();
  const memory = openMemory({ now: clock.now });
  const gates = Object.entries({ cluster: 4, ...limits }).map(([key, limit]) => {
    return { key, limit, line: bornAs(key).line };
  });
  await memory.declare({ queues: [{ name: "q", rank: 100 }], gates });
  await memory.enqueue(Array.from({ length: 40 }, (_, n) => unit(`u${String(n).padStart(2, "0")}`, {})));
  const { store, swaps } = counting(memory);
  const worker = async (session: string, prefetch = 0) => {
    const seat = { name: session, slots: 4, prefetch, claimLeaseMs: 60_000, queues: ["q"], tasks: ["t"] };
    const claims = new StoreClaims(store, seat, { monotonic: clock.now });
    await claims.open(session, 1_000_000);
    let held: readonly Claimed[] = [];
    const ahead = new Map<string, Claimed>();
    /** Takes in what is new, and then what it may claim. */
    const begin = async (): Promise<void> => {
      await next(0, { hinted: true });
      await next(0, { ownTurn: true });
    };
    /** Ends the first of its units, and says whether the next exchange took the short way. */
    const next = async (ends: number, report: Partial<Report> = {}): Promise<boolean> => {
      const before = swaps();
      const finished = held.slice(0, ends).map(({ id, epoch }) => {
        return { id, epoch, to: "succeeded", body: null, delayMs: 0 } as const;
      });
      held = held.slice(ends);
      const active = held.length;
      const usual = { started: [], active, appetite: 4, draining: false, hinted: false, ownTurn: false };
      const answer = await claims.exchange({ ...usual, finished, ...report });
      for (const claim of answer.claimed) ahead.set(claim.id, claim);
      const begun = [...answer.started, ...answer.claimed.filter((one) => one.held).map(({ id }) => id)];
      held = [...held, ...begun.flatMap((id) => ahead.get(id) ?? [])];
      return swaps() > before;
    };
    /** Its first unit has failed, and this task handles that. Returns whether this took the short way. */
    const fail = async (handler: NewTask): Promise<boolean> => {
      const [one] = held;
      if (!one) throw new Error("it holds no unit");
      const { id, epoch } = one;
      const ended = { id, epoch, to: "failed", body: "{}", delayMs: 0, handler } as const;
      held = held.slice(1);
      return next(0, { finished: [ended] });
    };
    return { begin, next, fail };
  };
  return { memory, clock, worker, swaps };
}

test("the short way is taken until a hint comes, something else is to be said, or it was taken too often", async () => {
  const { memory, worker } = await working();
  const { begin, next } = await worker("a");
  await begin();
  expect([await next(0), await next(2), await next(4)]).toEqual([false, true, true]);
  expect([await next(1, { hinted: true }), await next(1)]).toEqual([false, true]);
  const ways: boolean[] = [];
  for (let n = 0; n < 18; n += 1) ways.push(await next(1));
  expect(ways.lastIndexOf(true, 13)).toBe(13);
  expect(ways.slice(13)).toEqual([true, false, true, true, true]);
  expect((await memory.gates()).find(({ key }) => key === "cluster")?.held).toBe(4);
});

test("two exchanges in flight start different claims that were made ahead", async () => {
  const { memory, worker, swaps } = await working();
  const { begin, next } = await worker("a", 12);
  await begin();
  expect(await next(1)).toBe(true);
  const before = swaps();
  await Promise.all([next(1), next(1)]);
  expect(swaps() - before).toBe(2);
  expect((await memory.gates()).find(({ key }) => key === "cluster")?.held).toBe(4);
});

test("a failure that somebody handles takes the whole pass, which puts the handler in line", async () => {
  const { memory, worker } = await working();
  const { begin, fail } = await worker("a");
  await begin();
  expect(await fail({ ...unit("handler", {}), id: "handler" })).toBe(false);
  expect((await memory.task("handler"))?.state).toBe("waiting");
});

test("what a whole pass saw is trusted for a moment only", async () => {
  const { clock, worker } = await working();
  const { begin, next } = await worker("a");
  await begin();
  clock.advance(250);
  expect(await next(1)).toBe(true);
  clock.advance(1);
  expect([await next(1), await next(1)]).toEqual([false, true]);
});

test("a gate above its limit drains, although its limit is the one that was seen", async () => {
  const { memory, worker } = await working();
  const { begin, next } = await worker("a");
  await begin();
  await memory.changeLimit({ key: "cluster", to: "value", limit: 2, by: "ann" });
  expect([await next(0), await next(1), await next(1)]).toEqual([false, false, false]);
  expect((await memory.gates()).find(({ key }) => key === "cluster")?.held).toBe(2);
  expect(await next(1)).toBe(true);
});

test("a worker above its fair part takes no short way, so that the other one gets its part", async () => {
  const { worker } = await working();
  const [{ begin, next }, { next: other }] = [await worker("a"), await worker("b")];
  await begin();
  for (const _ of [3, 2]) {
    expect(await next(1)).toBe(false);
    await other(0, { hinted: true });
  }
  // Each has two by now.
  expect([await next(0), await next(1), await other(1)]).toEqual([false, true, true]);
});
