// A step never waits for what a run above it holds.

import { expect, test } from "vitest";
import type { Reference } from "../../src/index.ts";
import { defineApp, task, workflow } from "../../src/index.ts";
import { describeOn } from "../e2e/support/places.ts";
import { working } from "../runs/support/world.ts";

const tick = task({ id: "tick", run: () => 1 });

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("if a name that only the run knows is that of a mutex above it, the step fails", async () => {
    const low = workflow({
      id: "low",
      steps: (s, input: Reference<string>) => {
        s.step("same", tick, undefined, { mutexes: [s.text`deploy-${input}`], mayFail: true });
        s.step("elsewhere", tick, undefined, {
          mutexes: [{ name: s.text`deploy-${input}`, namespace: "b" }],
        });
        s.each("each", [1, 2], tick, { mutexes: [input], mayFail: true, input: () => undefined });
      },
    });
    const main = workflow({
      id: "main",
      mutexes: (env: string) => [`deploy-${env}`],
      steps: (s, input: Reference<string>) => void s.run("low", low, input, { mutexes: [input] }),
    });
    const sluice = await working(place, { tasks: [tick], workflows: [main, low] });
    const { id } = await sluice.submit(main, "prod");
    expect((await sluice.runs.ended(id)).state).toBe("succeeded");
    const [child] = await sluice.runs.tree(id);
    const steps = (await sluice.runs.get(child?.id ?? ""))?.steps ?? [];
    expect(steps.map(({ name, state, error }) => [name, state, error?.code])).toEqual([
      ["same", "failed", "SELF_DEADLOCK"],
      ["elsewhere", "succeeded", undefined],
      ["each", "failed", "SELF_DEADLOCK"],
    ]);
    expect(steps[0]?.error?.message).toMatch(
      /^step "same": mutex "deploy-prod" is held by this run or a run above it/,
    );
  });
});

const of = (locks: object, steps: Parameters<typeof workflow>[0]["steps"]) => () =>
  defineApp({
    tasks: [tick],
    workflows: [workflow({ id: "w", ...locks, steps: steps as never })],
    semaphores: { narrow: 1, wide: 3 },
  });

test.each([
  [
    "a mutex with options",
    of({ mutexes: ["m"] }, (s) => void s.step("x", tick, undefined, { mutexes: [{ name: "m" }] })),
    /"m" is held/,
  ],
  [
    "a mutex of one namespace",
    of(
      { mutexes: [{ name: "m", namespace: "g" }] },
      (s) => void s.step("x", tick, undefined, { mutexes: [{ name: "m", namespace: "g", line: "skip" }] }),
    ),
    /"m" is held by the run itself/,
  ],
  [
    "a semaphore of limit 1",
    of({ semaphores: ["narrow"] }, (s) => void s.step("x", tick, undefined, { semaphores: ["narrow"] })),
    /1 of 1 slots of "narrow" are held by the run itself/,
  ],
  [
    "a semaphore whose asks do not fit together",
    of(
      { semaphores: [{ name: "wide", slots: 2 }] },
      (s) =>
        void s.group("g", (g) => g.step("x", tick, undefined, { semaphores: [{ name: "wide", slots: 2 }] })),
    ),
    /2 of 3 slots of "wide" are held/,
  ],
])("an app is refused whose step asks for %s that its run holds", (_, app, words) => {
  expect(app).toThrow(words);
});

test.each([
  [
    "two namespaces",
    of(
      { mutexes: ["m"] },
      (s) => void s.step("x", tick, undefined, { mutexes: [{ name: "m", namespace: "g" }] }),
    ),
  ],
  [
    "two families",
    of({ mutexes: ["narrow"] }, (s) => void s.step("x", tick, undefined, { semaphores: ["narrow"] })),
  ],
  [
    "a semaphore with room for both",
    of({ semaphores: ["wide"] }, (s) => void s.step("x", tick, undefined, { semaphores: ["wide"] })),
  ],
])("equal names of %s are no conflict", (_, app) => {
  expect(app).not.toThrow();
});
