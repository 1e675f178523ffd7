// Locks whose names are known only in a run.

import { expect, test } from "vitest";
import type { Reference } from "../../src/index.ts";
import { task, workflow } from "../../src/index.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { working } from "../runs/support/world.ts";
import { holders } from "./support/holders.ts";

interface Deploy {
  readonly name: string;
  readonly env: string;
}

const held = async (sluice: Awaited<ReturnType<typeof working>>): Promise<string[]> =>
  (await sluice.limits.list())
    .filter(({ key, held }) => /^(mutex|semaphore):/.test(key) && held > 0)
    .map(({ key, held }) => `${key} ${held}`)
    .sort();

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("a step's locks may be named by the input and by earlier outputs", async () => {
    const { hold, letGo, begun, hasBegun } = holders();
    const look = task({ id: "look", run: ({ env }: Deploy) => ({ region: `${env}-eu`, nr: 7 }) });
    const deploy = workflow({
      id: "deploy",
      steps: (s, input: Reference<Deploy>) => {
        const found = s.step("look", look, input);
        s.step("hold", hold, input.name, {
          mutexes: [s.text`deploy-${input.env}`, { name: found.output.region, namespace: input.env }],
          semaphores: [{ name: s.text`nodes/${found.output.nr}`, slots: 2 }],
        });
      },
    });
    const sluice = await working(place, {
      tasks: [look, hold],
      workflows: [deploy],
      semaphores: { "nodes/7": 4 },
    });
    const ids = [];
    for (const [name, env] of [
      ["one", "prod"],
      ["two", "test"],
      ["three", "prod"],
    ] as const)
      ids.push((await sluice.submit(deploy, { name, env })).id);
    await hasBegun("one", "two");
    expect(await held(sluice)).toEqual([
      "mutex:default/deploy-prod 1",
      "mutex:default/deploy-test 1",
      "mutex:prod/prod-eu 1",
      "mutex:test/test-eu 1",
      "semaphore:default/nodes/7 4",
    ]);
    expect(begun).not.toContain("three");
    for (const name of ["one", "two", "three"]) await letGo(name);
    for (const id of ids) expect((await sluice.runs.ended(id)).state).toBe("succeeded");
    expect(await held(sluice)).toEqual([]);
  });

  test("a workflow's and a task's locks may be a function of the input", async () => {
    const { hold, letGo, hasBegun } = holders();
    const alone = task({
      id: "alone",
      mutexes: ({ env }: Deploy) => [`host-${env}`],
      run: async ({ name }: Deploy) => void (await letGo(name)),
    });
    const deploy = workflow({
      id: "deploy",
      mutexes: (input: Deploy) => [{ name: `deploy-${input.env}`, namespace: "global" }],
      steps: (s, input: Reference<Deploy>) => s.step("hold", hold, input.name),
    });
    const sluice = await working(place, { tasks: [hold, alone], workflows: [deploy] });
    const { id } = await sluice.submit(deploy, { name: "one", env: "prod" }, { namespace: "team" });
    await hasBegun("one");
    expect(await held(sluice)).toEqual(["mutex:global/deploy-prod 1"]);
    const given = await sluice.enqueue(alone, { name: "one", env: "test" });
    expect((await sluice.ended(given.id)).state).toBe("succeeded");
    expect((await sluice.get(given.id))?.asks).toContainEqual({ gate: "mutex:default/host-test", slots: 1 });
    expect((await sluice.runs.ended(id)).state).toBe("succeeded");
    for (const env of ["a=b", "a*", "x".repeat(200)])
      await expect(sluice.submit(deploy, { name: "bad", env })).rejects.toThrow(
        /^workflow "deploy": its mutexes\[0\]\.name .* cannot be a mutex's name/,
      );
    await expect(sluice.submit(deploy, { name: "bad", env: "x".repeat(180) })).rejects.toMatchObject({
      code: "BAD_LOCK",
    });
  });

  test("a name that is no usable text fails the step, and says why", async () => {
    const { hold } = holders();
    const made = workflow({
      id: "made",
      steps: (s, input: Reference<{ env: string | null; lists: string[] }>) => {
        s.step("none", hold, "none", { mutexes: [s.text`deploy-${input.env}`], mayFail: true });
        s.step("bad", hold, "bad", { semaphores: [s.text`a/${input.lists[0]}/b`], mayFail: true });
        s.each("each", input.lists, hold, { mutexes: [s.text`x=${input.lists[0]}`], mayFail: true });
        s.group(
          "group",
          { mutexes: [{ name: "m", namespace: s.text`n/${input.lists[0]}` }], mayFail: true },
          (g) => g.step("in", hold, "in"),
        );
      },
    });
    const sluice = await working(place, { tasks: [hold], workflows: [made] });
    const { id } = await sluice.submit(made, { env: null, lists: ["q"] });
    const ended = await sluice.runs.ended(id);
    const errors = ended.steps.map(({ name, error }) => [name, error?.code, error?.message]);
    expect(errors).toEqual([
      ["none", "BAD_LOCK", expect.stringMatching(/^step "none": null cannot be a mutex's name/)],
      [
        "bad",
        "BAD_LOCK",
        expect.stringMatching(/"a\/q\/b" cannot be a semaphore's name: .*more than one "\/"/),
      ],
      ["each", "BAD_LOCK", expect.stringMatching(/"x=q" cannot be a mutex's name/)],
      ["group", "BAD_LOCK", expect.stringMatching(/"n\/q" cannot be a namespace/)],
    ]);
    await until(async () => (await sluice.limits.list()).every(({ held }) => held === 0), "nothing is held");
  });
});
