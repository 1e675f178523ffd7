// Nothing starts after a failure that stops it: the transaction that records the failure ends what waits in line.
// Each test has one thing in line behind the one that fails, so without this it would start at once.

import { expect, test } from "vitest";
import type { RunWithSteps } from "../../src/api/run-view.ts";
import type { Reference, Sluice } from "../../src/index.ts";
import { NonRetryable, task, workflow } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { working } from "../runs/support/world.ts";

/** A task that fails if its name says so, but only when it is let go. */
function noting() {
  let go = deferred<void>();
  const ran: string[] = [];
  const note = task({
    id: "note",
    run: async (name: string) => {
      ran.push(name);
      if (!name.startsWith("bad")) return name;
      await go.promise;
      throw new NonRetryable("as told");
    },
  });
  const again = (): void => {
    ran.length = 0;
    go = deferred<void>();
  };
  return { ran, note, again, letGo: () => go.resolve() };
}

const told = (steps: RunWithSteps["steps"] = []): string[] =>
  steps.map(({ name, state, because }) => {
    const failed = because?.kind === "failFast" ? ` because ${because.step} failed` : "";
    return `${name} ${state}${failed}`;
  });

const stepsOf = async (sluice: Sluice, id: string | null | undefined) =>
  id ? told((await sluice.runs.get(id))?.steps) : [];

/** Lets the failure happen when all these steps are in line. */
async function inLine(
  sluice: Sluice,
  run: () => Promise<string | null | undefined>,
  names: readonly string[],
) {
  await until(async () => {
    const steps = await stepsOf(sluice, await run());
    return names.every((name) => steps.includes(`${name} waiting`));
  }, `${names} are in line`);
}

