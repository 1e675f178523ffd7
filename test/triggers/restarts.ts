// Processes die between any two steps of a look, before or after a step was done, and come back. Every run is
// created once, by the stamps alone: idempotency keys cannot help, because every try has its own keys.

import { describe, expect, test } from "vitest";
import { HOUR, TRIGGERS } from "./support/app.ts";
import { Mortal, submitOf } from "./support/mortal.ts";
import type { Place } from "./support/world.ts";
import { World } from "./support/world.ts";

/** A look with every trigger due has sixteen steps. The seventeenth belongs to the next poll. */
const STEPS = 17;
/** The triggers that wait for their own runs to end. */
const OVER = ["schedule hourly", "automation fresh"] as const;

/** Runs the same cases on any store. */
export function restartCases(place: Place): void {
  describe("over more than a hundred restarts, at every step of a look", { timeout: 120_000 }, () => {
    test("a schedule that skips, a sensor and automations make every run exactly once", async () => {
      const world = await World.at(place);
      await world.live(2_000, Mortal.never());
      const hours: number[] = [];
      for (let round = 1; round <= 4 * STEPS; round += 1) {
        // Every hour there is a fire time, an item and a success of each workflow. Every third hour the
        // schedule's last run has not ended.
        const skips = round % 3 === 0;
        if (!skips) hours.push(round);
        await world.meanwhile(HOUR - 32_000, round, skips ? ["automation fresh"] : OVER);
        // The first process finds everything to do, the second what the first has left.
        const left = 1 + (round % STEPS);
        const after = Math.floor(round / STEPS) % 2 === 1;
        await world.live(6_000, new Mortal(left, after));
        await world.live(6_000, new Mortal(left, !after));
        await world.live(20_000, Mortal.never());
        await expectRuns(world, round, hours);
      }
      expectDeaths(world, ["tick", ...TRIGGERS.map(submitOf)]);
    });

    test("so do four processes at once, of which some die", async () => {
      const world = await World.at(place);
      await world.live(2_000, Mortal.never());
      const hours: number[] = [];
      for (let round = 1; round <= 40; round += 1) {
        hours.push(round);
        await world.meanwhile(HOUR - 30_000, round, OVER);
        const left = (process: number): number => 1 + ((round * 5 + process * 3) % STEPS);
        const doomed = [0, 1, 2].map((process) => new Mortal(left(process), (round + process) % 2 === 0));
        await world.live(30_000, ...doomed, Mortal.never());
        await expectRuns(world, round, hours);
      }
      // On a server, chance decides which process reaches which step.
      expectDeaths(world, [submitOf("")]);
      expect(world.late, "decisions that came second").toBeGreaterThan(0);
    });
  });
}

async function expectRuns(world: World, round: number, hours: readonly number[]): Promise<void> {
  expect(world.errors, `errors by round ${round}`).toEqual([]);
  expect(await world.runs(), `runs by round ${round}`).toEqual({
    "schedule hourly": hours,
    "sensor items": world.items,
    "automation both": world.items.map(() => null),
    "automation fresh": world.items.map(() => null),
  });
}

/**
 * Checks that some processes died just before a run was stored and some just after. Otherwise the test proves
 * nothing.
 */
function expectDeaths({ deaths }: World, around: readonly string[]): void {
  expect(deaths.length, "deaths").toBeGreaterThan(100);
  for (const step of around) {
    const there = deaths.filter((death) => death.step.startsWith(step));
    expect(there.filter(({ done }) => !done).length, `deaths before a ${step}`).toBeGreaterThan(0);
    expect(there.filter(({ done }) => done).length, `deaths after a ${step}`).toBeGreaterThan(0);
  }
}
