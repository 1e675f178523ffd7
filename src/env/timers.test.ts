import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { every, onAbort, sleep, soon, after as startTimer, turn } from "./timers.ts";

describe("a timer", () => {
  test("longer than Node can count does not ring at once", async () => {
    let hasRung = false;
    const cancel = startTimer(365 * 86_400_000, () => {
      hasRung = true;
    });
    await sleep(20);
    cancel();
    expect(hasRung).toBe(false);
  });

  test("keeps the process alive only when it says so", () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = timers();
    const cancel = [startTimer(60_000, () => {}), every(60_000, () => {})];
    expect(timers()).toBe(before);
    cancel.push(startTimer(60_000, () => {}, { keepsAlive: true }));
    expect(timers()).toBe(before + 1);
    for (const each of cancel) each();
    expect(timers()).toBe(before);
  });

  test("that repeats rings until it is cancelled", async () => {
    let rings = 0;
    await new Promise<void>((resolve) => {
      const cancel = every(1, () => {
        rings += 1;
        if (rings < 3) return;
        cancel();
        resolve();
      });
    });
    await sleep(10);
    expect(rings).toBe(3);
  });
});

describe("a sleep", () => {
  test("ends with its signal, and at once if that was aborted before", async () => {
    const abort = new AbortController();
    const sleeping = sleep(1e9, abort.signal);
    abort.abort();
    await sleeping;
    await sleep(1e9, abort.signal);
  });
});

describe("a turn", () => {
  test("comes after what has arrived already", async () => {
    const order: string[] = [];
    soon(() => order.push("arrived"));
    await turn().then(() => order.push("turn"));
    expect(order).toEqual(["arrived", "turn"]);
  });
});

describe("what waits for an abort", () => {
  test("is called once, unless it has let go, and one listener serves all", () => {
    const stop = new AbortController();
    const called: number[] = [];
    const letGo = Array.from({ length: 20 }, (_, index) => onAbort(stop.signal, () => called.push(index)));
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
    for (const each of letGo.slice(1, 19)) each();
    stop.abort();
    stop.signal.dispatchEvent(new Event("abort"));
    expect(called).toEqual([0, 19]);
  });
});
