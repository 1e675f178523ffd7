// Waiting for a full lock costs nothing, however many wait.

import { expect, test } from "vitest";
import type { Reference } from "../../src/index.ts";
import { workflow } from "../../src/index.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { working } from "../runs/support/world.ts";
import { holders } from "./support/holders.ts";

const SPAN_MS = 3_000;

/** The processor time of this process while it only waits. The database has its own. */
async function idleCost(): Promise<number> {
  const before = process.cpuUsage();
  const end = Date.now() + SPAN_MS;
  await until(() => Date.now() > end, "the time passes");
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("100 runs with a lock of their own and a common full one cost about what one does", {
    timeout: 120_000,
  }, async () => {
    const { hold, hasBegun, letGo } = holders();
    const locking = workflow({
      id: "locking",
      mutexes: (name: string) => [`own-${name}`, "common"],
      steps: (s, input: Reference<string>) => s.step("hold", hold, input),
    });
    const sluice = await working(place, { tasks: [hold], workflows: [locking], runs: { max: -1 } });
    const first = await sluice.submit(locking, "first");
    await hasBegun("first");
    const submit = async (from: number, to: number) => {
      const names = Array.from({ length: to - from }, (_, index) => `r${from + index}`);
      const runs = await Promise.all(names.map((name) => sluice.submit(locking, name)));
      await until(async () => (await sluice.locks.info("common")).line.length === to, "they wait");
      return runs;
    };
    const one = await submit(0, 1);
    const alone = await idleCost();
    const others = await submit(1, 100);
    const all = await idleCost();
    // A spin takes a whole processor: the span itself.
    expect(all, `${alone} ms of processor time for one, ${all} ms for 100`).toBeLessThan(
      Math.max(3 * alone, alone + SPAN_MS / 8),
    );
    for (const { id } of [...others, ...one]) await sluice.runs.cancel(id);
    await letGo("first");
    expect((await sluice.runs.ended(first.id)).state).toBe("succeeded");
  });
});
