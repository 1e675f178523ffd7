import { expect, test } from "vitest";
import { TOPIC } from "../../core/change.ts";
import type { Fresh } from "./bench.ts";
import { BILL, MAIL, NOTHING, newTask, scopeOf } from "./bench.ts";
import { FeedReader } from "./feed-bench.ts";
import { gateOf, laneOfSteps, leaveNews, letIn, move, newRun, open, started, unitOf } from "./run-bench.ts";

export function feedRunSuite(fresh: Fresh<"feed" | "runs" | "steering">): void {
  test("records what one of many listeners wants, by topic, task, queue and run", async () => {
    const bench = await fresh();
    await bench.session();
    const ends = await FeedReader.open(bench, "l1", { topics: TOPIC.ended, task: "bill" });
    const money = await FeedReader.open(bench, "l2", { topics: TOPIC.enqueued, queue: "money" });
    const run = await FeedReader.open(bench, "l3", { run: "r1" });
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

  test("tells the priority of a run that is admitted, and the slots of a prefetched step that starts", async () => {
    const bench = await fresh();
    await bench.session();
    const reader = await FeedReader.open(bench, "l");
    await bench.store.submit([{ ...newRun("q"), priority: 3 }]);
    await letIn(bench, "q");
    await started(bench, "r", "fetch");
    const { id, epoch } = await bench.claimOne("r-fetch", { held: false });
    await bench.store.pass(scopeOf([laneOfSteps("r")]), () => ({ ...NOTHING, start: [{ id, epoch }] }));
    const news = await reader.news();
    const dataOf = (subject: string, kind: string): unknown =>
      JSON.parse(news.find((each) => each.subject === subject && each.kind === kind)?.data ?? "null");
    expect(dataOf("q", "TaskClaimed")).toEqual({ priority: 3 });
    expect(dataOf("r", "TaskClaimed")).toEqual({ priority: 0 });
    expect(dataOf("r-fetch", "TaskClaimed")).toEqual({ attempt: 1, epoch, session: "s1" });
    expect(dataOf("r-fetch", "TaskStarted")).toEqual({ asks: JSON.parse(laneOfSteps("r").asks) });
  });

  test("tells of a run and its steps, to its end and in order", async () => {
    const bench = await fresh();
    await bench.session();
    const reader = await FeedReader.open(bench, "l", { run: "r" });
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
    const reader = await FeedReader.open(bench, "l", { topics: TOPIC.run });
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
    const reader = await FeedReader.open(bench, "l");
    await bench.store.cancelRun("r", "ann");
    const told = await reader.told();
    expect(told.slice(0, -1).sort()).toEqual(["r-one TaskCancelled", "r-two TaskCancelled"]);
    expect(told.at(-1)).toBe("r TaskCancelled");
  });
}
