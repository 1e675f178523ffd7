import { expect, test } from "vitest";
import type { Reading, Results, RunMove, RunSeen } from "../../store/runs.ts";
import { STILL } from "../../store/runs.ts";
import type { Moves } from "../../store/store.ts";
import type { Fresh } from "./bench.ts";
import { NOTHING, scopeOf } from "./bench.ts";
import {
  GRAPH,
  gateOf,
  laneOfSteps,
  leaveNews,
  look,
  move,
  NIGHTLY,
  newRun,
  newsOf,
  open,
  started,
  stateOf,
  unitOf,
} from "./run-bench.ts";

const NOTHING_MORE: Reading = { units: [], bodies: [], items: [] };

export function advanceSuite(fresh: Fresh<"runs" | "steering">): void {
  test("without news asks nobody", async () => {
    const bench = await fresh();
    const answer = await bench.store.advance(() => {
      throw new Error("there is nothing to decide");
    });
    expect(answer).toEqual({ news: 0, enqueued: 0, freed: [] });
  });

  test("is called for by news, and a run in line calls for a look too", async () => {
    const bench = await fresh();
    expect(await bench.store.stirring()).toEqual({ news: false, queued: false });
    await bench.enqueue("task");
    expect(await bench.store.stirring()).toEqual({ news: false, queued: false });
    await bench.store.submit([newRun("q")]);
    expect(await bench.store.stirring()).toEqual({ news: false, queued: true });
    await bench.intake();
    expect(await bench.store.stirring()).toEqual({ news: false, queued: true });
    await bench.store.submit([newRun("r", { direct: true })]);
    expect(await bench.store.stirring()).toEqual({ news: true, queued: true });
    await look(bench);
    expect((await bench.store.stirring()).news).toBe(false);
  });

  test("shows the runs in progress that there is news of, each once, in the order of their ids", async () => {
    const bench = await fresh();
    await bench.store.submit([newRun("b", { direct: true, priority: 2 }), newRun("queued")]);
    await bench.store.submit([newRun("a", { direct: true, input: "7" })]);
    await leaveNews(bench, "b", "queued", "b");
    const seen = await look(bench);
    expect(seen).toEqual([
      {
        id: "a",
        epoch: expect.any(Number),
        started: false,
        holds: true,
        resumes: false,
        paused: false,
        namespace: "default",
        priority: 0,
        input: "7",
        options: '{"startTimeoutMs":5000,"onStartTimeout":"requeue"}',
        graph: GRAPH,
        graphId: expect.any(String),
        steps: [],
        failed: [],
        rerunOf: null,
      },
      expect.objectContaining({ id: "b", priority: 2, input: '{"day":1}' }),
    ]);
    expect(seen[0]?.epoch).toBe((await bench.store.task("a"))?.epoch);
    expect(await look(bench)).toEqual([]);
  });

  test("by many at once reads each piece of news once", async () => {
    const bench = await fresh();
    const ids = Array.from({ length: 12 }, (_, index) => `r${10 + index}`);
    await bench.store.submit(ids.map((id) => newRun(id, { direct: true })));
    const seen: string[] = [];
    const answers = await Promise.all(
      [1, 2, 3].map(() =>
        bench.store.advance((runs) => {
          seen.push(...runs.map(({ id }) => id));
          return {
            moves: runs.map(({ id, epoch }) => ({ ...STILL, run: id, epoch, steps: [open(id, "x")] })),
          };
        }),
      ),
    );
    expect(answers.reduce((sum, { news }) => sum + news, 0)).toBe(12);
    expect(seen.sort()).toEqual(ids);
  });

  test("that fails keeps the news, and writes nothing", async () => {
    const bench = await fresh();
    await bench.store.submit([newRun("r", { direct: true })]);
    const failing = bench.store.advance(() => {
      throw new Error("no idea");
    });
    await expect(failing).rejects.toThrow("no idea");
    expect((await look(bench)).map(({ id }) => id)).toEqual(["r"]);
  });

  test("starts a run: its gates come into being, its time runs, its steps are in line", async () => {
    const bench = await fresh();
    await bench.store.submit([newRun("r", { direct: true })]);
    const at = bench.clock.advance(10);
    const answer = await move(bench, "r", {
      start: { gates: [{ key: gateOf("r"), limit: 4 }], timeoutMs: 900 },
      steps: [open("r", "fetch"), open("r", "store")],
      enqueue: [unitOf("r", "fetch", { claimTimeoutMs: 50 }), unitOf("r", "store", { delayMs: 70 })],
    });
    expect(answer).toEqual({ news: 1, enqueued: 2, freed: [] });
    expect(await stateOf(bench, "r")).toBe("started");
    expect((await bench.store.gates()).find(({ key }) => key === gateOf("r"))).toMatchObject({
      limit: 4,
      declared: 4,
      line: "skip",
      paused: false,
      setBy: null,
    });
    expect(await bench.store.timers()).toEqual({ due: [], nextAt: at + 50, now: at });
    bench.clock.advance(900);
    expect((await bench.store.timers()).due).toEqual([
      { id: "r-fetch", kind: "claim", at: at + 50 },
      { id: "r", kind: "run", at: at + 900 },
    ]);
    expect(await bench.state("r-store")).toBe("later");
    expect((await bench.intake()).arrived).toEqual([laneOfSteps("r")]);
    expect(await bench.history("r-fetch")).toEqual(["1 TaskEnqueued"]);
    await leaveNews(bench, "r");
    expect((await look(bench))[0]).toMatchObject({
      started: true,
      steps: [
        { name: "fetch", state: "open", unit: "r-fetch", ended: null },
        { name: "store", state: "open", unit: "r-store", ended: null },
      ],
    });
  });

  test("hears how a step has ended, and may read its result before it decides", async () => {
    const bench = await fresh();
    await bench.session();
    await started(bench, "r", "fetch", "guess");
    await bench.report(await bench.claimOne("r-fetch"), { to: "succeeded", body: '{"rows":3}' }, [
      newsOf("r"),
    ]);
    await bench.report(await bench.claimOne("r-guess"), { to: "failed", body: '{"code":"NO"}' }, [
      newsOf("r", "guess"),
    ]);
    const asked: { runs: readonly RunSeen[]; results: Results["units"] }[] = [];
    await bench.store.advance((runs, { units }) => {
      asked.push({ runs, results: new Map(units) });
      if (asked.length === 1) return { read: { ...NOTHING_MORE, units: ["r-fetch"] } };
      if (asked.length === 2) return { read: { ...NOTHING_MORE, units: ["r-guess", "nobody"] } };
      return { moves: [] };
    });
    expect(asked).toHaveLength(3);
    expect(asked[2]?.runs[0]?.steps.map(({ name, ended }) => [name, ended])).toEqual([
      ["fetch", "succeeded"],
      ["guess", "failed"],
    ]);
    expect(asked[0]?.results.size).toBe(0);
    expect(asked[2]?.results.get("r-fetch")).toBe('{"rows":3}');
    expect(asked[2]?.results.get("r-guess") ?? null).toBeNull();
    expect(asked[2]?.results.get("nobody") ?? null).toBeNull();
  });

  test("writes what becomes of steps, over what was true of them", async () => {
    const bench = await fresh();
    await started(bench, "r", "fetch");
    await leaveNews(bench, "r");
    const done = { ...open("r", "fetch"), state: "succeeded" } as const;
    const skipped = { name: "store", state: "skipped", unit: null, body: '["fetch"]' } as const;
    await move(bench, "r", { steps: [done, skipped] });
    expect((await bench.store.run("r"))?.steps).toMatchObject([done, skipped]);
  });

  test("changes nothing of a run that has another epoch by now", async () => {
    const bench = await fresh();
    await bench.store.submit([newRun("r", { direct: true })]);
    const answer = await move(bench, "r", {
      epoch: 1_000_000,
      start: { gates: [{ key: gateOf("r"), limit: 1 }], timeoutMs: 10 },
      steps: [open("r", "fetch")],
      enqueue: [unitOf("r", "fetch")],
      finish: { state: "succeeded", body: null },
    });
    expect(answer).toEqual({ news: 1, enqueued: 0, freed: [] });
    expect(await bench.store.run("r")).toMatchObject({ run: { state: "notStarted" }, steps: [] });
    expect(await bench.store.task("r-fetch")).toBeUndefined();
    expect((await bench.store.timers()).nextAt).toBeNull();
  });

  test.each([
    ["succeeded", "42", "TaskSucceeded"],
    ["failed", '{"code":"NO"}', "TaskFailed"],
    ["cancelled", '{"by":"ann"}', "TaskCancelled"],
  ] as const)("ends a run that has %s, and what is left of it", async (state, body, kind) => {
    const bench = await fresh();
    await bench.session();
    await started(bench, "r", "runs", "waits");
    await leaveNews(bench, "r");
    await move(bench, "r", { enqueue: [unitOf("r", "later", { delayMs: 9, claimTimeoutMs: 8 })] });
    const claim = await bench.claimOne("r-runs");
    expect([await bench.heldAt("pool:smtp"), await bench.heldAt("runs")]).toEqual([1, 1]);
    await leaveNews(bench, "r");
    const answer = await move(bench, "r", { finish: { state, body } });
    expect(answer).toEqual({ news: 1, enqueued: 0, freed: [NIGHTLY] });
    expect((await bench.store.run("r"))?.run).toMatchObject({ state, body, finishedAt: bench.clock.now() });
    expect((await bench.store.events("r")).at(-1)).toMatchObject({
      n: 3,
      kind,
      data: state === "succeeded" ? null : body,
    });
    for (const id of ["r-runs", "r-waits", "r-later"]) {
      expect(await bench.store.task(id)).toMatchObject({ state: "cancelled", body: '{"by":"run"}' });
      expect((await bench.store.events(id)).at(-1)).toMatchObject({
        kind: "TaskCancelled",
        data: '{"by":"run"}',
      });
    }
    expect([await bench.heldAt("pool:smtp"), await bench.heldAt("runs")]).toEqual([1, 1]);
    await bench.stopped(claim);
    await look(bench);
    expect([await bench.heldAt("pool:smtp"), await bench.heldAt("runs")]).toEqual([0, 0]);
    expect((await bench.look([laneOfSteps("r")])).heads).toEqual([]);
    expect(await bench.store.timers()).toMatchObject({ due: [], nextAt: null });
  });

  test("leaves the outcome of a step that was through already", async () => {
    const bench = await fresh();
    await bench.session();
    await started(bench, "r", "fetch");
    await bench.report(await bench.claimOne("r-fetch"), { to: "succeeded", body: "1" }, [newsOf("r")]);
    await move(bench, "r", { finish: { state: "succeeded", body: null } });
    expect(await bench.store.task("r-fetch")).toMatchObject({ state: "succeeded", body: "1" });
  });

  test("clears away the gates and lanes of a run that is over, and shows it to nobody", async () => {
    const bench = await fresh();
    await started(bench, "r", "fetch");
    await started(bench, "r2", "fetch");
    await bench.intake();
    await leaveNews(bench, "r");
    await move(bench, "r", { finish: { state: "succeeded", body: null } });
    const gates = async () => (await bench.store.gates()).map(({ key }) => key);
    expect(await gates()).toContain(gateOf("r"));
    expect(await look(bench)).toEqual([]);
    expect(await gates()).not.toContain(gateOf("r"));
    expect(await gates()).toContain(gateOf("r2"));
    const { lanes } = await bench.look([laneOfSteps("r"), laneOfSteps("r2")]);
    expect(lanes.map(({ id }) => id)).toEqual([laneOfSteps("r2").id]);
    expect(await bench.store.advance(() => ({ moves: [] }))).toMatchObject({ news: 0 });
  });

  test("leaves nothing of a run that ended before a pass took its steps in", async () => {
    const bench = await fresh();
    await started(bench, "r", "fetch");
    await bench.store.cancelRun("r", "ann");
    await look(bench);
    expect((await bench.intake()).arrived).toEqual([]);
    expect((await bench.store.gates()).map(({ key }) => key)).not.toContain(gateOf("r"));
  });

  test("hears of a step that was cancelled by hand", async () => {
    const bench = await fresh();
    await started(bench, "r", "fetch");
    await bench.store.cancel("r-fetch", "ann");
    expect((await look(bench))[0]?.steps).toMatchObject([{ name: "fetch", ended: "cancelled" }]);
  });

  test("hears of a step whose time was over before it started", async () => {
    const bench = await fresh();
    await started(bench, "r");
    await leaveNews(bench, "r");
    const enqueue = ["seen", "tended"].map((step) => unitOf("r", step, { goodForMs: 100 }));
    await move(bench, "r", { steps: [open("r", "seen"), open("r", "tended")], enqueue });
    await bench.intake();
    bench.clock.advance(100);
    await bench.store.pass(scopeOf([]), () => ({ ...NOTHING, expire: ["r-seen"] }));
    expect((await look(bench))[0]?.steps.map(({ ended }) => ended)).toEqual(["expired", null]);
    await bench.store.tend();
    expect((await look(bench))[0]?.steps.map(({ ended }) => ended)).toEqual(["expired", "expired"]);
  });

  test("hears of a step that recovery has ended, because the pass says so", async () => {
    const bench = await fresh();
    await bench.session();
    await started(bench, "r", "fetch");
    await bench.claim(["r-fetch"], { claimLeaseMs: 100 });
    bench.clock.advance(100);
    await bench.store.pass(scopeOf([], { session: "s2" }), ({ lost }): Moves => {
      const recover = lost.map(({ id, epoch }) => ({ id, epoch, to: "failed", body: "{}" }) as const);
      return { ...NOTHING, recover, news: [newsOf("r", "fetch"), newsOf("r", "fetch")] };
    });
    let steps: RunSeen["steps"] = [];
    const answer = await bench.store.advance(([run]) => {
      steps = run?.steps ?? [];
      return { moves: [] };
    });
    expect(answer.news).toBe(1);
    expect(steps).toMatchObject([{ name: "fetch", ended: "failed" }]);
  });

  test("of plain tasks hears nothing", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a", "b", "c");
    await bench.store.cancel("a", "ann");
    await bench.store.failWaiting("b", "{}");
    await bench.store.pass(scopeOf([]), () => ({ ...NOTHING, expire: ["c"] }));
    expect(await bench.store.advance(() => ({ moves: [] }))).toMatchObject({ news: 0 });
  });

  test("moves several runs in one go", async () => {
    const bench = await fresh();
    await bench.store.submit(["a", "b", "c"].map((id) => newRun(id, { direct: true })));
    const answer = await bench.store.advance((runs) => ({
      moves: runs.map(
        ({ id, epoch }): RunMove => ({
          ...STILL,
          run: id,
          epoch,
          steps: [open(id, "x")],
          enqueue: id === "c" ? [] : [unitOf(id, "x")],
          finish: id === "a" ? null : { state: "failed", body: "{}" },
        }),
      ),
    }));
    expect(answer).toEqual({ news: 3, enqueued: 2, freed: [NIGHTLY, NIGHTLY] });
    expect([await bench.state("a-x"), await bench.state("b-x")]).toEqual(["waiting", "cancelled"]);
    expect(await bench.heldAt("runs")).toBe(1);
  });
}
