import { expect, test } from "vitest";
import { TOPIC } from "../../core/change.ts";
import type { Listener } from "../../store/store.ts";
import { LEAST_KEEP_MS, MARGIN_MS } from "../../store/store.ts";
import type { BenchWith, Fresh } from "./bench.ts";
import { BILL, newTask } from "./bench.ts";
import { EVERYTHING, FeedReader } from "./feed-bench.ts";

/** Renews the listeners of these readers. The slowest of them has read this far. */
const renewed = (
  bench: BenchWith<"feed">,
  readers: readonly FeedReader[],
  keepMs = LEAST_KEEP_MS,
): Promise<ReadonlySet<string>> =>
  bench.store.keepFollowing(
    readers.map(({ id }) => ({ id, keepMs })),
    Math.min(...readers.map(({ position }) => position)),
  );

export function feedListenerSuite(fresh: Fresh<"feed">): void {
  test("forgets a listener that is not renewed in time, and says so", async () => {
    const bench = await fresh();
    const kept = await FeedReader.open(bench, "kept");
    const left = await FeedReader.open(bench, "left");
    for (let part = 0; part < 4; part += 1) {
      bench.clock.advance((LEAST_KEEP_MS + MARGIN_MS) / 3);
      expect(await renewed(bench, [kept])).toEqual(new Set(["kept"]));
    }
    await bench.enqueue("a");
    expect(await kept.told()).toEqual(["a TaskEnqueued"]);
    expect((await left.look()).alive).toEqual(new Set());
    expect(await renewed(bench, [left, kept])).toEqual(new Set(["kept"]));
    await bench.store.unfollow(["kept"]);
    await bench.enqueue("b");
    const { changes, alive } = await kept.look();
    expect([changes, alive]).toEqual([[], new Set()]);
  });

  test("goes on for another listener where one has come to, without a gap", async () => {
    const bench = await fresh();
    const first = await FeedReader.open(bench, "first", { keepMs: 600_000 });
    await bench.enqueue("a");
    await first.news();
    const from = { listener: "first", position: first.position };
    await bench.enqueue("b");
    bench.clock.advance(500_000);
    await bench.store.tend();
    await bench.enqueue("c");
    expect(await bench.store.resume({ ...EVERYTHING, id: "second", task: "send" }, from)).toBe(true);
    await bench.store.unfollow(["first"]);
    await bench.enqueue("d", newTask("other", { lane: BILL }));
    const { changes, alive } = await bench.store.changes({
      after: from.position,
      limit: 100,
      listeners: ["second"],
    });
    expect(changes.map(({ subject }) => subject)).toEqual(["b", "c", "d"]);
    expect(alive).toEqual(new Set(["second"]));
  });

  test("does not go on from a listener that is gone, wanted less, or began later", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    const wide = await FeedReader.open(bench, "wide");
    await bench.enqueue("b");
    await wide.news();
    const narrow = await FeedReader.open(bench, "narrow", { task: "bill", topics: TOPIC.ended });
    const resume = (listener: string, position: number, more: Partial<Listener> = {}): Promise<boolean> =>
      bench.store.resume({ ...EVERYTHING, id: `x${listener}${position}`, ...more }, { listener, position });
    expect(await resume("narrow", narrow.position)).toBe(false);
    expect(await resume("narrow", narrow.position, { task: "bill" })).toBe(false);
    expect(await resume("narrow", narrow.position - 1, { task: "bill", topics: TOPIC.ended })).toBe(false);
    expect(await resume("narrow", narrow.position, { task: "bill", topics: TOPIC.ended })).toBe(true);
    expect(await resume("wide", wide.position + 1)).toBe(false);
    bench.clock.advance(LEAST_KEEP_MS + MARGIN_MS + 1);
    await bench.store.tend();
    expect(await resume("wide", wide.position)).toBe(false);
    expect(await resume("nobody", 0)).toBe(false);
  });

  test("lets go of changes that are older than anybody keeps, and says that they are gone", async () => {
    const bench = await fresh();
    const long = await FeedReader.open(bench, "long", { keepMs: 3 * LEAST_KEEP_MS });
    const begun = long.position;
    await bench.enqueue("a", "b");
    await long.news();
    const keep = async (): Promise<void> => {
      bench.clock.advance(2 * LEAST_KEEP_MS + MARGIN_MS / 2);
      await renewed(bench, [long], 3 * LEAST_KEEP_MS);
      await bench.store.tend();
    };
    await keep();
    long.position = begun;
    expect(await long.told()).toEqual(["a TaskEnqueued", "b TaskEnqueued"]);
    await keep();
    long.position = begun;
    expect(await long.look()).toMatchObject({ changes: [], lapsed: true });
    const from = { listener: "long", position: begun };
    expect(await bench.store.resume({ ...EVERYTHING, id: "late" }, from)).toBe(false);
  });

  test("a reader can resume for its whole keep time after it stopped, although its last renewal was before", async () => {
    for (const keepMs of [LEAST_KEEP_MS, 20 * LEAST_KEEP_MS]) {
      const bench = await fresh();
      const left = await FeedReader.open(bench, "left", { keepMs });
      await bench.enqueue("a");
      await left.news();
      await renewed(bench, [left], keepMs);
      const from = { listener: "left", position: left.position };
      // It stops just before the next renewal is due, and that renewal was late.
      await bench.enqueue("b");
      // Another reader publishes it, so its age counts from now.
      await left.look();
      bench.clock.advance(keepMs + MARGIN_MS - 1);
      await bench.store.tend();
      expect(await bench.store.resume({ ...EVERYTHING, keepMs, id: "again" }, from)).toBe(true);
      const again = { after: from.position, limit: 9, listeners: ["again"] };
      const { changes, lapsed } = await bench.store.changes(again);
      expect([changes.map(({ subject }) => subject), lapsed]).toEqual([["b"], false]);
      bench.clock.advance(keepMs + MARGIN_MS + 1);
      await bench.store.tend();
      expect((await bench.store.changes(again)).alive).toEqual(new Set());
    }
  });

  test("keeps what a slow reader has not read yet, for its keep time after it stopped, and no longer", async () => {
    const bench = await fresh();
    const slow = await FeedReader.open(bench, "slow");
    const from = { listener: "slow", position: slow.position };
    await bench.enqueue("a", "b");
    await slow.look();
    const atWork = async (): Promise<void> => {
      bench.clock.advance(LEAST_KEEP_MS);
      await renewed(bench, [slow]);
      await bench.store.tend();
    };
    for (let time = 0; time < 5; time += 1) await atWork();
    bench.clock.advance(LEAST_KEEP_MS);
    await bench.store.tend();
    expect(await bench.store.resume({ ...EVERYTHING, id: "again" }, from)).toBe(true);
    // Whoever resumes is as far behind, and has the same time again.
    bench.clock.advance(LEAST_KEEP_MS);
    await bench.store.tend();
    const again = await bench.store.changes({ after: from.position, limit: 9, listeners: ["again"] });
    expect([again.changes.map(({ subject }) => subject), again.lapsed]).toEqual([["a", "b"], false]);
    slow.position = again.changes.at(-1)?.position as number;
    const other = await FeedReader.open(bench, "other");
    bench.clock.advance(LEAST_KEEP_MS + MARGIN_MS - 1);
    await renewed(bench, [other]);
    bench.clock.advance(2);
    await renewed(bench, [other]);
    expect(await bench.store.changes({ after: from.position, limit: 9, listeners: [] })).toMatchObject({
      changes: [],
      lapsed: true,
    });
  });

  test("does not keep changes for ever for a reader that has stopped reading", async () => {
    const bench = await fresh();
    const stuck = await FeedReader.open(bench, "stuck");
    await bench.enqueue("a");
    await stuck.look();
    const hours = async (many: number): Promise<void> => {
      for (let half = 0; half < 120 * many; half += 1) {
        bench.clock.advance(30_000);
        await renewed(bench, [stuck]);
      }
    };
    await hours(1);
    expect(await stuck.look()).toMatchObject({ changes: [{ subject: "a" }], lapsed: false });
    await hours(0.1);
    expect(await bench.store.changes({ after: stuck.position, limit: 9, listeners: [] })).toMatchObject({
      changes: [],
      lapsed: true,
    });
  });
}
