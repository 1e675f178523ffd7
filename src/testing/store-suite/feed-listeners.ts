import { expect, test } from "vitest";
import { TOPIC } from "../../core/change.ts";
import type { Listener } from "../../store/store.ts";
import { LEAST_KEEP_MS } from "../../store/store.ts";
import type { Fresh } from "./bench.ts";
import { BILL, newTask } from "./bench.ts";
import { EVERYTHING, FeedReader } from "./feed-bench.ts";

export function feedListenerSuite(fresh: Fresh<"feed">): void {
  test("forgets a listener that is not renewed in time, and says so", async () => {
    const bench = await fresh();
    const kept = await FeedReader.open(bench, "kept");
    const left = await FeedReader.open(bench, "left");
    for (let third = 0; third < 4; third += 1) {
      bench.clock.advance(LEAST_KEEP_MS / 3);
      expect(await bench.store.keepFollowing(["kept"])).toEqual(new Set(["kept"]));
    }
    await bench.enqueue("a");
    expect(await kept.told()).toEqual(["a TaskEnqueued"]);
    expect((await left.look()).alive).toEqual(new Set());
    expect(await bench.store.keepFollowing(["left", "kept"])).toEqual(new Set(["kept"]));
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
    bench.clock.advance(LEAST_KEEP_MS + 1);
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
      bench.clock.advance(2 * LEAST_KEEP_MS);
      await bench.store.keepFollowing(["long"]);
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
}
