// The items of a list report the same as a step does: history, waits, errors, and a wait that is too long.

import { expect, onTestFinished, test } from "vitest";
import type { AppDefinition, Reference, Sluice, WorkerSettings } from "../../src/index.ts";
import { task, workflow } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { statesOf, working } from "../runs/support/world.ts";
import { outcomesOf, stepOf } from "./support/run-view.ts";

const QUICK: WorkerSettings = { poll: "50ms", pollJitter: "0ms" };

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("an item that waited for a pool, claimed and released says so, and the list says when it began and ended", async () => {
    const { sluice, hold, letGo } = await onePool(place, QUICK);
    await hold();
    const { id } = await sluice.submit("list", [1, 2, 3]);
    await until(
      async () => (await blockedOn(sluice, id)).includes("pool:lic"),
      "its items wait for the pool",
    );
    letGo();
    expect((await sluice.runs.ended(id)).state).toBe("succeeded");

    const ofFirst = await sluice.runs.itemEvents(id, "work", { limit: 1 });
    expect(ofFirst.map(({ kind, item }) => [kind, item])).toEqual([
      ["StepReady", 0],
      ["StepSlotWaiting", 0],
      ["StepSlotClaimed", 0],
      ["StepStarted", 0],
      ["StepSlotReleased", 0],
      ["StepSucceeded", 0],
    ]);
    expect(ofFirst[1]).toMatchObject({ step: "work", data: { gates: ["pool:lic"] } });
    const page = await sluice.runs.itemEvents(id, "work", { after: 0, limit: 5 });
    expect(new Set(page.map(({ item }) => item))).toEqual(new Set([1, 2]));

    const items = await sluice.runs.items(id, "work");
    expect(items.map(({ waits }) => waits[0]?.gate)).toEqual(["pool:lic", "pool:lic", "pool:lic"]);
    const [first] = items;
    expect(first?.waits[0]?.forMs).toBeLessThanOrEqual((first?.claimedAt ?? 0) - (first?.enqueuedAt ?? 0));

    const told = (await sluice.runs.events(id)).filter(({ step }) => step === "work");
    expect(told.map(({ kind, data }) => [kind, data])).toEqual([
      ["StepReady", { items: 3 }],
      ["StepStarted", {}],
      ["StepSucceeded", { succeeded: 3, failed: 0, cancelled: 0 }],
    ]);
    expect((await sluice.runs.waits(id)).work?.[0]?.gate).toBe("pool:lic");
  });

  test("items that their pool has let in none of for longer than the claim timeout fail, and say for what", async () => {
    const { sluice, hold, letGo } = await onePool(place, { ...QUICK, claimTimeout: "700ms" });
    await hold();
    const { id } = await sluice.submit("list", [1, 2, 3]);
    const { state } = await sluice.runs.ended(id);
    expect(state).toBe("failed");
    for (const outcome of await outcomesOf(sluice, id, "work"))
      expect(outcome).toMatchObject({
        state: "failed",
        error: {
          name: "Error",
          code: "CLAIM_TIMEOUT",
          message: expect.stringMatching(/pool "lic" is full: 1 of 1/),
        },
      });
    letGo();
  });

  test("a list that moves on is not too slow, however long its last item waits", async () => {
    const { sluice } = await onePool(place, { ...QUICK, claimTimeout: "900ms" }, 120);
    const { id } = await sluice.submit(
      "list",
      // Enough items for a second check of the clock, because the first may come slightly too early.
      Array.from({ length: 20 }, (_, index) => index),
    );
    const { state } = await sluice.runs.ended(id);
    expect(state).toBe("succeeded");
    const items = await sluice.runs.items(id, "work");
    const last = items.at(-1);
    expect(
      (last?.claimedAt ?? 0) - (last?.enqueuedAt ?? 0),
      "it waited twice as long as that",
    ).toBeGreaterThan(1_800);
  });

  test("an item that was cancelled has an error with a name and a message, in the view and in the outcomes", async () => {
    const { sluice } = await onePool(place, QUICK);
    const { id } = await sluice.submit("stops", ["fails", "a", "b"]);
    expect((await sluice.runs.ended(id)).state).toBe("failed");
    const cancelled = {
      name: "Error",
      code: "CANCELLED",
      message: "It was cancelled because another item failed.",
      by: "onFailure",
    };
    expect((await outcomesOf(sluice, id, "work")).slice(1)).toEqual([
      { state: "cancelled", error: cancelled },
      { state: "cancelled", error: cancelled },
    ]);
    expect((await sluice.runs.items(id, "work", { after: 0 })).map(({ error }) => error)).toEqual([
      cancelled,
      cancelled,
    ]);
  });

  test("steps that a cancelled run never reached are cancelled with it", async () => {
    const { sluice, hold } = await onePool(place, QUICK);
    const id = await hold();
    await sluice.runs.cancel(id, "kim");
    expect(await statesOf(sluice, id)).toMatchObject({ after: "cancelled" });
    expect((await sluice.runs.get(id))?.error).toMatchObject({ message: "It was cancelled by kim." });
  });

  test("a rerun marks what it took over, step or list", async () => {
    const { sluice } = await onePool(place, QUICK);
    const { id } = await sluice.submit("again", "fails");
    expect((await sluice.runs.ended(id)).state).toBe("failed");
    const { id: second } = await sluice.runs.rerun(id);
    await sluice.runs.ended(second);
    expect(await stepOf(sluice, second, "one")).toMatchObject({ state: "succeeded", takenOver: id });
    expect(await stepOf(sluice, second, "list")).toMatchObject({ state: "succeeded", takenOver: id });
    expect((await stepOf(sluice, second, "last")).takenOver).toBeUndefined();
    const { id: third } = await sluice.runs.rerun(second);
    await sluice.runs.ended(third);
    // The result still belongs to the first run, where the code ran.
    expect((await stepOf(sluice, third, "one")).takenOver).toBe(id);
  });
});

