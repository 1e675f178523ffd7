import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { machineNow, machineTimeOf } from "./machine-time.ts";

test("an instant of this process lies where another process reads it, too", () => {
  const before = machineTimeOf(performance.now());
  const other = Number(
    execFileSync(process.execPath, ["-p", "process.hrtime.bigint()"], { encoding: "utf8" }).replace("n", ""),
  );
  const after = machineTimeOf(performance.now());
  expect(other / 1e6).toBeGreaterThan(before);
  expect(other / 1e6).toBeLessThan(after + 1);
});

test("an instant that is told is never later than it is", () => {
  const at = performance.now() + 1_000;
  const told = machineTimeOf(at);
  expect(Number.isInteger(told)).toBe(true);
  expect(told).toBeLessThanOrEqual(machineNow() + 1_000);
});
