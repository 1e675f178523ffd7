// How trees end: by a cancel, a failure policy or a timeout; and how they are paused and run again.

import { expect, test } from "vitest";
import type { Reference, Sluice, TaskContext } from "../../src/index.ts";
import { equal, inProcess, task, workflow } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { statesOf, working } from "../runs/support/world.ts";

const tick = task({ id: "tick", run: async () => 1 });

/** A task that runs until it is aborted, and then until it is let go. */
function stubborn() {
  const begun: string[] = [];
  const aborted: string[] = [];
  const go = deferred<void>();
  const hold = task({
    id: "hold",
    run: async (name: string, { signal }: TaskContext) => {
      begun.push(name);
      if (!signal.aborted)
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      aborted.push(name);
      await go.promise;
    },
  });
  return { hold, begun, aborted, letGo: () => go.resolve() };
}

const held = async (sluice: Sluice, key: string): Promise<number> =>
  (await sluice.limits.list()).find((limit) => limit.key === key)?.held ?? 0;

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("a cancel ends the whole tree, and slots follow the code", async () => {
    const { hold, begun, aborted, letGo } = stubborn();
    const low = workflow({
      id: "low",
      mutexes: ["low"],
      steps: (s) => {
        s.group("g", { mutexes: ["deep"] }, (g) => g.step("hold", hold, "deep"));
        s.step("after", tick, undefined, { mutexes: ["never"] });
      },
    });
    const main = workflow({
      id: "main",
      mutexes: ["top"],
      steps: (s) => {
        s.run("low", low);
        s.each("more", [1, 2, 3], low, { concurrency: 1 });
      },
    });
    const sluice = await working(place, { tasks: [hold, tick], workflows: [main, low] });
    const { id } = await sluice.submit(main, undefined);
    await until(() => begun.length === 1, "the code at the bottom runs");
    await sluice.runs.cancel(id, "ana");
    await until(() => aborted.length === 1, "it is told to stop");
    expect(await sluice.runs.get(id)).toMatchObject({ state: "cancelled" });
    // Everything above the code that still runs holds what it held.
    await until(
      async () => (await sluice.stopping()).length === 4,
      "code, group, child and run are stopping",
    );
    for (const mutex of ["top", "low", "deep"]) expect(await held(sluice, `mutex:default/${mutex}`)).toBe(1);
    letGo();
    await until(async () => (await sluice.stopping()).length === 0, "all of it has stopped");
    for (const mutex of ["top", "low", "deep"]) expect(await held(sluice, `mutex:default/${mutex}`)).toBe(0);
    expect(begun).toEqual(["deep"]);
    const run = await sluice.runs.get(id);
    expect(run?.steps.map(({ state }) => state)).toEqual(["cancelled", "cancelled"]);
  });

  test("a failed item ends the other items with everything below them", async () => {
    const { hold, begun, aborted, letGo } = stubborn();
    const fail = task({
      id: "fail",
      run: async (_: string) => {
        await until(() => begun.length === 1, "the other item runs");
        throw new Error("no luck");
      },
    });
    const item = workflow({
      id: "item",
      steps: (s, input: Reference<{ fails: boolean; name: string }>) => {
        s.group("g", (g) => g.step("hold", hold, input.name));
      },
    });
    const bad = workflow({ id: "bad", steps: (s) => s.step("fail", fail, "x") });
    const both = workflow({
      id: "both",
      steps: (s, input: Reference<number>) => {
        s.run("bad", bad, undefined, { when: equal(input, 0) });
        s.run("item", item, { fails: false, name: "other" }, { when: equal(input, 1) });
      },
    });
    const main = workflow({
      id: "main",
      steps: (s) => {
        const list = s.each("list", [0, 1, 2, 3], both, {
          concurrency: 2,
          onFailure: "cancel",
          mayFail: true,
        });
        return s.step("tick", tick, undefined, { after: [list.finished] });
      },
    });
    const sluice = await working(place, { tasks: [hold, fail, tick], workflows: [main, both, item, bad] });
    const { id } = await sluice.submit(main, undefined);
    await until(() => aborted.length === 1, "the other item is told to stop");
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "succeeded", result: 1 });
    letGo();
    expect((await sluice.runs.items(id, "list")).map(({ state }) => state)).toEqual([
      "failed",
      "cancelled",
      "cancelled",
      "cancelled",
    ]);
  });

  test("a child, a group and a run have their timeouts", async () => {
    const { hold, begun, letGo, aborted } = stubborn();
    const slow = workflow({ id: "slow", timeout: "100ms", steps: (s) => s.step("hold", hold, "slow") });
    const main = workflow({
      id: "main",
      steps: (s) => {
        s.run("own", slow, undefined, { mayFail: true });
        s.run("longer", slow, undefined, { timeout: "200ms", mayFail: true });
        s.group("group", { timeout: "100ms", mayFail: true }, (g) =>
          g.group("inner", (h) => h.step("hold", hold, "group")),
        );
      },
    });
    const sluice = await working(place, { tasks: [hold], workflows: [main, slow] });
    const { id } = await sluice.submit(main, undefined);
    const run = await sluice.runs.ended(id);
    expect(run.state).toBe("succeeded");
    expect(run.steps.map(({ error }) => error?.code)).toEqual(["RUN_TIMEOUT", "RUN_TIMEOUT", "RUN_TIMEOUT"]);
    // On a slow machine, a run may be over before its code has begun.
    await until(() => aborted.length === begun.length, "all code that has begun is told to stop");
    letGo();
  });

  test("a pause of the root stops every step below it, and a child alone cannot be paused", async () => {
    const go = deferred<void>();
    const began: string[] = [];
    const wait = task({
      id: "wait",
      run: async (name: string) => {
        began.push(name);
        await go.promise;
      },
    });
    const low = workflow({
      id: "low",
      // Its steps ask for gates of this run, and not for those of the root.
      executor: inProcess(),
      steps: (s) => s.step("second", wait, "second", { after: [s.step("first", wait, "first")] }),
    });
    const main = workflow({ id: "main", steps: (s) => void s.group("g", (g) => void g.run("low", low)) });
    const sluice = await working(place, { tasks: [wait], workflows: [main, low] });
    const { id } = await sluice.submit(main, undefined);
    await until(() => began.length === 1, "the first step runs");
    await sluice.runs.pause(id);
    const group = (await sluice.runs.get(id))?.steps[0]?.unit as string;
    await expect(sluice.runs.pause(group)).rejects.toMatchObject({ code: "PART_OF_A_RUN" });
    await expect(sluice.runs.rerun(group)).rejects.toMatchObject({ code: "PART_OF_A_RUN" });
    go.resolve();
    const child = (await sluice.runs.get(group))?.steps[0]?.unit as string;
    await until(async () => (await statesOf(sluice, child)).second === "waiting", "the second step waits");
    const { reasons } = await sluice.explain((await sluice.runs.get(child))?.steps[1]?.unit as string);
    expect(reasons).toMatchObject([{ kind: "paused", gate: `run:${id}` }]);
    expect(began).toEqual(["first"]);
    await sluice.runs.resume(id);
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "succeeded" });
    expect(began).toEqual(["first", "second"]);
  });

  test("what succeeded inside a child does not run again", async () => {
    const ran: string[] = [];
    let broken = true;
    const note = task({
      id: "note",
      run: async (name: string) => {
        ran.push(name);
        if (broken && name.startsWith("bad")) throw new Error("no luck");
        return name;
      },
    });
    const item = workflow({
      id: "item",
      steps: (s, input: Reference<{ name: string; bad: string }>) => {
        const first = s.step("first", note, input.name);
        const list = s.each("list", ["x", input.bad], note);
        return s.step("last", note, first.output, { after: [list] });
      },
    });
    const main = workflow({
      id: "main",
      steps: (s) => {
        s.run("one", item, { name: "one", bad: "y" });
        s.each("each", ["a", "bad"], item, { input: (name) => ({ name: "i", bad: name }) });
        const group = s.group("group", (g) => {
          const left = g.step("left", note, "left");
          return g.step("right", note, "bad right", { after: [left] });
        });
        s.step("end", note, group.output);
      },
    });
    const sluice = await working(place, { tasks: [note], workflows: [main, item] });
    const { id } = await sluice.submit(main, undefined);
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "failed" });
    expect(ran.toSorted()).toEqual([
      "a",
      "bad",
      "bad right",
      "i",
      "i",
      "i",
      "left",
      "one",
      "one",
      "x",
      "x",
      "x",
      "y",
    ]);
    ran.length = 0;
    broken = false;
    const again = await sluice.runs.rerun(id);
    expect(await sluice.runs.ended(again.id)).toMatchObject({ state: "succeeded" });
    expect(ran.toSorted()).toEqual(["bad", "bad right", "bad right", "i"]);
    const run = await sluice.runs.get(again.id);
    expect(run?.steps.map(({ name, takenOver }) => [name, takenOver])).toMatchObject([
      ["one", id],
      ["each", undefined],
      ["group", undefined],
      ["end", undefined],
    ]);
    ran.length = 0;
    const all = await sluice.runs.rerun(id, { all: true });
    expect(await sluice.runs.ended(all.id)).toMatchObject({ state: "succeeded" });
    expect(ran).toHaveLength(15);
  });

  test("a run cap that is full holds no child back, and a detached run stands in the line", async () => {
    const low = workflow({ id: "low", steps: (s) => s.step("tick", tick), tags: { env: "prod" } });
    const main = workflow({
      id: "main",
      steps: (s) => {
        const child = s.run("child", low);
        const own = s.run("own", low, undefined, { detached: { wait: false }, after: [child] });
        return { child: child.output, own: own.output.id };
      },
    });
    const waits = workflow({
      id: "waits",
      steps: (s) => s.run("own", low, undefined, { detached: true }).output,
    });
    const sluice = await working(place, { tasks: [tick], workflows: [main, waits, low], runs: { max: 1 } });
    const { id } = await sluice.submit(main, undefined);
    const run = await sluice.runs.ended<typeof main>(id);
    expect(run).toMatchObject({ state: "succeeded", result: { child: 1 } });
    const own = run.result?.own as string;
    expect(await sluice.runs.ended(own)).toMatchObject({ state: "succeeded", tags: { env: "prod" } });
    expect((await sluice.runs.list()).map((each) => each.id).toSorted()).toEqual([id, own].toSorted());
    // With room for it, the step ends with the run.
    await sluice.limits.set("runs", 2);
    const waiting = await sluice.submit(waits, undefined);
    expect(await sluice.runs.ended(waiting.id)).toMatchObject({ state: "succeeded", result: 1 });
  });
});
