// Why a run with a list does not go on: the item that comes next and its reasons, all seen at one instant.

import { expect, test } from "vitest";
import type { Reference, Sluice } from "../../src/index.ts";
import { task, workflow } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { working } from "../runs/support/world.ts";

const WINDOW = 2;

/** Items stay until they are let go. The first attempt of item 1 fails, and is repeated after the delay. */
async function listOn(place: Place, delay: string) {
  const gone = deferred();
  const retry = { attempts: 2, delay };
  const stay = task({
    id: "stay",
    retry,
    run: async (item: number, { attempt }) => {
      if (item === 1 && attempt === 1) throw new Error("not yet");
      await gone.promise;
    },
  });
  const quick = task({
    id: "quick",
    run: (_: number) => new Promise<void>((resolve) => setTimeout(resolve, 15)),
  });
  const held = workflow({
    id: "held",
    steps: (s, list: Reference<number[]>) => s.each("work", list, stay, { concurrency: WINDOW }),
  });
  const fast = workflow({
    id: "fast",
    steps: (s, list: Reference<number[]>) => s.each("work", list, quick, { concurrency: WINDOW }),
  });
  const sluice = await working(
    place,
    { tasks: [stay, quick], workflows: [held, fast] },
    { poll: "50ms", pollJitter: "0ms" },
  );
  return { sluice, letGo: () => gone.resolve() };
}

const numbers = (many: number): number[] => Array.from({ length: many }, (_, index) => index);

const statesAre = (sluice: Sluice, run: string, wanted: string): Promise<unknown> =>
  until(
    async () => (await sluice.runs.items(run, "work")).map(({ state }) => state).join(" ") === wanted,
    `its items are ${wanted}`,
  );

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("an item whose retry is due comes next, before the later items of its list", async () => {
    const { sluice, letGo } = await listOn(place, "300ms");
    const { id } = await sluice.submit("held", numbers(6));
    await statesAre(sluice, id, "running waiting running waiting waiting waiting");
    const { waiting, reasons } = await sluice.runs.why(id);
    expect(reasons).toEqual([]);
    expect(waiting).toMatchObject([
      { step: "work", item: 1, reasons: [{ kind: "full", gate: `run:${id}/items/work` }] },
    ]);
    letGo();
    await sluice.runs.ended(id);
  });

  test("if all waiting items are delayed, the one that is due first comes next", async () => {
    const { sluice, letGo } = await listOn(place, "1h");
    const { id } = await sluice.submit("held", numbers(2));
    await statesAre(sluice, id, "running later");
    expect((await sluice.runs.why(id)).waiting).toMatchObject([
      { item: 1, reasons: [{ kind: "later", because: "retry" }] },
    ]);
    letGo();
    await sluice.runs.cancel(id);
  });

  test("the counts, the next item and its reasons belong together, however fast the items are", async () => {
    const total = 60;
    const { sluice } = await listOn(place, "1h");
    const { id } = await sluice.submit("fast", numbers(total));
    let looks = 0;
    for (;;) {
      const { run, waiting } = await sluice.runs.why(id);
      if (run.finishedAt !== null) break;
      const [items] = run.steps.map((step) => step.items);
      if (items && items.waiting > 0) {
        looks += 1;
        const [next] = waiting;
        expect(next?.item).toBe(total - items.waiting);
        expect(next?.reasons.length, "a full window is a reason").toBe(items.running === WINDOW ? 1 : 0);
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(looks).toBeGreaterThan(3);
  });
});
