// The list a step runs over, how many items run at once, and the errors if it cannot.

import { expect, test } from "vitest";
import type { Reference } from "../../src/index.ts";
import { entries, task, workflow, zip } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { working } from "../runs/support/world.ts";
import { outcomesOf, stepOf } from "./support/run-view.ts";

const echo = task({ id: "echo", run: async (value: unknown) => value as never });
const double = task({ id: "double", run: async (value: number) => value * 2 });

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("items are a list, lists zipped, the fields of an object, or what another step over a list gave", async () => {
    const kinds = workflow({
      id: "kinds",
      steps: (s, input: Reference<{ names: string[]; ages: number[]; prices: Record<string, number> }>) => {
        const listed = s.each("listed", [1, 2, 3], double, { concurrency: 2 });
        const again = s.each("again", listed.output, double);
        const pairs = s.each("pairs", zip(input.names, input.ages), echo, {
          input: (pair, index) => ({ name: pair[0], age: pair[1], index }),
        });
        const priced = s.each("priced", entries(input.prices), echo);
        return { again: again.output, pairs: pairs.output, priced: priced.output };
      },
    });
    const sluice = await working(place, { tasks: [echo, double], workflows: [kinds] });
    const input = { names: ["ann", "bo"], ages: [40, 50], prices: { tea: 3, milk: 2 } };
    const { id } = await sluice.submit(kinds, input);
    expect(await sluice.runs.ended(id)).toMatchObject({
      state: "succeeded",
      result: {
        again: [4, 8, 12],
        pairs: [
          { name: "ann", age: 40, index: 0 },
          { name: "bo", age: 50, index: 1 },
        ],
        priced: [
          { key: "tea", value: 3 },
          { key: "milk", value: 2 },
        ],
      },
    });
    expect(await outcomesOf(sluice, id, "again")).toEqual(
      [4, 8, 12].map((result) => ({ state: "succeeded", result })),
    );
  });

  test("an empty list succeeds at once with an empty result, and what follows follows", async () => {
    const empty = workflow({
      id: "empty",
      steps: (s, input: Reference<number[]>) => {
        const none = s.each("none", input, double, { concurrency: 2 });
        const still = s.each("still", none.output, double);
        const last = s.step("last", echo, { none: none.output, still: still.output });
        return last.output;
      },
    });
    const sluice = await working(place, { tasks: [echo, double], workflows: [empty] });
    const { id } = await sluice.submit(empty, []);
    expect(await sluice.runs.ended(id)).toMatchObject({
      state: "succeeded",
      result: { none: [], still: [] },
    });
    expect(await stepOf(sluice, id, "none")).toMatchObject({
      state: "succeeded",
      items: { total: 0, created: 0 },
      result: [],
    });
  });

  test("what is no list, and a concurrency that is none, fail the step and say what was expected and what came", async () => {
    interface Given {
      readonly list: number[];
      readonly other: number[];
      readonly map: Record<string, number>;
      readonly most: number;
    }
    const checked = workflow({
      id: "checked",
      steps: (s, input: Reference<Given>) => {
        const listed = s.each("listed", input.list, double, { concurrency: input.most });
        s.each("zipped", zip(input.list, input.other), echo);
        s.each("mapped", entries(input.map), echo);
        s.step("handler", echo, "handled", { after: [listed.failed] });
        s.step("next", echo, listed.output);
      },
    });
    const sluice = await working(place, { tasks: [echo, double], workflows: [checked] });
    const good: Given = { list: [1], other: [2], map: { a: 1 }, most: 1 };
    const bad: [given: object, step: string, expected: string[]][] = [
      [{ list: { a: 1 } }, "listed", ["must be a list", 'an object: {"a":1}']],
      [{ list: "abc" }, "listed", ["must be a list", 'a string: "abc"']],
      [{ list: null }, "listed", ["must be a list", "null"]],
      [{ most: 0 }, "listed", ["a whole number of 1 or more", "0"]],
      [{ most: -3 }, "listed", ["a whole number of 1 or more", "-3"]],
      [{ most: 1.5 }, "listed", ["a whole number of 1 or more", "1.5"]],
      [{ most: "many" }, "listed", ["a whole number of 1 or more", 'a string: "many"']],
      [{ most: null }, "listed", ["a whole number of 1 or more", "null"]],
      [{ other: [2, 3] }, "zipped", ["the same length", "1, 2"]],
      [{ other: 7 }, "zipped", ["list 2", "must be a list", "a number: 7"]],
      [{ map: [1] }, "mapped", ["must be an object", "a list: [1]"]],
    ];
    const runs = await Promise.all(bad.map(([given]) => sluice.submit(checked, { ...good, ...given })));
    for (const [index, [given, name, expected]] of bad.entries()) {
      const id = runs[index]?.id as string;
      const run = await sluice.runs.ended(id);
      const tell = JSON.stringify(given);
      expect(run.error, tell).toMatchObject({ code: "STEPS_FAILED" });
      const step = await stepOf(sluice, id, name);
      expect(step.state, tell).toBe("failed");
      expect(step.error?.code, tell).toBe("BAD_ITEMS");
      for (const words of [`step "${name}"`, ...expected]) expect(step.error?.message, tell).toContain(words);
      if (name !== "listed") continue;
      expect((await stepOf(sluice, id, "handler")).state, tell).toBe("succeeded");
      expect((await stepOf(sluice, id, "next")).state, tell).toBe("skipped");
    }
  });

  test("as many are in flight as an earlier step says; without a number, as many as everything else lets in", async () => {
    let inside = 0;
    const peaks: Record<string, number> = {};
    const holds = { few: deferred(), all: deferred() };
    const stay = task({
      id: "stay",
      run: async (name: "few" | "all") => {
        inside += 1;
        peaks[name] = Math.max(peaks[name] ?? 0, inside);
        await holds[name].promise;
        inside -= 1;
      },
    });
    const sized = workflow({
      id: "sized",
      steps: (s) => {
        const size = s.step("size", double, 2);
        const few = s.each("few", Array<"few">(9).fill("few"), stay, { concurrency: size.output });
        s.each("all", Array<"all">(9).fill("all"), stay, { after: [few] });
      },
    });
    const sluice = await working(place, { tasks: [double, stay], workflows: [sized] }, { slots: 20 });
    const { id } = await sluice.submit(sized, undefined);
    await until(() => inside === 4, "four are inside");
    const waiting = (await sluice.runs.items(id, "few")).filter(({ state }) => state === "waiting");
    expect(waiting.map(({ index }) => index)).toEqual([4, 5, 6, 7, 8]);
    // An item says which gate it waits for, how much is held there, and its limit.
    for (const item of waiting.slice(-1)) {
      const { reasons, sentences } = await sluice.explain(item.unit);
      expect(reasons).toMatchObject([{ kind: "full", gate: `run:${id}/items/few`, held: 4, limit: 4 }]);
      expect(sentences[0]?.text).toContain("few");
      expect(sentences[0]?.text).toContain("4");
    }
    holds.few.resolve();
    await until(() => inside === 9, "all nine are inside");
    holds.all.resolve();
    await sluice.runs.ended(id);
    expect(peaks).toEqual({ few: 4, all: 9 });
  });
});
