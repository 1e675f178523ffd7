// The time that the steps and items of a paused run wait is booked on the pause.

import { expect, test } from "vitest";
import type { Reference, Sluice } from "../../src/index.ts";
import { task, workflow } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { working } from "./support/world.ts";

const WINDOW = 2;

/** A workflow of two steps, and one over a list. All code stays until it is let go. */
async function steered(place: Place) {
  let begun = 0;
  const gone = deferred();
  const staying = async (): Promise<void> => {
    begun += 1;
    await gone.promise;
  };
  const stay = task({ id: "stay", run: staying });
  const thumb = task({ id: "thumb", run: (_: number) => staying() });
  const pair = workflow({
    id: "pair",
    steps: (s) => {
      const first = s.step("first", stay);
      s.step("second", stay, undefined, { after: [first] });
    },
  });
  const list = workflow({
    id: "list",
    steps: (s, input: Reference<number[]>) => {
      s.each("thumbs", input, thumb, { concurrency: WINDOW });
    },
  });
  const sluice = await working(
    place,
    { tasks: [stay, thumb], workflows: [pair, list] },
    { poll: "50ms", pollJitter: "0ms" },
  );
  const haveBegun = (many: number) => until(() => begun === many, `${many} have begun`);
  return { sluice, haveBegun, letGo: () => gone.resolve() };
}

const waitsOfItem = async (sluice: Sluice, run: string, index: number): Promise<Map<string, number>> => {
  const [item] = await sluice.runs.items(run, "thumbs", { after: index - 1, limit: 1 });
  return new Map(item?.waits.map(({ gate, forMs }) => [gate, forMs]));
};

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("a step that waits while its run is paused has waited for the pause, also after the run has ended", async () => {
    const { sluice, haveBegun, letGo } = await steered(place);
    const { id } = await sluice.submit("pair", undefined);
    await haveBegun(1);
    await sluice.runs.pause(id);
    letGo();
    const waited = async () => (await sluice.runs.waits(id)).second?.map(({ gate }) => gate) ?? [];
    await until(async () => (await waited()).length > 0, "the second step waits");
    expect(await waited()).toEqual([`run:${id}`]);
    await sluice.runs.resume(id);
    const { steps } = await sluice.runs.ended(id);
    expect(await waited()).toEqual([`run:${id}`]);
    const { waits } = await sluice.explain(steps[1]?.unit ?? "");
    expect(waits.flatMap(({ gates }) => gates)).toEqual([`run:${id}`]);
    const told = (await sluice.runs.events(id)).find(({ kind }) => kind === "StepSlotWaiting");
    expect(told?.data).toEqual({ gates: [`run:${id}`], reason: `waiting for the pause of run ${id}` });
  });

  test("an item of a paused run waits for the window only while the window is full", async () => {
    const { sluice, haveBegun, letGo } = await steered(place);
    const { id } = await sluice.submit("list", [0, 1, 2, 3]);
    await haveBegun(WINDOW);
    const window = `run:${id}/items/thumbs`;
    const waited = () => waitsOfItem(sluice, id, WINDOW);
    await until(async () => (await waited()).has(window), "the next item waits for the window");
    await sluice.runs.pause(id);
    await until(async () => (await waited()).has(`run:${id}`), "the next item waits for the pause");
    const before = (await waited()).get(window) ?? 0;
    await until(async () => ((await waited()).get(window) ?? 0) > before, "the window is still full");
    letGo();
    const isOver = async (): Promise<boolean> => {
      const before = (await waited()).get(window);
      await new Promise((resolve) => setTimeout(resolve, 30));
      return (await waited()).get(window) === before;
    };
    await until(isOver, "the wait for the window is over");
    const [then, now] = [await waited(), await waited()];
    expect(now.get(window)).toBe(then.get(window));
    expect([...now.keys()].sort()).toEqual([`run:${id}`, window]);
    await sluice.runs.resume(id);
    expect((await sluice.runs.ended(id)).state).toBe("succeeded");
    expect((await waited()).get(window)).toBe(then.get(window));
  });
});
