import { expect, test } from "vitest";
import { TOPIC } from "../../core/change.ts";
import type { Fresh } from "./bench.ts";
import { MAIL } from "./bench.ts";
import { FeedReader } from "./feed-bench.ts";

export function feedOtherSuite(
  fresh: Fresh<"feed" | "declarations" | "asides" | "triggers" | "wakeUps">,
): void {
  test("tells of gates: set, reset, paused, declared", async () => {
    const bench = await fresh();
    const reader = await FeedReader.open(bench, "l", { topics: TOPIC.gate });
    const mail = { app: "shop", queues: [{ name: "mail", rank: 1 }] };
    const gate = { key: "queue:mail", limit: 4, line: "skip" } as const;
    await bench.store.declare({ ...mail, gates: [gate] });
    await bench.store.declare({ ...mail, gates: [gate] });
    await bench.store.changeLimit({ key: "queue:mail", to: "value", limit: 2, by: "ann" });
    for (const to of ["paused", "resumed", "declared"] as const)
      await bench.store.changeLimit({ key: "queue:mail", to, by: "ann" });
    const news = await reader.news();
    expect(news.map(({ kind, queue, data }) => [kind, queue, data])).toEqual([
      ["LimitDeclared", "mail", '{"app":"shop","from":-1,"to":4}'],
      ["LimitChanged", "mail", '{"by":"ann","from":4,"to":2}'],
      ["GatePaused", "mail", '{"by":"ann","from":2,"to":2}'],
      ["GateResumed", "mail", '{"by":"ann","from":2,"to":2}'],
      ["LimitReset", "mail", '{"by":"ann","from":2,"to":4}'],
    ]);
  });

  test("tells of a declared limit for one value from the limit that was in force for it before", async () => {
    const bench = await fresh();
    const reader = await FeedReader.open(bench, "l", { topics: TOPIC.gate });
    const gate = (key: string, limit: number) => ({ key, limit, line: "skip" }) as const;
    const declares = (...gates: ReturnType<typeof gate>[]) =>
      bench.store.declare({ app: "shop", queues: [], gates });
    await declares(gate("tag:env", 9), gate("tag:env=prod", 5));
    await declares(gate("tag:env", 9), gate("tag:env=*", 2));
    await declares(gate("tag:env", 9), gate("tag:env=*", 2), gate("tag:env=prod", 1));
    const news = await reader.news();
    const told = news.map(({ subject, data }) => `${subject} ${data}`).sort();
    const data = (from: number, to: number): string => `{"app":"shop","from":${from},"to":${to}}`;
    expect(told).toEqual(
      [
        `tag:env ${data(-1, 9)}`,
        `tag:env=prod ${data(-1, 5)}`,
        `tag:env=* ${data(-1, 2)}`,
        `tag:env=prod ${data(5, 2)}`,
        `tag:env=prod ${data(2, 1)}`,
      ].sort(),
    );
  });

  test("tells of workers that start, stop and are lost, each once", async () => {
    const bench = await fresh();
    const reader = await FeedReader.open(bench, "l", { topics: TOPIC.worker });
    await bench.session("s1", { leaseMs: 10 });
    await bench.session("s2");
    await bench.store.closeSession("s2");
    bench.clock.advance(10);
    await bench.store.tend();
    await bench.store.tend();
    await bench.store.closeSession("s1");
    const news = await reader.news();
    expect(news.map(({ subject, kind, data }) => [subject, kind, data])).toEqual([
      ["s1", "WorkerStarted", '{"name":"worker s1","slots":4}'],
      ["s2", "WorkerStarted", '{"name":"worker s2","slots":4}'],
      ["s2", "WorkerStopped", '{"name":"worker s2"}'],
      ["s1", "WorkerLost", '{"name":"worker s1"}'],
    ]);
  });

  test("tells of lanes that are set aside and put back, and of triggers that are paused", async () => {
    const bench = await fresh();
    const reader = await FeedReader.open(bench, "l", { topics: TOPIC.lane + TOPIC.trigger });
    await bench.enqueue("a");
    await bench.store.setAside(MAIL, "it cannot be");
    await bench.store.restore("a", "ann");
    const trigger = { name: "sensor x", kind: "sensor", workflow: null, spec: "{}", paused: false } as const;
    await bench.store.declare({ app: "shop", queues: [], gates: [], triggers: [trigger] });
    await bench.store.pauseTrigger("sensor x", true, "ann");
    await bench.store.pauseTrigger("sensor x", false, "ann");
    expect((await reader.news()).map(({ subject, kind, queue }) => [subject, kind, queue])).toEqual([
      [MAIL.id, "LaneSetAside", "mail"],
      [MAIL.id, "LaneRestored", "mail"],
      ["sensor x", "TriggerPaused", null],
      ["sensor x", "TriggerResumed", null],
    ]);
  });

  test("wakes whoever listens to hints, when something was recorded", async () => {
    const bench = await fresh();
    const heard: string[] = [];
    const stop = await bench.store.listen((hint) => heard.push(hint));
    await bench.enqueue("a");
    const reader = await FeedReader.open(bench, "l");
    const woken = new Promise<void>((resolve) => {
      void bench.store.listen((hint) => hint === "feed" && resolve());
    });
    await bench.enqueue("b");
    await woken;
    expect(await reader.told()).toEqual(["b TaskEnqueued"]);
    await stop();
  });
}
