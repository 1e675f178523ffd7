// A pause reaches the whole tree, whatever a step is. While the root is paused, nothing changes.

import { expect, test } from "vitest";
import type { Reference, Sluice } from "../../src/index.ts";
import { inProcess, task, workflow } from "../../src/index.ts";
import { deferred } from "../e2e/support/deferred.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { working } from "../runs/support/world.ts";

/** Steps of every kind that begin after `first`, at the root or `depth` levels below it. */
function everyKind(depth: number, levels: number) {
  const begun: string[] = [];
  const go = deferred<void>();
  const first = task({
    id: "first",
    run: async (at: string) => {
      begun.push(at);
      await go.promise;
    },
  });
  const quick = task({ id: "quick", run: async (at: unknown) => void begun.push(String(at)) });
  const plain = workflow({ id: "plain", steps: (s) => s.step("p", quick, "plain") });
  const locking = workflow({ id: "locking", mutexes: ["LOCK"], steps: (s) => s.step("l", quick, "lock") });
  const own = workflow({ id: "own", executor: inProcess(), steps: (s) => s.step("o", quick, "own") });
  const body = workflow({
    id: "body",
    steps: (s) => {
      const before = s.approve("before", { question: "Before?" });
      const after = [s.step("first", first, "first")];
      s.sleep("nap", "1ms", { after });
      s.approve("ask", { question: "Go?", after });
      s.waitFor("event", "happened", { after });
      s.step("task", quick, "task", { after });
      s.step("then", quick, "then", { after: [before] });
      s.run("locking", locking, undefined, { after });
      s.run("own", own, undefined, { after });
      s.each("items", [1, 2], locking, { after });
      s.group("group", { after, pools: { P: 1 } }, (g) => {
        g.group("inner", (h) => h.step("deep", quick, "deep"));
        g.sleep("nap", "1ms");
      });
      s.run("loose", plain, undefined, { after, detached: { wait: false } });
      s.run("detached", plain, undefined, { after, detached: true });
    },
  });
  const level = (n: number): typeof body =>
    n === 0 ? body : workflow({ id: `level${n}`, steps: (s) => void s.run("down", level(n - 1)) });
  const workflows = Array.from({ length: levels }, (_, n) => level(n));
  return {
    begun,
    go,
    root: level(depth),
    tasks: [first, quick],
    workflows: [...workflows, plain, locking, own],
  };
}

interface Seen {
  readonly states: Readonly<Record<string, string>>;
  readonly [more: string]: unknown;
}

/** Everything that a pause must keep as it is. */
async function seen(sluice: Sluice, id: string): Promise<Seen> {
  const below = (await sluice.runs.tree(id)).map((run) => run.id);
  const runs = await Promise.all([id, ...below].map((each) => sluice.runs.get(each)));
  const paths = runs.map((run) => (run?.child ? `${run.child.step}/` : ""));
  return {
    states: Object.fromEntries(
      runs.flatMap((run, at) => (run?.steps ?? []).map((step) => [`${paths[at]}${step.name}`, step.state])),
    ),
    runs: runs.map((run) => [run?.workflow, run?.state]),
    all: (await sluice.runs.list()).map((run) => run.id),
    held: (await sluice.limits.list()).filter(({ held }) => held > 0).map(({ key, held }) => [key, held]),
    times: (await sluice.store.timers()).nextAt,
  };
}

const isIdle = (sluice: Sluice): Promise<unknown> =>
  until(async () => !(await sluice.store.stirring()).news, "there is no news");

