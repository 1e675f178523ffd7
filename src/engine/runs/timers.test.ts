import { describe, expect, test } from "vitest";
import { openMemory } from "../../store/memory/index.ts";
import type { Store } from "../../store/store.ts";
import { FakeClock } from "../../testing/clock.ts";
import { Bench, newTask } from "../../testing/store-suite/bench.ts";
import { laneOfItems, startedOver } from "../../testing/store-suite/fan-bench.ts";
import { gateOf, laneOfSteps, move, newRun, open, unitOf } from "../../testing/store-suite/run-bench.ts";
import { lookAtTimers } from "./timers.ts";

const CLAIM_TIMEOUT_MS = 1_000;

/** A pool of one slot that is held. */
async function fullPool(): Promise<Bench<Store>> {
  const clock = new FakeClock();
  const bench = new Bench<Store>(openMemory({ now: clock.now }), clock);
  await bench.session("s1", { leaseMs: 1_000_000 });
  await bench.store.declare({ queues: [], gates: [{ key: "pool:smtp", limit: 1, line: "bypass" }] });
  await bench.enqueue(newTask("holder"));
  await bench.claim(["holder"]);
  return bench;
}

const rung = async (bench: Bench<Store>): Promise<void> => {
  while (
    (await lookAtTimers(bench.store, { claimTimeoutMs: CLAIM_TIMEOUT_MS, newId: () => "handler" })) === 0
  );
};

describe("the time that a step may wait for its pools", () => {
  test("begins anew when the step comes back in line, and does not count what it ran", async () => {
    const bench = await fullPool();
    await bench.store.submit([newRun("r", { direct: true })]);
    await move(bench, "r", {
      start: { gates: [{ key: gateOf("r"), limit: 9 }], timeoutMs: null },
      steps: [open("r", "fetch")],
      enqueue: [unitOf("r", "fetch", { claimTimeoutMs: CLAIM_TIMEOUT_MS })],
    });
    const claim = await bench.claimOne("r-fetch");
    // Others of its lane wait while it runs.
    await bench.move(laneOfSteps("r"), { blocked: '["pool:smtp"]' });
    bench.clock.advance(5 * CLAIM_TIMEOUT_MS);
    await bench.report(claim, { to: "returned" });
    await rung(bench);
    expect(await bench.state("r-fetch")).toBe("waiting");
    bench.clock.advance(CLAIM_TIMEOUT_MS - 1);
    await rung(bench);
    expect(await bench.state("r-fetch")).toBe("waiting");
    bench.clock.advance(1);
    await rung(bench);
    expect(await bench.state("r-fetch")).toBe("failed");
  });

  test("stands still while its run is paused", async () => {
    const bench = await fullPool();
    await bench.store.submit([newRun("r", { direct: true })]);
    await move(bench, "r", {
      start: { gates: [{ key: gateOf("r"), limit: 9 }], timeoutMs: null },
      steps: [open("r", "fetch")],
      enqueue: [unitOf("r", "fetch", { claimTimeoutMs: CLAIM_TIMEOUT_MS })],
    });
    // The first pass takes in the lane, the second moves it.
    await bench.move(laneOfSteps("r"), {});
    await bench.move(laneOfSteps("r"), { blocked: '["pool:smtp","run:r"]' });
    bench.clock.advance(5 * CLAIM_TIMEOUT_MS);
    await rung(bench);
    expect(await bench.state("r-fetch")).toBe("waiting");
    await bench.move(laneOfSteps("r"), { blocked: '["pool:smtp"]' });
    bench.clock.advance(5 * CLAIM_TIMEOUT_MS);
    await rung(bench);
    expect(await bench.state("r-fetch")).toBe("failed");
  });

  test("begins anew for a list when one of its items comes back in line", async () => {
    const bench = await fullPool();
    const lane = laneOfItems("r", "each");
    await startedOver(bench, "r", "each", [0], { timers: [{ lane: lane.id, afterMs: CLAIM_TIMEOUT_MS }] });
    const claim = await bench.claimOne("r-each-0");
    await bench.move(lane, { blocked: '["pool:smtp"]' });
    bench.clock.advance(5 * CLAIM_TIMEOUT_MS);
    await bench.report(claim, { to: "returned" });
    await rung(bench);
    expect(await bench.state("r-each-0")).toBe("waiting");
    bench.clock.advance(10 * CLAIM_TIMEOUT_MS);
    await rung(bench);
    expect(await bench.state("r-each-0")).toBe("failed");
  });
});
