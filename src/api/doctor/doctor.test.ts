import { describe, expect, test } from "vitest";
import { openMemory } from "../../store/memory/index.ts";
import { FakeClock } from "../../testing/clock.ts";
import { Bench, NOTHING, scopeOf } from "../../testing/store-suite/bench.ts";
import { judgeClock } from "./clock.ts";
import { examine } from "./doctor.ts";

describe("the clocks", () => {
  test.each([
    ["agree when the store's is within the round trip", { before: 0, theirs: 9_000, after: 10_000 }, "ok"],
    ["agree within two seconds", { before: 1_000, theirs: 3_000, after: 1_010 }, "ok"],
    ["do not agree beyond", { before: 1_000, theirs: 3_010, after: 1_010 }, "warn"],
    ["do not agree behind", { before: 9_000, theirs: 7_000, after: 9_001 }, "warn"],
  ] as const)("%s", (_, times, verdict) => {
    expect(judgeClock(times).verdict).toBe(verdict);
  });

  test("say which one is ahead, and by how much", () => {
    expect(judgeClock({ before: 0, theirs: 5_010, after: 10 }).says).toMatch(
      /^the clock of this machine is 5s behind the store's/,
    );
    expect(judgeClock({ before: 9_000, theirs: 4_000, after: 9_000 }).says).toMatch(
      /^.* 5s ahead of the store's/,
    );
  });
});

test("a single outcome and a single event are said in the singular", async () => {
  const bench = new Bench(openMemory(), new FakeClock());
  const size = async () => (await examine(bench.store)).checks.find(({ check }) => check === "size")?.says;
  expect(await size()).toMatch(/, 0 outcomes, 0 events$/);
  await bench.enqueue("a");
  await bench.store.cancel("a", "me");
  expect(await size()).toMatch(/, 1 outcome, \d+ events?$/);
  expect(await size()).not.toContain("1 events");
});

describe("claims of those who are gone", () => {
  /** One claim, whose session ends after a second; another session stays. */
  const left = async () => {
    const clock = new FakeClock();
    const made = new Bench(openMemory({ now: clock.now }), clock);
    await made.session("gone", { leaseMs: 1_000 });
    await made.session("here", { leaseMs: 3_600_000 });
    await made.enqueue("a");
    await made.claim(["a"], { session: "gone" });
    await made.store.pass(
      scopeOf([], { session: "gone", started: [{ id: "a", epoch: 1 }], intake: false }),
      () => NOTHING,
    );
    const verdict = async (between: () => Promise<void> | void = () => {}) => {
      const { checks } = await examine(made.store, {
        wall: clock.now,
        sleep: async (ms) => {
          clock.advance(ms);
          await between();
        },
      });
      return checks.find(({ check }) => check === "recovery");
    };
    return { store: made.store, bench: made, clock, verdict };
  };

  test("are fine while their session lives", async () => {
    expect((await (await left()).verdict())?.verdict).toBe("ok");
  });

  test("are looked at twice, and forgiven when somebody recovers them meanwhile", async () => {
    const { clock, store, verdict } = await left();
    clock.advance(1_500);
    expect(await verdict(async () => void (await store.cancel("a", "me")))).toMatchObject({ verdict: "ok" });
  });

  test("that were lost between the two looks are nobody's worry yet", async () => {
    const { clock, store, bench, verdict } = await left();
    await bench.session("next", { leaseMs: 3_600_000 });
    await bench.enqueue("b");
    await bench.claim(["b"], { session: "next" });
    clock.advance(1_500);
    const between = async () => {
      await store.cancel("a", "me");
      await store.closeSession("next");
    };
    expect(await verdict(between)).toMatchObject({ verdict: "ok" });
    expect(await verdict()).toMatchObject({ verdict: "warn", findings: [{ ids: ["b"] }] });
  });

  test("are a warning after a poll, and broken after a minute in which a worker served them", async () => {
    const { clock, verdict } = await left();
    clock.advance(1_500);
    expect(await verdict()).toMatchObject({ verdict: "warn", findings: [{ ids: ["a"] }] });
    clock.advance(60_000);
    expect(await verdict()).toMatchObject({ verdict: "fail", findings: [{ ids: ["a"] }] });
  });

  test("are no defect however old where nobody is there to recover them", async () => {
    const { clock, store, verdict } = await left();
    await store.closeSession("here");
    clock.advance(600_000);
    expect(await verdict()).toMatchObject({
      verdict: "warn",
      findings: [{ remedy: { action: "startWorker" } }],
    });
  });
});