const AFTERWARDS = [
  "lint failed",
  "nap succeeded",
  "scan skipped because lint failed",
  "tidy succeeded",
  "files skipped because lint failed",
  "parts skipped because lint failed",
  "child skipped because lint failed",
  "sorry succeeded",
  "anyway succeeded",
];

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  const { ran, note, again, letGo } = noting();
  const one = workflow({
    id: "one",
    steps: (s, name: Reference<string>) => {
      s.step("only", note, name);
    },
  });
  const inside = (s: Parameters<Parameters<typeof workflow>[0]["steps"]>[0]) => {
    const lint = s.step("lint", note, "bad lint");
    const nap = s.sleep("nap", "50ms");
    const after = { after: [nap] };
    s.step("scan", note, "scan", after);
    // It handles whatever has become of the nap, so no failure ends it, though it stands in line.
    s.step("tidy", note, "tidy", { after: [nap.finished] });
    s.each("files", ["a", "b"], note, after);
    s.each("parts", ["c", "d"], one, after);
    s.run("child", one, "child", after);
    s.step("sorry", note, "sorry", { after: [lint.failed] });
    s.step("anyway", note, "anyway", { after: [lint.finished] });
  };

  test("failFast of a group ends its steps in line, and runs those that handle the failure", async () => {
    again();
    const main = workflow({
      id: "main",
      steps: (s) => {
        s.group("checks", { parallelism: 1, failFast: true }, (g) => inside(g as never));
      },
    });
    const sluice = await working(place, { tasks: [note], workflows: [main, one] });
    const { id } = await sluice.submit(main, undefined);
    const run = async () => (await sluice.runs.get(id))?.steps[0]?.unit;
    await inLine(sluice, run, ["scan", "tidy", "files", "parts", "child"]);
    letGo();
    expect((await sluice.runs.ended(id)).state).toBe("failed");
    expect(ran).toEqual(["bad lint", "tidy", "sorry", "anyway"]);
    const group = await run();
    expect(await stepsOf(sluice, group)).toEqual(AFTERWARDS);
    expect((await sluice.runs.items(group ?? "", "files"))[0]?.error).toMatchObject({
      code: "CANCELLED",
      message: "It did not start because step lint failed.",
    });
  });

  test("failFast of a workflow does, for a step that waits behind the one that fails", async () => {
    again();
    const main = workflow({
      id: "main",
      failFast: true,
      steps: (s) => {
        s.step("lint", note, "bad lint", { mutexes: ["desk"] });
        const after = [s.sleep("nap", "50ms")];
        s.step("scan", note, "scan", { after, mutexes: ["desk"] });
        s.run("child", one, "child", { after, mutexes: ["desk"] });
      },
    });
    const sluice = await working(place, { tasks: [note], workflows: [main, one] });
    const { id } = await sluice.submit(main, undefined);
    await inLine(sluice, async () => id, ["scan", "child"]);
    letGo();
    expect((await sluice.runs.ended(id)).state).toBe("failed");
    expect(ran).toEqual(["bad lint"]);
    expect(await stepsOf(sluice, id)).toEqual([
      "lint failed",
      "nap succeeded",
      "scan skipped because lint failed",
      "child skipped because lint failed",
    ]);
  });

  test.each(["child", "list", "wait"])("a failure of a %s does, too", async (how) => {
    again();
    const main = workflow({
      id: "main",
      failFast: true,
      steps: (s) => {
        const first =
          how === "child"
            ? s.run("first", one, "bad child")
            : how === "list"
              ? s.each("first", ["bad list"], note)
              : s.waitFor("first", "nothing", { timeout: "1s" });
        const after = [s.sleep("nap", "50ms")];
        s.step("behind", note, "behind", { after, pools: { none: 1 } });
        s.step("sorry", note, "sorry", { after: [first.failed] });
      },
    });
    const sluice = await working(place, {
      tasks: [note],
      workflows: [main, one],
      pools: { none: { limit: 1 } },
    });
    await sluice.limits.set("pool:none", 0);
    const { id } = await sluice.submit(main, undefined);
    await inLine(sluice, async () => id, ["behind"]);
    letGo();
    expect((await sluice.runs.ended(id)).state).toBe("failed");
    expect(ran).toEqual(how === "wait" ? ["sorry"] : [`bad ${how}`, "sorry"]);
    expect(await stepsOf(sluice, id)).toContain("behind skipped because first failed");
  });

  test("an item that is a workflow stops the items in line", async () => {
    again();
    const main = workflow({
      id: "main",
      steps: (s) => {
        s.each("list", ["a", "bad b", "c", "d"], one, { concurrency: 1, onFailure: "stop" });
      },
    });
    const sluice = await working(place, { tasks: [note], workflows: [main, one] });
    const { id } = await sluice.submit(main, undefined);
    letGo();
    expect((await sluice.runs.ended(id)).state).toBe("failed");
    expect(ran).toEqual(["a", "bad b"]);
    const items = await sluice.runs.items(id, "list");
    expect(items.map(({ state }) => state)).toEqual(["succeeded", "failed", "cancelled", "cancelled"]);
  });

  test("a failure by hand does, and a step with attempts left has not failed", async () => {
    again();
    let tries = 0;
    const hold = task({
      id: "hold",
      retry: { attempts: 2, delay: "1ms" },
      run: async (_: string, { signal }) => {
        tries += 1;
        if (tries === 1) throw new Error("not yet");
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      },
    });
    const main = workflow({
      id: "main",
      failFast: true,
      parallelism: 1,
      steps: (s) => {
        s.step("first", hold, "x", { priority: 1 });
        s.step("second", note, "second", { priority: 0 });
        s.step("third", note, "third", { after: [s.waitFor("go", "go")] });
      },
    });
    const sluice = await working(place, { tasks: [note, hold], workflows: [main] });
    const { id } = await sluice.submit(main, undefined);
    await until(() => tries === 2, "its last attempt runs");
    await sluice.signal("go", null);
    await inLine(sluice, async () => id, ["third"]);
    expect(ran).toEqual(["second"]);
    const first = (await sluice.runs.get(id))?.steps[0]?.unit;
    await sluice.cancel(first ?? "", "ana");
    expect((await sluice.runs.ended(id)).state).toBe("failed");
    expect(ran).toEqual(["second"]);
    expect(await stepsOf(sluice, id)).toContain("third skipped because first failed");
  });
});
