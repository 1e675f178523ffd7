import { expect, test } from "vitest";
import { Breath } from "./breath.ts";

function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test("timers fire between calls that were made at once, and the calls stay in order", async () => {
  const breath = new Breath();
  const done: string[] = [];
  setTimeout(() => done.push("timer"), 0);
  const call = async (n: number) => {
    await Promise.resolve();
    while (breath.isDue) await breath.pause();
    breath.measured(() => work(6));
    done.push(String(n));
  };
  await Promise.all(Array.from({ length: 8 }, (_, n) => call(n)));
  expect(done.filter((each) => each !== "timer")).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
  expect(done.slice(0, 5)).toContain("timer");
});

test("no pause is due after little work", () => {
  let now = 0;
  const breath = new Breath(() => now);
  breath.measured(() => {
    now += 1;
  });
  expect(breath.isDue).toBe(false);
});