const bodyOf = async (sluice: Sluice, id: string, depth: number): Promise<string> =>
  depth === 0 ? id : ((await sluice.runs.tree(id)).find(({ workflow }) => workflow === "body")?.id as string);

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test.each([0, 1, 2])(
    "while a tree is paused, nothing begins %i levels below its root",
    {
      timeout: 60_000,
    },
    async (depth) => {
      const { begun, go, root, tasks, workflows } = everyKind(depth, 3);
      const sluice = await working(place, { tasks, workflows, pools: { P: { limit: 1 } } });
      const { id } = await sluice.submit(root, undefined);
      await until(() => begun.length === 1, "the first step runs");
      await sluice.runs.pause(id, "ana");
      const body = await bodyOf(sluice, id, depth);
      const isDone = async (step: string): Promise<boolean> =>
        (await sluice.runs.get(body))?.steps.find(({ name }) => name === step)?.state === "succeeded";
      go.resolve();
      await until(() => isDone("first"), "it has ended");
      // A step that waited before may be answered.
      await sluice.runs.approve(body, "before");
      await until(() => isDone("before"), "it is answered");
      await isIdle(sluice);
      const before = await seen(sluice, id);
      expect(await sluice.runs.get(body)).toMatchObject({ paused: true, state: "started" });
      const [reason] = (await sluice.runs.why(body)).reasons;
      expect(reason).toMatchObject({ kind: "paused", gate: `run:${id}` });
      for (const step of ["nap", "ask", "event", "loose", "detached"])
        expect(Object.entries(before.states).find(([path]) => path.endsWith(step))?.[1]).toBe("pending");
      expect(begun).toEqual(["first"]);
      const { woken } = await sluice.signal("happened", {});
      expect(woken).toBe(0);
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(await seen(sluice, id)).toEqual(before);
      expect(before.all).toEqual([id]);
      await sluice.runs.resume(id, "ana");
      await until(
        async () => (await sluice.runs.get(body))?.steps.find(({ name }) => name === "ask")?.wait,
        "it asks",
      );
      await sluice.runs.approve(body, "ask");
      expect((await sluice.runs.ended(id)).state).toBe("succeeded");
      await until(() => begun.length === 10, "the detached runs have run");
      expect([...begun].sort()).toEqual(
        ["deep", "first", "lock", "lock", "lock", "own", "plain", "plain", "task", "then"].sort(),
      );
      await until(
        async () => (await sluice.runs.list()).every(({ state }) => state === "succeeded"),
        "all is over",
      );
    },
  );

  test("a list of children begins after the pause", { timeout: 60_000 }, async () => {
    const begun: string[] = [];
    const go = deferred<void>();
    const running = deferred<void>();
    const first = task({
      id: "first",
      run: async () => {
        running.resolve();
        await go.promise;
      },
    });
    const quick = task({ id: "quick", run: async (n: string) => void begun.push(n) });
    const each = workflow({ id: "each", steps: (s, n: Reference<string>) => s.step("p", quick, n) });
    const inner = workflow({
      id: "inner",
      steps: (s) => {
        const after = [s.step("first", first)];
        s.each("many", ["a", "b"], each, { after, onFailure: "run-all" });
      },
    });
    const outer = workflow({ id: "outer", steps: (s) => void s.run("inner", inner) });
    const sluice = await working(place, { tasks: [first, quick], workflows: [outer, inner, each] });
    const { id } = await sluice.submit(outer, undefined);
    await running.promise;
    await sluice.runs.pause(id);
    go.resolve();
    await isIdle(sluice);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(begun).toEqual([]);
    // The children stand in line. No run here has chosen an executor.
    const children = (await sluice.runs.tree(id)).filter((run) => run.workflow === "each");
    expect(children.map(({ state }) => state)).toEqual(["queued", "queued"]);
    await sluice.runs.resume(id);
    expect((await sluice.runs.ended(id)).state).toBe("succeeded");
    expect([...begun].sort()).toEqual(["a", "b"]);
  });

  test("a resume reaches a run far below that has nothing else to wake it", async () => {
    const asking = workflow({
      id: "asking",
      steps: (s) => s.sleep("nap", "1ms", { after: [s.approve("ask", { question: "?" })] }),
    });
    const nesting = workflow({
      id: "nesting",
      steps: (s) => s.group("one", (g) => g.group("two", (h) => h.run("asking", asking).output)),
    });
    const sluice = await working(place, { tasks: [], workflows: [nesting, asking] });
    const { id } = await sluice.submit(nesting, undefined);
    const deep = async () => (await sluice.runs.tree(id)).find((run) => run.workflow === "asking")?.id;
    const child = (await until(deep, "it is there")) as string;
    await until(async () => (await sluice.runs.get(child))?.steps[0]?.state === "waiting", "it asks");
    await sluice.runs.pause(id);
    await sluice.runs.approve(child, "ask");
    await until(
      async () => (await sluice.runs.get(child))?.steps[0]?.state === "succeeded",
      "it is answered",
    );
    await isIdle(sluice);
    expect((await sluice.runs.get(child))?.steps[1]?.state).toBe("pending");
    await sluice.runs.resume(id);
    expect((await sluice.runs.ended(id)).state).toBe("succeeded");
  });
});
