import { expect, test } from "vitest";
import type { RunFilter } from "../../store/runs.ts";
import { RUNS } from "../../store/runs.ts";
import type { Fresh } from "./bench.ts";
import { MAIL, newTask } from "./bench.ts";
import {
  GRAPH,
  letIn,
  look,
  move,
  NIGHTLY,
  newRun,
  newsOf,
  START_TIMEOUT_MS,
  started,
  stateOf,
  unitOf,
} from "./run-bench.ts";

export function runSuite(fresh: Fresh<"runs" | "steering" | "inspection" | "lines">): void {
  test("in progress belongs to a session that is there from the beginning and never ends", async () => {
    const bench = await fresh();
    await bench.session();
    const alive = async () => (await bench.look()).sessions.map(({ id, slots }) => [id, slots]);
    expect(await alive()).toEqual([
      [RUNS, 1_000_000_000],
      ["s1", 4],
    ]);
    bench.clock.advance(30_000);
    expect(await alive()).toEqual([[RUNS, 1_000_000_000]]);
  });

  test("is queued, let in, started and over: its place is its state", async () => {
    const bench = await fresh();
    const at = bench.clock.now();
    await bench.store.submit([newRun("r", { priority: 3 })]);
    const queued = {
      id: "r",
      workflow: "nightly",
      state: "queued",
      paused: false,
      later: false,
      priority: 3,
    };
    expect(await bench.store.run("r")).toEqual({
      run: {
        ...queued,
        tags: '{"tenant":"acme"}',
        source: "code",
        namespace: "default",
        rerunOf: null,
        root: null,
        parent: null,
        depth: 0,
        step: null,
        item: null,
        input: '{"day":1}',
        key: null,
        createdAt: at,
        queuedAt: at,
        dequeuedAt: null,
        startedAt: null,
        finishedAt: null,
        body: null,
      },
      graph: GRAPH,
      steps: [],
    });
    bench.clock.advance(10);
    await letIn(bench, "r");
    expect((await bench.store.run("r"))?.run).toMatchObject({ state: "notStarted", dequeuedAt: at + 10 });
    bench.clock.advance(10);
    await move(bench, "r", { start: { gates: [], timeoutMs: null }, enqueue: [unitOf("r", "fetch")] });
    expect((await bench.store.run("r"))?.run).toMatchObject({ state: "started", startedAt: at + 20 });
    bench.clock.advance(10);
    await bench.store.failRun("r", '{"code":"NO"}');
    expect((await bench.store.run("r"))?.run).toMatchObject({
      state: "failed",
      body: '{"code":"NO"}',
      dequeuedAt: at + 10,
      startedAt: at + 20,
      finishedAt: at + 30,
    });
  });

  test("that nobody has submitted is not there", async () => {
    const bench = await fresh();
    await bench.enqueue("task");
    expect(await bench.store.run("nobody")).toBeUndefined();
    expect(await bench.store.run("task")).toBeUndefined();
  });

  test("with a delay is queued, and says that its time has not come", async () => {
    const bench = await fresh();
    const at = bench.clock.now();
    await bench.store.submit([newRun("r", { delayMs: 500 })]);
    const seen = async () => (await bench.store.run("r"))?.run;
    expect(await seen()).toMatchObject({ state: "queued", later: true, createdAt: at, queuedAt: at + 500 });
    bench.clock.advance(500);
    await bench.store.tend();
    expect(await seen()).toMatchObject({ state: "queued", later: false, queuedAt: at + 500 });
  });

  test("with a key that is taken is the run that has it, also within one call", async () => {
    const bench = await fresh();
    const key = "2024-01-01";
    expect(await bench.store.submit([newRun("a", { key }), newRun("b", { key })])).toEqual([
      { id: "a", created: true },
      { id: "a", created: false },
    ]);
    expect(await bench.store.submit([newRun("c", { key, direct: true }), newRun("d")])).toEqual([
      { id: "a", created: false },
      { id: "d", created: true },
    ]);
    expect((await bench.store.runs({ limit: 9 })).map(({ id }) => id)).toEqual(["d", "a"]);
    expect(await look(bench)).toEqual([]);
    await bench.intake();
    expect((await bench.look([NIGHTLY])).heads.map(({ id }) => id)).toEqual(["a", "d"]);
  });

  test("that is submitted by many at once with one key exists once", async () => {
    const bench = await fresh();
    const ids = ["a", "b", "c", "d"];
    const answers = await Promise.all(ids.map((id) => bench.store.submit([newRun(id, { key: "k" })])));
    expect(answers.flat().filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(answers.flat().map(({ id }) => id)).size).toBe(1);
    expect(await bench.store.runs({ limit: 9 })).toHaveLength(1);
  });

  test("that goes ahead directly is in progress at once, and counts at the gates it went past", async () => {
    const bench = await fresh();
    await bench.store.submit([newRun("r", { direct: true })]);
    expect(await stateOf(bench, "r")).toBe("notStarted");
    expect(await bench.heldAt("runs")).toBe(1);
    expect(await bench.heldAt("tag:tenant=acme")).toBe(1);
    expect((await bench.look([NIGHTLY])).usage).toMatchObject([
      { lane: NIGHTLY.id, session: RUNS, held: true, lost: false, units: 1 },
    ]);
    expect((await bench.look([NIGHTLY])).heads).toEqual([]);
    expect(await bench.history("r")).toEqual(["1 TaskEnqueued", "2 TaskClaimed"]);
    expect((await bench.store.inspect()).broken.uncounted.ids).toEqual([]);
    expect((await look(bench)).map(({ id, started }) => [id, started])).toEqual([["r", false]]);
  });

  test("that goes ahead directly leaves those in line where they are", async () => {
    const bench = await fresh();
    await bench.store.submit([newRun("a")]);
    await bench.store.submit([newRun("b", { direct: true })]);
    await bench.store.submit([newRun("c", { priority: 1 })]);
    await bench.intake();
    expect((await bench.look([NIGHTLY])).heads.map(({ id }) => id)).toEqual(["c", "a"]);
    await letIn(bench, "a");
    expect(await bench.heldAt("runs")).toBe(2);
  });

  test.each(["let in", "direct"] as const)(
    "that was %s and that nobody starts in time is lost, and counts nowhere",
    async (way) => {
      const bench = await fresh();
      await bench.store.submit([newRun("r", { direct: way === "direct" })]);
      if (way === "let in") await letIn(bench, "r");
      bench.clock.advance(START_TIMEOUT_MS - 1);
      expect((await bench.look([NIGHTLY])).lost).toEqual([]);
      expect(await bench.heldAt("runs")).toBe(1);
      bench.clock.advance(1);
      expect((await bench.look([NIGHTLY])).lost).toMatchObject([
        { id: "r", attempt: 1, options: newRun("r").options },
      ]);
      expect(await bench.heldAt("runs")).toBe(0);
    },
  );

  test("that has started is never lost, however long it takes and whoever goes", async () => {
    const bench = await fresh();
    await started(bench, "r");
    bench.clock.advance(365 * 86_400_000);
    await bench.store.tend();
    expect((await bench.look([NIGHTLY])).lost).toEqual([]);
    expect(await bench.heldAt("runs")).toBe(1);
  });

  test("and its session are no business of those who ask for tasks, queues and workers", async () => {
    const bench = await fresh();
    await bench.store.submit([newRun("q"), newRun("later", { delayMs: 9 })]);
    await started(bench, "r", "fetch");
    await bench.intake();
    expect((await bench.store.tasks({ limit: 9 })).map(({ id }) => id)).toEqual(["r-fetch"]);
    expect(await bench.store.tasks({ limit: 9, queue: RUNS })).toEqual([]);
    expect((await bench.store.queues()).map(({ name }) => name)).toEqual(["mail"]);
    expect(await bench.store.sessions()).toEqual([]);
    expect((await bench.store.inspect()).sessions).toEqual([]);
  });

  test("contradicts nothing, wherever it is", async () => {
    const bench = await fresh();
    await bench.store.submit([newRun("q"), newRun("later", { delayMs: 9 }), newRun("gone")]);
    await bench.store.cancelRun("gone", "ann");
    await started(bench, "r", "fetch", "store");
    const broken = async () => Object.values((await bench.store.inspect()).broken).flatMap(({ ids }) => ids);
    expect(await broken()).toEqual([]);
    await bench.session();
    await bench.claim(["r-fetch"]);
    expect(await broken()).toEqual([]);
    await bench.store.cancelRun("r", "ann");
    expect(await broken()).toEqual([]);
    await look(bench);
    expect(await broken()).toEqual([]);
  });

  test("may take over what another run has done", async () => {
    const bench = await fresh();
    await bench.session();
    await started(bench, "r", "fetch");
    await bench.report(await bench.claimOne("r-fetch"), { to: "succeeded", body: "42" }, [newsOf("r")]);
    const done = { name: "fetch", state: "succeeded", unit: "r-fetch", body: null } as const;
    const skipped = { name: "mail", state: "skipped", unit: null, body: '{"by":"condition"}' } as const;
    await bench.store.submit([newRun("again", { rerunOf: "r", steps: [skipped, done] })]);
    const detail = await bench.store.run("again");
    expect(detail?.run.rerunOf).toBe("r");
    expect(detail?.steps).toMatchObject([
      { ...done, ended: null, task: "send", place: "succeeded", result: "42" },
      { ...skipped, ended: null, task: null, place: null, attempt: 0, result: null },
    ]);
    await letIn(bench, "again");
    const seen = (await look(bench)).find(({ id }) => id === "again");
    expect(seen?.steps).toEqual([
      { ...done, ended: null, answer: null, fan: null },
      { ...skipped, ended: null, answer: null, fan: null },
    ]);
  });

  test("shows its steps with what their units tell", async () => {
    const bench = await fresh();
    await bench.session();
    await started(bench, "r", "fetch", "store");
    const at = bench.clock.now();
    bench.clock.advance(5);
    const claim = await bench.claimOne("r-fetch");
    await bench.store.progress([{ id: "r-fetch", epoch: claim.epoch, value: "0.5" }]);
    const unit = {
      task: "send",
      ofRun: "r",
      ended: null,
      fan: null,
      items: null,
      enqueuedAt: at,
      finishedAt: null,
      wait: null,
      result: null,
    };
    expect((await bench.store.run("r"))?.steps).toEqual([
      {
        ...unit,
        name: "fetch",
        state: "open",
        unit: "r-fetch",
        body: null,
        place: "running",
        attempt: 1,
        claimedAt: at + 5,
        inLine: [{ from: at, until: at + 5 }],
        progress: "0.5",
      },
      {
        ...unit,
        name: "store",
        state: "open",
        unit: "r-store",
        body: null,
        place: "waiting",
        attempt: 0,
        claimedAt: null,
        inLine: [{ from: at, until: null }],
        progress: null,
      },
    ]);
    bench.clock.advance(5);
    await bench.report(claim, { to: "failed", body: '{"code":"NO"}' }, [newsOf("r")]);
    expect((await bench.store.run("r"))?.steps[0]).toMatchObject({
      ended: "failed",
      place: "failed",
      claimedAt: at + 5,
      finishedAt: at + 10,
      progress: null,
      result: '{"code":"NO"}',
    });
  });

  test("is listed with others, the newest first, by state, workflow and tag, page by page", async () => {
    const bench = await fresh();
    await bench.store.submit([
      newRun("a"),
      newRun("b", { namespace: "team", tags: '{"tenant":"acme-west","env":"prod"}' }),
      newRun("c", { name: "hourly", lane: { ...NIGHTLY, id: "hourly", task: "hourly" } }),
      newRun("d", { direct: true, tags: "{}" }),
    ]);
    await bench.store.cancelRun("a", "ann");
    await bench.enqueue("task");
    const ids = async (filter: Partial<RunFilter>) =>
      (await bench.store.runs({ limit: 9, ...filter })).map(({ id }) => id);
    expect(await ids({})).toEqual(["d", "c", "b", "a"]);
    expect(await ids({ limit: 2 })).toEqual(["d", "c"]);
    expect(await ids({ limit: 2, before: "c" })).toEqual(["b", "a"]);
    expect(await ids({ workflow: "hourly" })).toEqual(["c"]);
    expect(await ids({ state: "queued" })).toEqual(["c", "b"]);
    expect(await ids({ state: "notStarted" })).toEqual(["d"]);
    expect(await ids({ state: "cancelled" })).toEqual(["a"]);
    expect(await ids({ state: "started" })).toEqual([]);
    expect(await ids({ namespace: "team" })).toEqual(["b"]);
    expect(await ids({ namespace: "default" })).toEqual(["d", "c", "a"]);
    expect(await ids({ tag: "tenant" })).toEqual(["c", "b", "a"]);
    expect(await ids({ tag: "tenant=acme" })).toEqual(["c", "a"]);
    expect(await ids({ tag: "env=prod" })).toEqual(["b"]);
    expect(await ids({ tag: "acme" })).toEqual([]);
  });

  test("and its steps are not put back in line one by one", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue(newTask("plain", { lane: MAIL }));
    await started(bench, "r", "fetch");
    for (const id of ["plain", "r-fetch", "r"]) await bench.store.cancel(id, "ann");
    expect(await bench.store.retry("r-fetch", "bob")).toBeUndefined();
    expect(await bench.store.retry("r", "bob")).toBeUndefined();
    expect(await bench.store.retry("plain", "bob")).toEqual({ was: "cancelled" });
    expect(await stateOf(bench, "r")).toBe("cancelled");
  });
}
