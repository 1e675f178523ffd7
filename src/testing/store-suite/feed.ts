import { expect, test } from "vitest";
import type { Change, Listener, Page } from "../../store/feed.ts";
import { ALL_TOPICS, LEAST_KEEP_MS, TOPIC } from "../../store/feed.ts";
import type { Moves } from "../../store/store.ts";
import type { Bench, Fresh } from "./bench.ts";
import { BILL, MAIL, NOTHING, newTask, scopeOf } from "./bench.ts";
import { gateOf, leaveNews, letIn, move, newRun, open, started, unitOf } from "./run-bench.ts";

const EVERYTHING: Omit<Listener, "id"> = {
  topics: ALL_TOPICS,
  run: null,
  task: null,
  queue: null,
  keepMs: LEAST_KEEP_MS,
};

/** Somebody who reads the feed on the workbench. */
class Reader {
  readonly #bench: Bench;
  readonly id: string;
  position: number;

  private constructor(bench: Bench, id: string, position: number) {
    this.#bench = bench;
    this.id = id;
    this.position = position;
  }

  static async open(bench: Bench, id: string, more: Partial<Listener> = {}): Promise<Reader> {
    return new Reader(bench, id, await bench.store.follow([{ ...EVERYTHING, id, ...more }]));
  }

  look(limit = 1_000): Promise<Page> {
    return this.#bench.store.changes({ after: this.position, limit, listeners: [this.id] });
  }

  /** What has come since, in as many pages as it takes. */
  async news(limit?: number): Promise<Change[]> {
    const all: Change[] = [];
    for (;;) {
      const { changes, more, lapsed, alive } = await this.look(limit);
      expect([lapsed, alive.has(this.id)]).toEqual([false, true]);
      for (const change of changes) {
        expect(change.position).toBe(this.position + 1);
        this.position = change.position;
      }
      all.push(...changes);
      if (!more) return all;
    }
  }

  /** As "a TaskEnqueued". */
  async told(limit?: number): Promise<string[]> {
    return (await this.news(limit)).map(({ subject, kind }) => `${subject} ${kind}`);
  }
}

async function recover(bench: Bench): Promise<void> {
  await bench.store.pass(scopeOf([], { session: "s2" }), ({ lost }): Moves => {
    return { ...NOTHING, recover: lost.map(({ id, epoch }) => ({ id, epoch, to: "retry", body: "{}" })) };
  });
}

/** Everything that a unit's history can tell. */
async function live(bench: Bench): Promise<readonly string[]> {
  await bench.session("s1", { leaseMs: 10_000 });
  await bench.session("s2", { leaseMs: 900_000 });
  await bench.enqueue("done", "failed", "retried", "soon", "returned", "cancelled", "ahead", "lost");
  await bench.enqueue(newTask("late", { delayMs: 500 }), newTask("over", { goodForMs: 100 }));
  await bench.enqueue(newTask("keyed", { key: "k" }), newTask("twin", { key: "k" }));
  await bench.store.reprioritize("cancelled", 7, "ann");
  await bench.report(await bench.claimOne("done"), { to: "succeeded", body: "1" });
  await bench.report(await bench.claimOne("failed"), { to: "failed", body: '{"message":"no"}' });
  await bench.store.retry("failed", "ann");
  await bench.report(await bench.claimOne("retried"), { to: "retry", delayMs: 50, body: '{"x":1}' });
  await bench.report(await bench.claimOne("soon"), { to: "retry", delayMs: 0, body: null });
  await bench.report(await bench.claimOne("returned"), { to: "returned" });
  await bench.store.cancel("cancelled", "ann");
  const ahead = await bench.claimOne("ahead", { held: false });
  await bench.store.pass(scopeOf([]), () => ({ ...NOTHING, start: [ahead] }));
  const noted = { id: ahead.id, epoch: ahead.epoch, data: '"hello"' };
  await bench.store.note([
    { ...noted, kind: "TaskLogged" },
    { ...noted, kind: "TaskLogged" },
  ]);
  await bench.claimOne("lost", { claimLeaseMs: 5_000 });
  bench.clock.advance(10_000);
  await bench.store.tend();
  await recover(bench);
  const all = ["done", "failed", "retried", "soon", "returned", "cancelled", "ahead", "lost"];
  return [...all, "late", "over", "keyed"];
}

