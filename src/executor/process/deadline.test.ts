import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Deadline } from "./deadline.ts";
import { machineNow } from "./machine-time.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "hrtime"] }));
afterEach(() => void vi.useRealTimers());

function following() {
  let newest = 0;
  let passed = 0;
  const deadline = new Deadline(
    () => newest,
    () => {
      passed += 1;
    },
  );
  const move = (ms: number): void => {
    newest = machineNow() + ms;
  };
  return { deadline, move, passed: () => passed };
}

describe("a deadline", () => {
  test("that was never set is never over", () => {
    const { deadline, passed } = following();
    deadline.look();
    vi.advanceTimersByTime(1e9);
    expect(deadline.isOver()).toBe(false);
    expect(passed()).toBe(0);
  });

  test("passes by itself, once", () => {
    const { deadline, move, passed } = following();
    move(100);
    deadline.look();
    vi.advanceTimersByTime(99);
    expect([deadline.isOver(), passed()]).toEqual([false, 0]);
    vi.advanceTimersByTime(1);
    expect([deadline.isOver(), passed()]).toEqual([true, 1]);
    vi.advanceTimersByTime(1_000);
    expect(passed()).toBe(1);
  });

  test("that was moved on without a word is asked for again before it passes", () => {
    const { deadline, move, passed } = following();
    move(100);
    deadline.look();
    vi.advanceTimersByTime(90);
    move(100);
    vi.advanceTimersByTime(99);
    expect(passed()).toBe(0);
    vi.advanceTimersByTime(1);
    expect(passed()).toBe(1);
  });

  test("that comes after one has passed counts again", () => {
    const { deadline, move, passed } = following();
    move(100);
    deadline.look();
    vi.advanceTimersByTime(100);
    move(50);
    deadline.look();
    expect(deadline.isOver()).toBe(false);
    vi.advanceTimersByTime(50);
    expect(passed()).toBe(2);
  });

  test("that is over when it is heard of passes at once", () => {
    const { deadline, move, passed } = following();
    move(100);
    vi.advanceTimersByTime(100);
    expect(passed()).toBe(0);
    deadline.look();
    expect(passed()).toBe(1);
  });

  test("may be further away than Node's timers reach", () => {
    const { deadline, move, passed } = following();
    move(2 ** 31 + 1_000);
    deadline.look();
    vi.advanceTimersByTime(2 ** 31 + 999);
    expect(passed()).toBe(0);
    vi.advanceTimersByTime(1);
    expect(passed()).toBe(1);
  });
});
