import { expect, test } from "vitest";
import type { Fresh } from "./bench.ts";
import { newTask } from "./bench.ts";
import {
  gateOf,
  laneOfSteps,
  leaveNews,
  letIn,
  look,
  move,
  NIGHTLY,
  newRun,
  newsOf,
  started,
  stateOf,
  unitOf,
} from "./run-bench.ts";

export function steeringSuite(fresh: Fresh<"runs" | "steering" | "inspection">): void {
  test("cancels a run in line: nobody can let it in any more", async () => {
    const bench = await fresh();
    await bench.store.submit([newRun("r"), newRun("later", { delayMs: 9 })]);
    for (const id of ["r", "later"]) {
      expect(await bench.store.cancelRun(id, "ann")).toEqual({ was: "queued" });
      expect((await bench.store.run(id))?.run).toMatchObject({ state: "cancelled", body: '{"by":"ann"}' });
      expect(await bench.history(id)).toEqual(["1 TaskEnqueued", "2 TaskCancelled"]);
    }
    expect(await letIn(bench, "r")).toEqual([]);
  });

  test("told to cancel only what is in line, leaves alone what was let in", async () => {
    const bench = await fresh();
    await bench.store.submit([newRun("in", { direct: true }), newRun("r")]);
    expect(await bench.store.cancelRun("in", "ann", "queued")).toEqual({ was: "notStarted" });
    expect((await bench.store.run("in"))?.run.state).toBe("notStarted");
    expect(await bench.store.cancelRun("r", "ann", "queued")).toEqual({ was: "queued" });
    expect((await bench.store.run("r"))?.run.state).toBe("cancelled");
  });

  test.each(["cancelRun", "cancel"] as const)(
    "cancels a run in progress with its steps (%s)",
    async (verb) => {
      const bench = await fresh();
      await bench.session();
      await started(bench, "r", "fetch", "store");
      const claim = await bench.claimOne("r-fetch");
      expect(await bench.store[verb]("r", "ann")).toEqual({ was: verb === "cancel" ? "running" : "started" });
      expect((await bench.store.run("r"))?.run).toMatchObject({ state: "cancelled", body: '{"by":"ann"}' });
      expect([await bench.state("r-fetch"), await bench.state("r-store")]).toEqual([
        "cancelled",
        "cancelled",
      ]);
      expect(await bench.report(claim, { to: "succeeded" }, [newsOf("r")])).toBe(false);
      expect([await bench.heldAt("pool:smtp"), await bench.heldAt("runs")]).toEqual([1, 1]);
      expect(await bench.store.timers()).toMatchObject({ due: [], nextAt: null });
      await bench.stopped(claim);
      expect(await look(bench)).toEqual([]);
      expect([await bench.heldAt("pool:smtp"), await bench.heldAt("runs")]).toEqual([0, 0]);
      expect((await bench.store.gates()).map(({ key }) => key)).not.toContain(gateOf("r"));
    },
  );

  test("cancels a run that was let in and has not started", async () => {
    const bench = await fresh();
    await bench.store.submit([newRun("r")]);
    await letIn(bench, "r");
    expect(await bench.store.cancelRun("r", "ann")).toEqual({ was: "notStarted" });
    expect(await bench.heldAt("runs")).toBe(0);
  });

  test("cancels no run that is over, and none that is not there", async () => {
    const bench = await fresh();
    await started(bench, "r");
    await bench.store.failRun("r", "{}");
    await bench.enqueue("task");
    expect(await bench.store.cancelRun("r", "ann")).toEqual({ was: "failed" });
    expect(await bench.store.cancel("r", "ann")).toEqual({ was: "failed" });
    expect(await stateOf(bench, "r")).toBe("failed");
    expect(await bench.store.cancelRun("nobody", "ann")).toBeUndefined();
    expect(await bench.store.cancelRun("task", "ann")).toBeUndefined();
    expect(await bench.state("task")).toBe("waiting");
  });

  test("against finish: exactly one of them wins, and nothing stays held", async () => {
    const bench = await fresh();
    for (const id of ["a", "b", "c", "d", "e"]) {
      await started(bench, id, "fetch");
      await leaveNews(bench, id);
      const [cancelled, advanced] = await Promise.all([
        bench.store.cancelRun(id, "ann"),
        move(bench, id, { finish: { state: "succeeded", body: "1" } }),
      ]);
      const state = await stateOf(bench, id);
      expect(cancelled?.was).toBe(state === "cancelled" ? "started" : "succeeded");
      expect(advanced.freed).toEqual(state === "cancelled" ? [] : [NIGHTLY]);
      expect(await bench.history(id)).toHaveLength(3);
      expect(await bench.heldAt("runs")).toBe(0);
    }
  });

  test("against being let in: exactly one of them is first, and nothing stays held", async () => {
    const bench = await fresh();
    for (const id of ["a", "b", "c", "d", "e"]) {
      await bench.store.submit([newRun(id)]);
      await bench.intake();
      const [cancelled, claimed] = await Promise.all([bench.store.cancelRun(id, "ann"), letIn(bench, id)]);
      expect(cancelled).toEqual({ was: claimed.length === 0 ? "queued" : "notStarted" });
      expect(await stateOf(bench, id)).toBe("cancelled");
      expect(await bench.heldAt("runs")).toBe(0);
    }
  });

  test("fails a run in progress, and nothing else", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.store.submit([newRun("queued")]);
    await started(bench, "r", "fetch");
    await bench.enqueue("task");
    await bench.claim(["task"]);
    for (const id of ["queued", "nobody", "task"]) expect(await bench.store.failRun(id, "{}")).toBe(false);
    expect(await bench.state("task")).toBe("claimed");
    expect(await bench.store.failRun("r", '{"code":"TIMEOUT"}')).toBe(true);
    expect((await bench.store.run("r"))?.run).toMatchObject({ state: "failed", body: '{"code":"TIMEOUT"}' });
    expect(await bench.state("r-fetch")).toBe("cancelled");
    expect(await bench.heldAt("runs")).toBe(0);
    expect(await bench.store.failRun("r", "{}")).toBe(false);
  });

  test("pauses a run in progress by its gates, and lets it go on", async () => {
    const bench = await fresh();
    await started(bench, "r", "fetch");
    const isPaused = async () => (await bench.store.gates()).find(({ key }) => key === gateOf("r"))?.paused;
    expect(await bench.store.pauseRun("r", true, "ann")).toBe(true);
    expect(await bench.store.pauseRun("r", true, "ann")).toBe(true);
    expect([(await bench.store.run("r"))?.run.paused, await isPaused()]).toEqual([true, true]);
    await leaveNews(bench, "r");
    expect(await look(bench)).toMatchObject([{ id: "r", paused: true }]);
    expect(await bench.store.pauseRun("r", false, "bob")).toBe(true);
    expect([(await bench.store.run("r"))?.run.paused, await isPaused()]).toEqual([false, false]);
    const events = (await bench.store.events(gateOf("r"))).map(({ kind, data }) => [kind, data]);
    expect(events).toEqual([
      ["GatePaused", '{"by":"ann","from":2,"to":2}'],
      ["GateResumed", '{"by":"bob","from":2,"to":2}'],
    ]);
  });

  test("pauses a run before it starts: its gates come into being closed", async () => {
    const bench = await fresh();
    await bench.store.submit([newRun("r", { direct: true })]);
    await bench.store.pauseRun("r", true, "ann");
    await move(bench, "r", { start: { gates: [{ key: gateOf("r"), limit: 1 }], timeoutMs: null } });
    expect((await bench.store.gates()).find(({ key }) => key === gateOf("r"))?.paused).toBe(true);
  });

  test("pauses nothing that is not in progress", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.store.submit([newRun("queued")]);
    await started(bench, "over");
    await bench.store.cancelRun("over", "ann");
    await bench.enqueue("task");
    await bench.claim(["task"]);
    for (const id of ["queued", "over", "task", "nobody"])
      expect(await bench.store.pauseRun(id, true, "ann")).toBe(false);
    expect((await bench.store.run("queued"))?.run.paused).toBe(false);
  });

  test("gives a unit in line another place, and tells its lane", async () => {
    const bench = await fresh();
    await bench.store.submit([newRun("a"), newRun("b"), newRun("c", { delayMs: 50 })]);
    await bench.intake();
    const order = async () => {
      await bench.intake();
      return (await bench.look([NIGHTLY])).heads.map(({ id, priority }) => [id, priority]);
    };
    expect(await bench.store.reprioritize("b", 7, "ann")).toEqual({ from: 0 });
    expect(await order()).toEqual([
      ["b", 7],
      ["a", 0],
    ]);
    expect((await bench.lane(NIGHTLY)).head).toMatchObject({ id: "b", priority: 7 });
    expect((await bench.store.run("b"))?.run.priority).toBe(7);
    expect(await bench.store.reprioritize("b", -1, "bob")).toEqual({ from: 7 });
    expect(await bench.store.reprioritize("c", 9, "bob")).toEqual({ from: 0 });
    bench.clock.advance(50);
    await bench.store.tend();
    expect(await order()).toEqual([
      ["c", 9],
      ["a", 0],
      ["b", -1],
    ]);
    expect((await bench.store.inspect()).broken.lateHeads.ids).toEqual([]);
  });

  test("keeps in its history where a unit stood before", async () => {
    const bench = await fresh();
    await bench.enqueue(newTask("a", { priority: 2 }));
    await bench.store.reprioritize("a", 5, "ann");
    await bench.store.reprioritize("a", 1, "bob");
    expect((await bench.store.events("a")).map(({ n, kind, data }) => [n, kind, data])).toEqual([
      [1, "TaskEnqueued", '{"priority":2}'],
      [2, "TaskReprioritized", '{"by":"ann","from":2,"to":5}'],
      [3, "TaskReprioritized", '{"by":"bob","from":5,"to":1}'],
    ]);
    await bench.session();
    const claim = await bench.claimOne("a");
    expect(await bench.report(claim, { to: "returned" })).toBe(true);
    await bench.intake();
    expect((await bench.look()).heads).toMatchObject([{ id: "a", priority: 1 }]);
  });

  test("gives no other place to what is not in line", async () => {
    const bench = await fresh();
    await started(bench, "r");
    await bench.enqueue("gone");
    await bench.store.cancel("gone", "ann");
    for (const id of ["r", "gone", "nobody"])
      expect(await bench.store.reprioritize(id, 5, "ann")).toBeUndefined();
    expect((await bench.store.run("r"))?.run.priority).toBe(0);
    expect((await bench.store.task("gone"))?.priority).toBe(0);
  });

  test("ends a unit that waits too long, and its run hears of it", async () => {
    const bench = await fresh();
    await bench.session();
    await started(bench, "r", "waits", "works");
    await leaveNews(bench, "r");
    await move(bench, "r", { enqueue: [unitOf("r", "timed", { claimTimeoutMs: 9 })] });
    await bench.claim(["r-works"]);
    for (const id of ["r-works", "r", "nobody"]) expect(await bench.store.failWaiting(id, "{}")).toBe(false);
    for (const id of ["r-waits", "r-timed"])
      expect(await bench.store.failWaiting(id, '{"code":"CLAIM_TIMEOUT"}')).toBe(true);
    expect(await bench.store.task("r-waits")).toMatchObject({
      state: "failed",
      body: '{"code":"CLAIM_TIMEOUT"}',
      attempt: 0,
    });
    expect((await bench.store.events("r-waits")).at(-1)).toMatchObject({ n: 2, kind: "TaskFailed" });
    expect((await bench.look([laneOfSteps("r")])).heads).toEqual([]);
    expect((await bench.store.timers()).nextAt).toBe(bench.clock.now() + 60_000);
    expect((await look(bench))[0]?.steps).toMatchObject([{ ended: "failed" }, { ended: null }]);
  });

  test("sets a timer anew or forgets it, but only the one that was seen", async () => {
    const bench = await fresh();
    await started(bench, "r");
    const start = bench.clock.now();
    bench.clock.advance(60_000);
    const [timer] = (await bench.store.timers()).due;
    if (!timer) throw new Error("no timer");
    expect(timer).toEqual({ id: "r", kind: "run", at: start + 60_000 });
    await bench.store.resetTimer(timer, 500);
    expect(await bench.store.timers()).toEqual({
      due: [],
      nextAt: bench.clock.now() + 500,
      now: bench.clock.now(),
    });
    await bench.store.resetTimer(timer, null);
    await bench.store.resetTimer(timer, 1);
    expect((await bench.store.timers()).nextAt).toBe(bench.clock.now() + 500);
    await bench.store.resetTimer({ ...timer, at: bench.clock.now() + 500 }, null);
    expect(await bench.store.timers()).toMatchObject({ due: [], nextAt: null });
  });
}
