// Every kind that a filter may name is told by every store, for tasks, steps and runs as users see them. A
// kind that nothing causes would make its reader wait for ever.

import { expect, test } from "vitest";
import { changeViews, KINDS_OF_CHANGES } from "../../src/api/change-view.ts";
import { RECORDED_KINDS } from "../../src/core/change.ts";
import { RUNS } from "../../src/store/runs.ts";
import type { Recovery } from "../../src/store/store.ts";
import { FakeClock } from "../../src/testing/clock.ts";
import type { BenchWith } from "../../src/testing/store-suite/bench.ts";
import { Bench, MAIL, NOTHING, scopeOf } from "../../src/testing/store-suite/bench.ts";
import { FeedReader } from "../../src/testing/store-suite/feed-bench.ts";
import { gateOf, move, newRun, open, started, unitOf } from "../../src/testing/store-suite/run-bench.ts";
import { describeOn, storeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";

const FATES = ["done", "failed", "retried", "returned", "cancelled", "moved", "ahead", "over"] as const;
const LOSSES: readonly Recovery["to"][] = ["retry", "quarantined"];

/** All that can happen to units. The name of each says what becomes of it. */
async function live(bench: Bench, nameOf: (fate: string) => string, session: string): Promise<void> {
  const claim = (fate: string, held = true) =>
    bench.claimOne(nameOf(fate), { session, held, leaseMs: 60_000 });
  await bench.report(await claim("done"), { to: "succeeded", body: "1" });
  await bench.report(await claim("failed"), { to: "failed", body: '{"message":"no"}' });
  await bench.report(await claim("retried"), { to: "retry", delayMs: 0 });
  await bench.report(await claim("returned"), { to: "returned" });
  const ahead = await claim("ahead", false);
  await bench.store.pass(scopeOf([], { session }), () => ({ ...NOTHING, start: [ahead] }));
  const { id, epoch } = ahead;
  await bench.store.note([{ id, epoch, kind: "TaskLogged", data: '{"message":"hello"}' }]);
  await bench.store.pass(scopeOf([MAIL], { session }), () => ({ ...NOTHING, expire: [nameOf("over")] }));
}

/** A step that waits for an event, and the signal that answers it. */
async function waits(bench: BenchWith<"runs" | "waits">): Promise<void> {
  await bench.store.submit([newRun("waits", { direct: true })]);
  const wait = { event: { name: "paid", match: [] }, until: null, late: null, told: "{}" };
  await move(bench, "waits", {
    start: { gates: [], timeoutMs: null },
    steps: [{ name: "paid", state: "open", unit: null, body: null, wait }],
  });
  await bench.store.signal({ id: "signal", event: "paid", payload: "1", keepMs: 1_000, key: null });
}

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("every kind of change is told", { timeout: 30_000 }, async () => {
    const store = await storeOn(place);
    const bench = new Bench(store, new FakeClock());
    const reader = await FeedReader.open(bench, "l");
    await bench.session("s1", { leaseMs: 600_000 });

    const all = [...FATES, ...LOSSES];
    await bench.enqueue(...all);
    await started(bench, "r", ...all);
    await store.submit(all.map((fate) => newRun(`run-${fate}`)));
    for (const [nameOf, session] of [
      [(fate: string) => fate, "s1"],
      [(fate: string) => `r-${fate}`, "s1"],
      [(fate: string) => `run-${fate}`, RUNS],
    ] as const) {
      await live(bench, nameOf, session);
      await store.reprioritize(nameOf("moved"), 7, "ann");
      if (session === RUNS) await store.cancelRun(nameOf("cancelled"), "ann");
      else await store.cancel(nameOf("cancelled"), "ann");
    }
    await bench.claimOne("moved", { leaseMs: 60_000 });
    expect(await store.renewClaims("s1")).not.toEqual([]);
    await lose(bench);
    await wholeRun(bench);
    await others(bench);
    await waits(bench);

    const told = new Set<string>();
    const recorded = new Set<string>();
    await until(async () => {
      await store.tend();
      for (const change of await reader.news()) {
        recorded.add(change.kind);
        for (const { kind } of changeViews(change, String)) told.add(kind);
      }
      return told.has("WorkerLost");
    }, "the lost worker is told");
    expect(RECORDED_KINDS.filter((kind) => !recorded.has(kind))).toEqual([]);
    expect(KINDS_OF_CHANGES.filter((kind) => !told.has(kind))).toEqual([]);
  });
});

/** A worker ends while it holds claims of tasks, and of steps. */
async function lose(bench: Bench): Promise<void> {
  await bench.session("s2");
  const units = LOSSES.flatMap((to) => [to, `r-${to}`]);
  await bench.claim(units, { session: "s2" });
  await bench.store.closeSession("s2");
  await bench.store.pass(scopeOf([]), ({ lost }) => ({
    ...NOTHING,
    recover: lost.map(({ id, epoch }) => ({
      id,
      epoch,
      to: id.endsWith("retry") ? "retry" : "quarantined",
      body: "{}",
    })),
  }));
}

/** What a run tells as a whole, and a step over a list. */
async function wholeRun(bench: Bench & Parameters<typeof move>[0]): Promise<void> {
  const list = (name: string) => ({
    ...open("r", name),
    unit: null,
    fan: { lane: MAIL.id, total: 1, created: 1 },
  });
  const ends = ["succeeded", "failed", "cancelled"] as const;
  await move(bench, "r", {
    start: { gates: [{ key: gateOf("r"), limit: 9 }], timeoutMs: null },
    steps: [...ends.map(list), { name: "no", state: "skipped", unit: null, body: "{}" }],
    again: true,
  });
  await move(bench, "r", {
    steps: ends.map((state) => ({ name: state, state, unit: null, body: null })),
    enqueue: [unitOf("r", "last")],
  });
  await bench.store.pauseRun("r", true, "ann");
  await bench.store.pauseRun("r", false, "ann");
}

/** Gates, lanes, triggers and workers. */
async function others(
  bench: Bench<Parameters<typeof move>[0]["store"] & Awaited<ReturnType<typeof storeOn>>>,
): Promise<void> {
  const { store } = bench;
  const trigger = { name: "sensor x", kind: "sensor", workflow: null, spec: "{}", paused: false } as const;
  const gates = [{ key: "queue:money", limit: 4, line: "skip" } as const];
  await store.declare({ app: "shop", queues: [{ name: "money", rank: 1 }], gates, triggers: [trigger] });
  await store.changeLimit({ key: "queue:money", to: "value", limit: 2, by: "ann" });
  for (const to of ["paused", "resumed", "declared"] as const)
    await store.changeLimit({ key: "queue:money", to, by: "ann" });
  await store.setTrigger({ ...trigger, name: "set-schedule y", kind: "schedule" }, "ann");
  await store.removeTrigger("set-schedule y", "ann");
  await store.pauseTrigger("sensor x", true, "ann");
  await store.pauseTrigger("sensor x", false, "ann");
  await store.setAside(MAIL, "it cannot be");
  await store.restore(MAIL.id, "ann");
  await bench.session("dying", { leaseMs: 1 });
}
