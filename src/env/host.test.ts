import { describe, expect, onTestFinished, test, vi } from "vitest";
import { hostEnv } from "./host.ts";

describe("the host", () => {
  test("calls back once after a while, unless it is cancelled", async () => {
    const env = hostEnv();
    const called: string[] = [];
    env.after(5, () => called.push("kept"));
    env.after(5, () => called.push("cancelled"))();
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(called).toEqual(["kept"]);
  });

  test("has a clock for durations that never goes back, and the wall's", () => {
    const env = hostEnv();
    const first = env.monotonic();
    expect(env.monotonic()).toBeGreaterThanOrEqual(first);
    expect(Math.abs(env.wall() - Date.now())).toBeLessThan(1_000);
    expect(env.random()).toBeLessThan(1);
  });

  test("measures durations as before when the wall's clock is set back", () => {
    const env = hostEnv();
    const first = env.monotonic();
    const anHourAgo = Date.now() - 3_600_000;
    const wall = vi.spyOn(Date, "now").mockReturnValue(anHourAgo);
    onTestFinished(() => wall.mockRestore());
    expect(env.wall()).toBe(anHourAgo);
    expect(env.monotonic()).toBeGreaterThanOrEqual(first);
  });
});
