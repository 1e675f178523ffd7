import { expect, test } from "vitest";
import { optionsOfRun } from "../../core/unit-options.ts";
import { laneOf } from "../../store/lane.ts";
import type { NewChild, NewUnit, RunMove, RunSeen } from "../../store/runs.ts";
import { NESTED, RUNS, STILL } from "../../store/runs.ts";
import type { Claimed } from "../../store/store.ts";
import type { BenchWith, Fresh } from "./bench.ts";
import { newTask } from "./bench.ts";
import {
  gateOf,
  leaveNews,
  letIn,
  look,
  move,
  newRun,
  newsOf,
  open,
  START_TIMEOUT_MS,
  started,
  stateOf,
  unitOf,
} from "./run-bench.ts";

type Bench = BenchWith<"runs" | "steering" | "inspection" | "holdings">;

const laneOfChildren = (run: string) => laneOf(NESTED, "ship", [{ gate: `run:${run}/children`, slots: 1 }]);

/** A child run of a run, as a unit of its step. */
function childUnit(run: string, step: string, more: Partial<NewChild> = {}, item?: number): NewUnit {
  const id = item === undefined ? `${run}-${step}` : `${run}-${step}-${item}`;
  const scope = { root: "r", owner: "r", depth: 1, leaves: [], path: step };
  return {
    ...newTask(id, { lane: laneOfChildren(run), input: '{"day":1}' }),
    name: "ship",
    options: optionsOfRun({ startTimeoutMs: START_TIMEOUT_MS, step: { run, name: step }, scope }),
    step,
    ...(item === undefined ? {} : { item }),
    claimTimeoutMs: null,
    child: {
      graph: 1,
      root: "r",
      depth: 1,
      tells: true,
      rerunOf: null,
      tags: "{}",
      source: "run r",
      ...more,
    },
  };
}

const NESTED_GRAPHS = { graph: '{"root":true}', nested: ['{"one":1}', '{"two":2}'] };

/** A run in progress with one child in line. */
async function withChild(bench: Bench, more: Partial<NewChild> = {}): Promise<void> {
  await bench.store.submit([newRun("r", { direct: true, ...NESTED_GRAPHS })]);
  await move(bench, "r", {
    start: {
      gates: [
        { key: gateOf("r"), limit: -1 },
        { key: "run:r/children", limit: -1 },
      ],
      timeoutMs: null,
    },
    steps: [open("r", "ship")],
    enqueue: [childUnit("r", "ship", more)],
  });
}

/** The child in progress, with one step of its own in line. */
async function withGrandchild(bench: Bench): Promise<void> {
  await withChild(bench);
  await letIn(bench, "r-ship");
  await move(bench, "r-ship", {
    start: { gates: [{ key: "run:r-ship/children", limit: -1 }], timeoutMs: null },
    steps: [open("r-ship", "work")],
    enqueue: [unitOf("r-ship", "work")],
  });
}

const inTheNews = async (bench: Bench): Promise<readonly (readonly [string, readonly string[]])[]> =>
  (await look(bench)).map(({ id, failed }) => [id, failed]);