/** The gates that the items of the run wait for. */
async function blockedOn(sluice: Sluice, run: string): Promise<string[]> {
  const [first] = await sluice.runs.items(run, "work", { limit: 1 });
  return first?.waits.map(({ gate }) => gate) ?? [];
}

/**
 * A pool of one slot, workflows over lists that need it, and a task that keeps the slot until it is let go.
 */
async function onePool(place: Place, settings: WorkerSettings, workMs = 0) {
  const [taken, released] = [deferred(), deferred()];
  const keep = task({
    id: "keep",
    run: async () => {
      taken.resolve();
      await released.promise;
    },
  });
  const work = task({
    id: "work",
    run: async (value: unknown) => {
      if (value === "fails") throw new Error("as it was told");
      if (workMs > 0) await new Promise((resolve) => setTimeout(resolve, workMs));
    },
  });
  const pools = { lic: 1 };
  const definition: AppDefinition = {
    tasks: [keep, work],
    workflows: [
      workflow({
        id: "keeps",
        steps: (s) => {
          const kept = s.step("keep", keep, undefined as never, { pools });
          s.step("after", work, 1, { after: [kept] });
        },
      }),
      workflow({
        id: "list",
        steps: (s, list: Reference<number[]>) => s.each("work", list, work, { pools }),
      }),
      workflow({
        id: "stops",
        steps: (s, list: Reference<string[]>) =>
          s.each("work", list, work, { concurrency: 1, onFailure: "stop" }),
      }),
      workflow({
        id: "again",
        steps: (s, word: Reference<string>) => {
          const one = s.step("one", work, 1);
          const list = s.each("list", [1, 2], work);
          s.step("last", work, word, { after: [one, list] });
        },
      }),
    ],
    pools: { lic: { limit: 1 } },
  };
  const sluice = await working(place, definition, settings);
  onTestFinished(() => released.resolve());
  return {
    sluice,
    hold: async (): Promise<string> => {
      const { id } = await sluice.submit("keeps", undefined as never);
      await taken.promise;
      return id;
    },
    letGo: () => released.resolve(),
  };
}
