import { expect, test } from "vitest";
import type { Moves } from "../../store/store.ts";
import type { Bench, BenchWith, Fresh } from "./bench.ts";
import { MAIL, NOTHING, newTask, scopeOf } from "./bench.ts";
import { FeedReader } from "./feed-bench.ts";

async function recover(bench: Bench): Promise<void> {
  await bench.store.pass(scopeOf([], { session: "s2" }), ({ lost }): Moves => {
    return { ...NOTHING, recover: lost.map(({ id, epoch }) => ({ id, epoch, to: "retry", body: "{}" })) };
  });
}

/** Produces every kind of event that a unit's history can have. */
async function live(bench: BenchWith<"steering">): Promise<readonly string[]> {
  await bench.session("s1", { leaseMs: 10_000 });
  await bench.session("s2", { leaseMs: 900_000 });
  await bench.enqueue("done", "failed", "retried", "soon", "returned", "cancelled", "ahead", "lost");
  await bench.enqueue(newTask("late", { delayMs: 500 }), newTask("over", { goodForMs: 100 }));
  await bench.enqueue(newTask("keyed", { key: "k" }), newTask("twin", { key: "k" }));
  await bench.store.reprioritize("cancelled", 7, "ann");
  await bench.report(await bench.claimOne("done"), { to: "succeeded", body: "1" });
  await bench.report(await bench.claimOne("failed"), { to: "failed", body: '{"message":"no"}' });
  await bench.store.retry("failed", "ann");
  await bench.report(await bench.claimOne("retried"), { to: "retry", delayMs: 50, body: '{"x":1}' });
  await bench.report(await bench.claimOne("soon"), { to: "retry", delayMs: 0, body: null });
  await bench.report(await bench.claimOne("returned"), { to: "returned" });
  await bench.store.cancel("cancelled", "ann");
  const ahead = await bench.claimOne("ahead", { held: false });
  await bench.store.pass(scopeOf([]), () => ({ ...NOTHING, start: [ahead] }));
  const noted = { id: ahead.id, epoch: ahead.epoch, data: '"hello"' };
  await bench.store.note([
    { ...noted, kind: "TaskLogged" },
    { ...noted, kind: "TaskLogged" },
  ]);
  await bench.claimOne("lost", { claimLeaseMs: 5_000 });
  bench.clock.advance(10_000);
  await bench.store.tend();
  await recover(bench);
  const all = ["done", "failed", "retried", "soon", "returned", "cancelled", "ahead", "lost"];
  return [...all, "late", "over", "keyed"];
}

export function feedSuite(fresh: Fresh<"feed" | "steering" | "asides">): void {
  test("tells what happens from the moment somebody listens, and nothing before", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("before");
    const reader = await FeedReader.open(bench, "l");
    await bench.enqueue("a");
    const claim = await bench.claimOne("a");
    await bench.report(claim, { to: "succeeded", body: "7" });
    const at = bench.clock.now();
    const place = { subject: "a", run: null, step: null, item: null, task: "send", queue: "mail", at };
    expect(await reader.news()).toEqual([
      { ...place, position: expect.any(Number), kind: "TaskEnqueued", n: 1, data: '{"priority":0}' },
      {
        ...place,
        position: expect.any(Number),
        kind: "TaskClaimed",
        n: 2,
        data: `{"attempt":1,"epoch":${claim.epoch},"session":"s1"}`,
      },
      { ...place, position: expect.any(Number), kind: "TaskSucceeded", n: 3, data: null },
    ]);
    expect(await reader.news()).toEqual([]);
  });

  test("tells the whole history of every unit, each event once and in order", async () => {
    const bench = await fresh();
    const reader = await FeedReader.open(bench, "l");
    const units = await live(bench);
    const told = await reader.news(7);
    for (const unit of units) {
      const heard = told.filter(({ subject }) => subject === unit);
      const history = await bench.store.events(unit);
      expect(heard.map(({ n, kind, data }) => [n, kind, data])).toEqual(
        history.map(({ n, kind, data }) => [n, kind, data]),
      );
    }
    expect(told.some(({ subject }) => subject === "twin")).toBe(false);
  });

  test("records nothing of what is undone", async () => {
    const bench = await fresh();
    await bench.session();
    const reader = await FeedReader.open(bench, "l");
    await bench.enqueue("a");
    await bench.store.probe(scopeOf([MAIL]), () => ({ ...NOTHING, claim: [{ id: "a", held: true }] }));
    expect(await reader.told()).toEqual(["a TaskEnqueued"]);
  });

  test("records nothing of a report that comes too late", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    const claim = await bench.claimOne("a");
    await bench.report(claim, { to: "succeeded", body: "1" });
    const reader = await FeedReader.open(bench, "l");
    expect(await bench.report(claim, { to: "failed", body: "{}" })).toBe(false);
    expect(await reader.told()).toEqual([]);
  });
}
