import { describe, expect, test } from "vitest";
import { Signal } from "./signal.ts";

/** True if the wait is over by now. Does not wait for it. */
async function isOver(wait: Promise<void>): Promise<boolean> {
  let over = false;
  void wait.then(() => {
    over = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return over;
}

describe("a signal", () => {
  test("that was set before is seen at once, and taken down", async () => {
    const signal = new Signal();
    signal.set();
    expect(await isOver(signal.wait())).toBe(true);
    expect(await isOver(signal.wait())).toBe(false);
  });

  test("ends a wait that is under way", async () => {
    const signal = new Signal();
    const wait = signal.wait();
    expect(await isOver(wait)).toBe(false);
    signal.set();
    expect(await isOver(wait)).toBe(true);
  });

  test("that is set twice before it is seen is seen once", async () => {
    const signal = new Signal();
    signal.set();
    signal.set();
    await signal.wait();
    expect(await isOver(signal.wait())).toBe(false);
  });

  test("that is set again while the first is being handled is seen again", async () => {
    const signal = new Signal();
    signal.set();
    await signal.wait();
    signal.set();
    expect(await isOver(signal.wait())).toBe(true);
  });
});