export function treeSuite(fresh: Fresh<"runs" | "steering" | "inspection" | "holdings">): void {
  test("is a unit of its parent and a run with a graph of its parent's tree", async () => {
    const bench = await fresh();
    await withChild(bench);
    expect(await bench.store.stirring()).toEqual({ news: false, queued: true });
    const child = await bench.store.run("r-ship");
    expect(child?.graph).toBe('{"one":1}');
    expect(child?.run).toMatchObject({
      workflow: "ship",
      state: "queued",
      root: "r",
      parent: "r",
      rerunOf: null,
      step: "ship",
      item: null,
      depth: 1,
    });
    expect((await bench.store.run("r"))?.steps).toMatchObject([
      { name: "ship", unit: "r-ship", place: "waiting" },
    ]);
    await letIn(bench, "r-ship");
    let seen: RunSeen | undefined;
    await bench.store.advance((runs) => {
      seen = runs[0];
      return { moves: [] };
    });
    expect(seen).toMatchObject({ id: "r-ship", graph: '{"one":1}', started: false, input: '{"day":1}' });
    expect(seen?.graphId).toMatch(/\/1$/);
    // The graph of a grandchild comes from the same tree.
    await leaveNews(bench, "r-ship");
    await move(bench, "r-ship", {
      enqueue: [childUnit("r-ship", "deep", { graph: 2, depth: 2 })],
      steps: [open("r-ship", "deep")],
    });
    expect((await bench.store.run("r-ship-deep"))?.graph).toBe('{"two":2}');
  });

  test("is listed with its tree, in the order in which it was made, and in no other list", async () => {
    const bench = await fresh();
    await withChild(bench);
    await leaveNews(bench, "r");
    await move(bench, "r", {
      steps: [open("r", "more")],
      enqueue: [0, 1, 2].map((item) => childUnit("r", "more", {}, item)),
    });
    const ids = async (filter: object) =>
      (await bench.store.runs({ limit: 9, ...filter })).map(({ id }) => id);
    expect(await ids({})).toEqual(["r"]);
    expect(await ids({ root: "r" })).toEqual(["r-more-0", "r-more-1", "r-more-2", "r-ship"]);
    expect(await ids({ root: "r", after: "r-more-1", limit: 1 })).toEqual(["r-more-2"]);
    expect(await ids({ ids: ["r-ship"] })).toEqual(["r-ship"]);
    expect((await bench.store.tasks({ limit: 9 })).map(({ id }) => id)).toEqual([]);
  });

  test.each(["succeeded", "failed"] as const)(
    "that has %s tells its parent, in the same transaction",
    async (state) => {
      const bench = await fresh();
      await withChild(bench);
      await letIn(bench, "r-ship");
      await move(bench, "r-ship", { finish: { state, body: "7" } });
      expect(await inTheNews(bench)).toEqual([["r", state === "failed" ? ["ship"] : []]]);
      const [step] = (await bench.store.run("r"))?.steps ?? [];
      expect(step).toMatchObject({ state: "open", ended: state, result: "7" });
    },
  );

  test("that is cancelled tells its parent, in line or in progress", async () => {
    const bench = await fresh();
    await withChild(bench);
    await bench.store.cancelRun("r-ship", "ann");
    expect(await inTheNews(bench)).toEqual([["r", ["ship"]]]);
    const other = await fresh();
    await withGrandchild(other);
    await other.store.cancelRun("r-ship", "ann");
    expect(await inTheNews(other)).toEqual([["r", ["ship"]]]);
    expect(await stateOf(other, "r-ship")).toBe("cancelled");
    expect(await other.state("r-ship-work")).toBe("cancelled");
  });

  test("that fails by a timer tells its parent", async () => {
    const bench = await fresh();
    await withGrandchild(bench);
    expect(await bench.store.failRun("r-ship", '{"code":"RUN_TIMEOUT"}')).toBe(true);
    expect(await inTheNews(bench)).toEqual([["r", ["ship"]]]);
  });

  test("in line ends with its parent at once", async () => {
    const bench = await fresh();
    await withChild(bench);
    await bench.store.cancelRun("r", "ann");
    expect(await stateOf(bench, "r-ship")).toBe("cancelled");
    expect(await bench.store.stopping()).toEqual([]);
    await look(bench);
    expect(await ownGates(bench)).toEqual([]);
  });

  test("in progress ends with its parent, one level per look, and holds its slots until its code has stopped", async () => {
    const bench = await fresh();
    await bench.session();
    await withGrandchild(bench);
    const [work] = (await bench.claim(["r-ship-work"])) as [Claimed];
    await bench.store.cancelRun("r", "ann");
    expect([await stateOf(bench, "r"), await stateOf(bench, "r-ship")]).toEqual(["cancelled", "cancelled"]);
    expect((await bench.store.stopping(RUNS)).map(({ id, because }) => [id, because]).sort()).toEqual([
      ["r", "cancelled"],
      ["r-ship", "parent"],
    ]);
    // The step of the child runs until a look of the child ends it.
    expect(await bench.state("r-ship-work")).toBe("claimed");
    expect(await broken(bench)).toEqual([]);
    await look(bench);
    expect(await bench.state("r-ship-work")).toBe("cancelled");
    expect((await bench.store.stopping()).map(({ id, because }) => [id, because]).sort()).toEqual([
      ["r", "cancelled"],
      ["r-ship", "cancelled"],
      ["r-ship-work", "cancelled"],
    ]);
    await look(bench);
    expect(await bench.heldAt("runs")).toBe(1);
    await bench.stopped(work);
    // The child lets go first, then its parent.
    await look(bench);
    expect((await bench.store.stopping()).map(({ id }) => id)).toEqual(["r"]);
    await look(bench);
    expect(await bench.store.stopping()).toEqual([]);
    expect(await bench.heldAt("runs")).toBe(0);
    expect(await broken(bench)).toEqual([]);
    expect(await ownGates(bench)).toEqual([]);
  });

  test("that is over leaves the lanes that its siblings share, and the last look at the root sweeps them", async () => {
    const bench = await fresh();
    await withChild(bench);
    await leaveNews(bench, "r");
    await move(bench, "r", { steps: [open("r", "ship2")], enqueue: [childUnit("r", "ship2")] });
    const shared = unitOf("r", "work").lane;
    for (const child of ["r-ship", "r-ship2"]) {
      await letIn(bench, child);
      await move(bench, child, {
        start: { gates: [], timeoutMs: null },
        steps: [open(child, "work")],
        enqueue: [unitOf(child, "work", { lane: shared })],
      });
    }
    await bench.intake();
    await bench.store.cancelRun("r-ship", "ann");
    await look(bench);
    // The look read the news and moved nothing. The unit of the sibling can still be found.
    expect(await broken(bench)).toEqual(["untold"]);
    expect(await bench.claim(["r-ship2-work"])).toHaveLength(1);
    await bench.store.cancelRun("r", "ann");
    for (let round = 0; round < 4; round += 1) await look(bench);
    expect(await bench.store.stopping(RUNS)).toHaveLength(2);
  });

  test("takes over the finished steps of the child that it repeats, if that one had the same input", async () => {
    const bench = await fresh();
    await withGrandchild(bench);
    await leaveNews(bench, "r-ship");
    await move(bench, "r-ship", {
      steps: [
        { name: "done", state: "succeeded", unit: "u", body: "[1]" },
        { name: "work", state: "failed", unit: "r-ship-work", body: null },
      ],
      finish: { state: "failed", body: "{}" },
    });
    await bench.store.cancelRun("r", "ann");
    const again = async (run: string, input: string) => {
      await bench.store.submit([newRun(run, { direct: true, rerunOf: "r", ...NESTED_GRAPHS })]);
      const unit = childUnit(run, "ship", { rerunOf: "r" });
      await move(bench, run, { steps: [open(run, "ship")], enqueue: [{ ...unit, input }] });
      return (await bench.store.run(`${run}-ship`))?.run.rerunOf;
    };
    expect(await again("other", '{"day":2}')).toBeNull();
    expect(await again("same", '{"day":1}')).toBe("r-ship");
    await letIn(bench, "same-ship");
    let earlier: RunSeen["earlier"];
    await bench.store.advance((runs) => {
      const seen = runs.find(({ id }) => id === "same-ship");
      earlier = seen?.earlier;
      const start: RunMove["start"] = {
        gates: [],
        timeoutMs: null,
        takeOver: { run: "r-ship", steps: ["done"] },
      };
      return { moves: seen ? [{ ...nothingOf(seen), start }] : [] };
    });
    expect(earlier).toEqual([
      { name: "done", state: "succeeded" },
      { name: "work", state: "failed" },
    ]);
    expect((await bench.store.run("same-ship"))?.steps).toMatchObject([
      { name: "done", state: "succeeded", unit: "u", body: "[1]" },
    ]);
  });

  test("that is detached belongs to nobody, but its end is news", async () => {
    const bench = await fresh();
    await bench.store.submit([newRun("r", { direct: true, ...NESTED_GRAPHS })]);
    const unit = { ...childUnit("r", "own", { root: null, depth: 0 }), lane: newRun("x").lane };
    await move(bench, "r", { steps: [open("r", "own")], enqueue: [unit] });
    expect((await bench.store.runs({ limit: 9 })).map(({ id }) => id)).toEqual(["r-own", "r"]);
    expect((await bench.store.run("r-own"))?.run).toMatchObject({ root: null, parent: "r", step: null });
    await letIn(bench, "r-own");
    await move(bench, "r-own", { finish: { state: "succeeded", body: "1" } });
    expect(await inTheNews(bench)).toEqual([["r", []]]);
    await bench.store.cancelRun("r", "ann");
    expect(await stateOf(bench, "r-own")).toBe("succeeded");
  });

  test("that would end in the same look as its parent ends with it", async () => {
    const bench = await fresh();
    await withChild(bench);
    await letIn(bench, "r-ship");
    await leaveNews(bench, "r");
    const handler = newTask("handler");
    await bench.store.advance((runs) => ({
      moves: runs.map((run) => ({
        ...nothingOf(run),
        finish: { state: "failed" as const, body: `"${run.id}"`, ...(run.id === "r" ? {} : { handler }) },
      })),
    }));
    expect([await stateOf(bench, "r"), await stateOf(bench, "r-ship")]).toEqual(["failed", "cancelled"]);
    expect(await bench.store.task("handler")).toBeUndefined();
    for (let round = 0; round < 3; round += 1) await look(bench);
    expect(await bench.store.stopping()).toEqual([]);
    expect(await broken(bench)).toEqual([]);
  });

  test.each(["look", "timeout", "cancel", "cancel in line", "claim timeout"] as const)(
    "that fails ends what may no longer start, in the same transaction (%s)",
    async (how) => {
      const bench = await fresh();
      await bench.store.submit([newRun("r", { direct: true, ...NESTED_GRAPHS })]);
      const first = childUnit("r", "first");
      const handles = { ...unitOf("r", "handles"), options: stepOptions({ handles: true }) };
      await move(bench, "r", {
        steps: ["first", "child", "plain", "handles"].map((name) => open("r", name)),
        enqueue: [
          { ...first, options: stepOptions({ failsFast: true }) },
          childUnit("r", "child"),
          unitOf("r", "plain"),
          handles,
        ],
      });
      await bench.session();
      const inLine = how === "cancel in line" || how === "claim timeout";
      if (!inLine) await letIn(bench, "r-first");
      // Admitted, but not started.
      await letIn(bench, "r-child");
      if (how === "look") await move(bench, "r-first", { finish: { state: "failed", body: "{}" } });
      else if (how === "timeout") await bench.store.failRun("r-first", "{}");
      else if (how === "claim timeout") await bench.store.failWaiting("r-first", "{}");
      else await bench.store.cancelRun("r-first", "ana");
      for (const unit of ["r-child", "r-plain"])
        expect(await bench.store.task(unit)).toMatchObject({
          state: "cancelled",
          body: '{"by":"failFast","step":"first"}',
        });
      expect((await bench.store.task("r-handles"))?.state).toBe("waiting");
    },
  );

  test("is a part of another success, and counts as none of its workflow", async () => {
    const bench = await fresh();
    await withChild(bench);
    await letIn(bench, "r-ship");
    await move(bench, "r-ship", { finish: { state: "succeeded", body: null } });
    await move(bench, "r", { finish: { state: "succeeded", body: null } });
    expect(await bench.claim([], { news: [newsOf("r")] })).toEqual([]);
    expect(await stateOf(bench, "r")).toBe("succeeded");
  });

  test("that was not told of, or lives on after its run, is found by an inspection", async () => {
    const bench = await fresh();
    await started(bench, "r", "one");
    // A pass that leaves no news of what it ends.
    await bench.session();
    const [one] = (await bench.claim(["r-one"])) as [Claimed];
    await bench.report(one, { to: "succeeded", body: "1" });
    expect(await broken(bench)).toEqual(["untold"]);
  });
}

/** The options of a step of `r`. */
const stepOptions = (more: { readonly handles?: true; readonly failsFast?: true }): string =>
  optionsOfRun({
    startTimeoutMs: START_TIMEOUT_MS,
    step: { ...more, run: "r", name: "first" },
    scope: { root: "r", owner: "r", depth: 1, leaves: [], path: "first" },
  });

const nothingOf = ({ id, epoch }: RunSeen): RunMove => ({
  run: id,
  epoch,
  ...STILL,
});

/** The gates of runs that are left. */
async function ownGates(bench: Bench): Promise<string[]> {
  const { gates } = await bench.store.inspect();
  return gates.map(({ key }) => key).filter((key) => key.startsWith("run:"));
}

async function broken(bench: Bench): Promise<string[]> {
  const { broken: found } = await bench.store.inspect();
  return Object.entries(found).flatMap(([name, { ids }]) => (ids.length > 0 ? [name] : []));
}
