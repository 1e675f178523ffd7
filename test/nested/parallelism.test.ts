// How many steps of a tree run at once: a group's parallelism counts its direct children, a workflow's all its tasks.

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { AnyTask } from "../../src/core/task/definition.ts";
import type { AnyWorkflow, Steps } from "../../src/index.ts";
import { inProcess, task, workflow } from "../../src/index.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { working } from "../runs/support/world.ts";

/**
 * A task that stays until so many were there at once, and then for a moment. And a record of how many there were: in all,
 * and by their first letters.
 */
function watched(wanted: number) {
  const inside: string[] = [];
  let most = 0;
  const mostOf: Record<string, number> = {};
  const visit = task({
    id: "visit",
    run: async (name: string) => {
      inside.push(name);
      most = Math.max(most, inside.length);
      const kind = name.charAt(0);
      mostOf[kind] = Math.max(mostOf[kind] ?? 0, inside.filter((each) => each.startsWith(kind)).length);
      // A busy machine may take its time to start them all.
      await until(() => most >= wanted, `${wanted} tasks run at once`);
      await sleep(15);
      inside.splice(inside.indexOf(name), 1);
    },
  });
  return { visit, most: () => most, mostOf };
}

const names = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

function visits(s: Steps, visit: ReturnType<typeof watched>["visit"], prefix: string, count: number): void {
  for (const name of names(prefix, count)) s.step(name, visit, name);
}

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  /** Runs the workflow to its end. */
  const runOn = async (visit: AnyTask, [main, ...others]: readonly [AnyWorkflow, ...AnyWorkflow[]]) => {
    const sluice = await working(place, { tasks: [visit], workflows: [main, ...others] });
    const { id } = await sluice.submit(main, undefined);
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "succeeded" });
  };

  test("one group at a time with two steps inside each gives two at once", async () => {
    const seen = watched(2);
    const main = workflow({
      id: "main",
      steps: (s) => {
        s.group("outer", { parallelism: 1 }, (g) => {
          for (const name of ["a", "b", "c"])
            g.group(name, { parallelism: 2 }, (h) => visits(h, seen.visit, name, 4));
        });
      },
    });
    await runOn(seen.visit, [main]);
    expect(seen.most()).toBe(2);
    expect(seen.mostOf).toEqual({ a: 2, b: 2, c: 2 });
  });

  test("two groups at a time: each counts once, whatever runs inside", async () => {
    const seen = watched(6);
    const main = workflow({
      id: "main",
      steps: (s) => {
        s.group("outer", { parallelism: 2 }, (g) => {
          for (const name of ["d", "e", "f"]) g.group(name, (h) => visits(h, seen.visit, name, 3));
        });
      },
    });
    await runOn(seen.visit, [main]);
    expect(seen.most()).toBe(6);
    expect(seen.mostOf).toEqual({ d: 3, e: 3, f: 3 });
  });

  test("a group counts its direct steps, and the items of a list each", async () => {
    const seen = watched(3);
    const main = workflow({
      id: "main",
      steps: (s) => {
        s.group("outer", { parallelism: 3 }, (g) => {
          g.step("x", seen.visit, "x");
          g.each("items", names("i", 6), seen.visit);
        });
      },
    });
    await runOn(seen.visit, [main]);
    expect(seen.most()).toBe(3);
  });

  test("the window of a workflow per item counts whole items", async () => {
    const seen = watched(6);
    const item = workflow({
      id: "item",
      steps: (s) => visits(s, seen.visit, "i", 3),
    });
    const main = workflow({
      id: "main",
      steps: (s) => {
        s.each("each", [1, 2, 3, 4], item, { concurrency: 2 });
      },
    });
    await runOn(seen.visit, [main, item]);
    expect(seen.most()).toBe(6);
  });

  test("the parallelism of a workflow counts all tasks below it, and no groups", async () => {
    const seen = watched(3);
    const low = workflow({
      id: "low",
      executor: inProcess(),
      steps: (s) => visits(s, seen.visit, "l", 3),
    });
    const main = workflow({
      id: "main",
      parallelism: 3,
      steps: (s) => {
        s.run("low", low);
        s.step("top", seen.visit, "top");
        s.group("g", (g) => g.group("h", (h) => visits(h, seen.visit, "h", 5)));
      },
    });
    await runOn(seen.visit, [main, low]);
    expect(seen.most()).toBe(3);
    // A workflow that chooses an executor has gates of its own.
    expect(seen.mostOf.l).toBe(1);
  });
});