export function feedSuite(fresh: Fresh): void {
  test("tells what happens from the moment somebody listens, and nothing before", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("before");
    const reader = await Reader.open(bench, "l");
    await bench.enqueue("a");
    const claim = await bench.claimOne("a");
    await bench.report(claim, { to: "succeeded", body: "7" });
    const at = bench.clock.now();
    const place = { subject: "a", run: null, step: null, item: null, task: "send", queue: "mail", at };
    expect(await reader.news()).toEqual([
      { ...place, position: expect.any(Number), kind: "TaskEnqueued", n: 1, data: '{"priority":0}' },
      {
        ...place,
        position: expect.any(Number),
        kind: "TaskClaimed",
        n: 2,
        data: `{"attempt":1,"epoch":${claim.epoch},"session":"s1"}`,
      },
      { ...place, position: expect.any(Number), kind: "TaskSucceeded", n: 3, data: null },
    ]);
    expect(await reader.news()).toEqual([]);
  });

  test("tells the whole history of every unit, each event once and in order", async () => {
    const bench = await fresh();
    const reader = await Reader.open(bench, "l");
    const units = await live(bench);
    const told = await reader.news(7);
    for (const unit of units) {
      const heard = told.filter(({ subject }) => subject === unit);
      const history = await bench.store.events(unit);
      expect(heard.map(({ n, kind, data }) => [n, kind, data])).toEqual(
        history.map(({ n, kind, data }) => [n, kind, data]),
      );
    }
    expect(told.some(({ subject }) => subject === "twin")).toBe(false);
  });

  test("records nothing of what is undone", async () => {
    const bench = await fresh();
    await bench.session();
    const reader = await Reader.open(bench, "l");
    await bench.enqueue("a");
    await bench.store.probe(scopeOf([MAIL]), () => ({ ...NOTHING, claim: [{ id: "a", held: true }] }));
    expect(await reader.told()).toEqual(["a TaskEnqueued"]);
  });

  test("records nothing of a report that comes too late", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    const claim = await bench.claimOne("a");
    await bench.report(claim, { to: "succeeded", body: "1" });
    const reader = await Reader.open(bench, "l");
    expect(await bench.report(claim, { to: "failed", body: "{}" })).toBe(false);
    expect(await reader.told()).toEqual([]);
  });

  test("records what one of many listeners wants, by topic, task, queue and run", async () => {
    const bench = await fresh();
    await bench.session();
    const ends = await Reader.open(bench, "l1", { topics: TOPIC.ended, task: "bill" });
    const money = await Reader.open(bench, "l2", { topics: TOPIC.enqueued, queue: "money" });
    const run = await Reader.open(bench, "l3", { run: "r1" });
    await bench.enqueue("mail", newTask("bill", { lane: BILL }));
    await started(bench, "r1", "fetch");
    await started(bench, "r2", "fetch");
    for (const id of ["mail", "bill"]) await bench.store.cancel(id, "ann");
    const told = await ends.told();
    expect(told.sort()).toEqual(
      [
        "bill TaskCancelled",
        "bill TaskEnqueued",
        "r1 RunStarted",
        "r1 TaskClaimed",
        "r1 TaskEnqueued",
        "r1-fetch TaskEnqueued",
      ].sort(),
    );
    expect((await money.told()).sort()).toEqual(told);
    expect(await run.told()).toHaveLength(told.length);
  });

  test("tells of a run and its steps, to its end and in order", async () => {
    const bench = await fresh();
    await bench.session();
    const reader = await Reader.open(bench, "l", { run: "r" });
    await bench.store.submit([newRun("r")]);
    await letIn(bench, "r");
    await move(bench, "r", {
      start: { gates: [{ key: gateOf("r"), limit: 2 }], timeoutMs: null },
      steps: [open("r", "fetch"), { name: "store", state: "skipped", unit: null, body: '{"because":"x"}' }],
      enqueue: [unitOf("r", "fetch")],
    });
    await bench.store.pauseRun("r", true, "ann");
    await bench.store.pauseRun("r", false, "ann");
    await bench.report(await bench.claimOne("r-fetch"), { to: "retry", delayMs: 9 });
    await leaveNews(bench, "r");
    await move(bench, "r", { finish: { state: "succeeded", body: "1" } });
    const news = await reader.news();
    expect(news.map(({ subject, step, kind }) => `${subject} ${step} ${kind}`)).toEqual([
      "r null TaskEnqueued",
      "r null TaskClaimed",
      "r null RunStarted",
      "r store StepSkipped",
      "r-fetch fetch TaskEnqueued",
      `${gateOf("r")} null GatePaused`,
      "r null RunPaused",
      `${gateOf("r")} null GateResumed`,
      "r null RunResumed",
      "r-fetch fetch TaskClaimed",
      "r-fetch fetch TaskRetried",
      "r-fetch fetch TaskCancelled",
      "r null TaskSucceeded",
    ]);
    expect(new Set(news.map(({ run, subject }) => run ?? subject))).toEqual(new Set(["r"]));
  });

  test("tells of a list as a whole: that it began, and how it ended", async () => {
    const bench = await fresh();
    const reader = await Reader.open(bench, "l", { topics: TOPIC.run });
    await bench.store.submit([newRun("r", { direct: true })]);
    const fan = { lane: MAIL.id, total: 2, created: 1 };
    const list = { name: "all", state: "open", unit: null, body: null } as const;
    await move(bench, "r", { steps: [{ ...list, fan }], again: true });
    await move(bench, "r", { steps: [{ ...list, fan: { ...fan, created: 2 } }], again: true });
    await move(bench, "r", { steps: [{ ...list, state: "failed" }] });
    expect((await reader.news()).map(({ kind, step, data }) => [kind, step, data])).toEqual([
      ["StepReady", "all", '{"items":2}'],
      ["StepFailed", "all", null],
    ]);
  });

  test("tells what ends with a run, wherever it is", async () => {
    const bench = await fresh();
    await bench.session();
    await started(bench, "r", "one", "two");
    await bench.claimOne("r-one");
    const reader = await Reader.open(bench, "l");
    await bench.store.cancelRun("r", "ann");
    const told = await reader.told();
    expect(told.slice(0, -1).sort()).toEqual(["r-one TaskCancelled", "r-two TaskCancelled"]);
    expect(told.at(-1)).toBe("r TaskCancelled");
  });

  test("tells of gates: set, reset, paused, declared", async () => {
    const bench = await fresh();
    const reader = await Reader.open(bench, "l", { topics: TOPIC.gate });
    const mail = { app: "shop", queues: [{ name: "mail", rank: 1 }] };
    const gate = { key: "queue:mail", limit: 4, line: "skip" } as const;
    await bench.store.declare({ ...mail, gates: [gate] });
    await bench.store.declare({ ...mail, gates: [gate] });
    await bench.store.changeLimit({ key: "queue:mail", to: "value", limit: 2, by: "ann" });
    for (const to of ["paused", "resumed", "declared"] as const)
      await bench.store.changeLimit({ key: "queue:mail", to, by: "ann" });
    const news = await reader.news();
    expect(news.map(({ kind, queue, data }) => [kind, queue, data])).toEqual([
      ["LimitDeclared", "mail", '{"app":"shop","from":-1,"to":4}'],
      ["LimitChanged", "mail", '{"by":"ann","from":4,"to":2}'],
      ["GatePaused", "mail", '{"by":"ann","from":2,"to":2}'],
      ["GateResumed", "mail", '{"by":"ann","from":2,"to":2}'],
      ["LimitReset", "mail", '{"by":"ann","from":2,"to":4}'],
    ]);
  });

  test("tells of workers that start, stop and are lost, each once", async () => {
    const bench = await fresh();
    const reader = await Reader.open(bench, "l", { topics: TOPIC.worker });
    await bench.session("s1", { leaseMs: 10 });
    await bench.session("s2");
    await bench.store.closeSession("s2");
    bench.clock.advance(10);
    await bench.store.tend();
    await bench.store.tend();
    await bench.store.closeSession("s1");
    const news = await reader.news();
    expect(news.map(({ subject, kind, data }) => [subject, kind, data])).toEqual([
      ["s1", "WorkerStarted", '{"name":"worker s1","slots":4}'],
      ["s2", "WorkerStarted", '{"name":"worker s2","slots":4}'],
      ["s2", "WorkerStopped", '{"name":"worker s2"}'],
      ["s1", "WorkerLost", '{"name":"worker s1"}'],
    ]);
  });

  test("tells of lanes that are set aside and put back, and of triggers that are paused", async () => {
    const bench = await fresh();
    const reader = await Reader.open(bench, "l", { topics: TOPIC.lane + TOPIC.trigger });
    await bench.enqueue("a");
    await bench.store.setAside(MAIL, "it cannot be");
    await bench.store.restore("a", "ann");
    const trigger = { name: "sensor x", kind: "sensor", workflow: null, spec: "{}", paused: false } as const;
    await bench.store.declare({ app: "shop", queues: [], gates: [], triggers: [trigger] });
    await bench.store.pauseTrigger("sensor x", true, "ann");
    await bench.store.pauseTrigger("sensor x", false, "ann");
    expect((await reader.news()).map(({ subject, kind, queue }) => [subject, kind, queue])).toEqual([
      [MAIL.id, "LaneSetAside", "mail"],
      [MAIL.id, "LaneRestored", "mail"],
      ["sensor x", "TriggerPaused", null],
      ["sensor x", "TriggerResumed", null],
    ]);
  });

  test("wakes whoever listens to hints, when something was recorded", async () => {
    const bench = await fresh();
    const heard: string[] = [];
    const stop = await bench.store.listen((hint) => heard.push(hint));
    await bench.enqueue("a");
    const reader = await Reader.open(bench, "l");
    const woken = new Promise<void>((resolve) => {
      void bench.store.listen((hint) => hint === "feed" && resolve());
    });
    await bench.enqueue("b");
    await woken;
    expect(await reader.told()).toEqual(["b TaskEnqueued"]);
    await stop();
  });

  test("forgets a listener that is not renewed in time, and says so", async () => {
    const bench = await fresh();
    const kept = await Reader.open(bench, "kept");
    const left = await Reader.open(bench, "left");
    for (let third = 0; third < 4; third += 1) {
      bench.clock.advance(LEAST_KEEP_MS / 3);
      expect(await bench.store.keepFollowing(["kept"])).toEqual(new Set(["kept"]));
    }
    await bench.enqueue("a");
    expect(await kept.told()).toEqual(["a TaskEnqueued"]);
    expect((await left.look()).alive).toEqual(new Set());
    expect(await bench.store.keepFollowing(["left", "kept"])).toEqual(new Set(["kept"]));
    await bench.store.unfollow(["kept"]);
    await bench.enqueue("b");
    const { changes, alive } = await kept.look();
    expect([changes, alive]).toEqual([[], new Set()]);
  });

  test("goes on for another listener where one has come to, without a gap", async () => {
    const bench = await fresh();
    const first = await Reader.open(bench, "first", { keepMs: 600_000 });
    await bench.enqueue("a");
    await first.news();
    const from = { listener: "first", position: first.position };
    await bench.enqueue("b");
    bench.clock.advance(500_000);
    await bench.store.tend();
    await bench.enqueue("c");
    expect(await bench.store.resume({ ...EVERYTHING, id: "second", task: "send" }, from)).toBe(true);
    await bench.store.unfollow(["first"]);
    await bench.enqueue("d", newTask("other", { lane: BILL }));
    const { changes, alive } = await bench.store.changes({
      after: from.position,
      limit: 100,
      listeners: ["second"],
    });
    expect(changes.map(({ subject }) => subject)).toEqual(["b", "c", "d"]);
    expect(alive).toEqual(new Set(["second"]));
  });

  test("does not go on from a listener that is gone, wanted less, or began later", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    const wide = await Reader.open(bench, "wide");
    await bench.enqueue("b");
    await wide.news();
    const narrow = await Reader.open(bench, "narrow", { task: "bill", topics: TOPIC.ended });
    const resume = (listener: string, position: number, more: Partial<Listener> = {}): Promise<boolean> =>
      bench.store.resume({ ...EVERYTHING, id: `x${listener}${position}`, ...more }, { listener, position });
    expect(await resume("narrow", narrow.position)).toBe(false);
    expect(await resume("narrow", narrow.position, { task: "bill" })).toBe(false);
    expect(await resume("narrow", narrow.position - 1, { task: "bill", topics: TOPIC.ended })).toBe(false);
    expect(await resume("narrow", narrow.position, { task: "bill", topics: TOPIC.ended })).toBe(true);
    expect(await resume("wide", wide.position + 1)).toBe(false);
    bench.clock.advance(LEAST_KEEP_MS + 1);
    await bench.store.tend();
    expect(await resume("wide", wide.position)).toBe(false);
    expect(await resume("nobody", 0)).toBe(false);
  });

  test("lets go of changes that are older than anybody keeps, and says that they are gone", async () => {
    const bench = await fresh();
    const long = await Reader.open(bench, "long", { keepMs: 3 * LEAST_KEEP_MS });
    const begun = long.position;
    await bench.enqueue("a", "b");
    await long.news();
    const keep = async (): Promise<void> => {
      bench.clock.advance(2 * LEAST_KEEP_MS);
      await bench.store.keepFollowing(["long"]);
      await bench.store.tend();
    };
    await keep();
    long.position = begun;
    expect(await long.told()).toEqual(["a TaskEnqueued", "b TaskEnqueued"]);
    await keep();
    long.position = begun;
    expect(await long.look()).toMatchObject({ changes: [], lapsed: true });
    const from = { listener: "long", position: begun };
    expect(await bench.store.resume({ ...EVERYTHING, id: "late" }, from)).toBe(false);
  });

  test("reads tasks and runs by their ids", async () => {
    const bench = await fresh();
    await bench.enqueue("a", "b");
    await bench.store.cancel("b", "ann");
    const found = await bench.store.tasksById(["b", "nobody", "a"]);
    expect(found.sort((one, other) => (one.id < other.id ? -1 : 1))).toEqual([
      await bench.store.task("a"),
      await bench.store.task("b"),
    ]);
  });
}
