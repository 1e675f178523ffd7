import { expect, test } from "vitest";
import type { Fresh } from "./bench.ts";
import { letIn, look, move, NIGHTLY, newRun, newsOf } from "./run-bench.ts";
import {
  answersOf,
  beginning,
  contradictions,
  endAnswered,
  forPaid,
  lasting,
  send,
  waiting,
} from "./wait-bench.ts";

const NAP = { run: "r", step: "nap" };

export function waitingSuite(fresh: Fresh<"runs" | "waits" | "steering" | "inspection">): void {
  test("is told with what it waits for and since when, also after its run is over", async () => {
    const bench = await fresh();
    const since = bench.clock.now();
    await waiting(bench, "r", { nap: lasting(500) });
    const told = '{"for":"sleep","ms":500}';
    const seen = async () => (await bench.store.run("r"))?.steps[0];
    expect(await seen()).toMatchObject({
      name: "nap",
      state: "open",
      unit: null,
      wait: { since, told, answeredAt: null, answer: null },
    });
    bench.clock.advance(500);
    expect(await bench.store.lapseWait(NAP)).toBe(true);
    const answered = { since, told, answeredAt: since + 500, answer: '{"how":"time","state":"succeeded"}' };
    expect((await seen())?.wait).toEqual(answered);
    await move(bench, "r", { finish: { state: "succeeded", body: "1" } });
    expect((await seen())?.wait).toEqual(answered);
    expect((await bench.store.run("r"))?.run).toMatchObject({ startedAt: since, finishedAt: since + 500 });
    expect(await bench.history("r/nap")).toEqual(["1 StepWaiting", "2 StepAnswered"]);
  });

  test("has a timer, from now or at an instant, that goes with its answer", async () => {
    const bench = await fresh();
    const now = bench.clock.now();
    await waiting(bench, "r", {
      nap: lasting(500),
      monday: lasting(0, { until: { at: now + 200 } }),
      paid: forPaid({}),
    });
    const timers = async () => (await bench.store.timers()).due.map(({ id, kind, at }) => [id, kind, at]);
    expect((await bench.store.timers()).nextAt).toBe(now + 200);
    bench.clock.advance(500);
    expect(await timers()).toEqual([
      ["r/monday", "wait", now + 200],
      ["r/nap", "wait", now + 500],
    ]);
    await bench.store.lapseWait({ run: "r", step: "monday" });
    await bench.store.answerWait(NAP, { state: "failed", body: '"no"', told: "{}" });
    expect(await timers()).toEqual([]);
  });

  test("has its first answer only, whoever comes later", async () => {
    const bench = await fresh();
    await waiting(bench, "r", { nap: lasting(500) });
    const answer = { state: "failed", body: '"no"', told: '{"how":"rejected","by":"ana"}' } as const;
    expect(await bench.store.answerWait(NAP, answer)).toBe(true);
    expect(await bench.store.answerWait(NAP, { ...answer, state: "succeeded" })).toBe(false);
    expect(await bench.store.lapseWait(NAP)).toBe(false);
    expect(await answersOf(bench, "r")).toEqual(["nap failed"]);
    expect((await bench.store.run("r"))?.steps[0]?.wait?.answer).toBe(
      '{"how":"rejected","by":"ana","state":"failed"}',
    );
    expect(await bench.store.answerWait({ run: "r", step: "nobody" }, answer)).toBeUndefined();
    expect(await bench.store.lapseWait({ run: "nobody", step: "nap" })).toBe(false);
  });

  test("does not lapse if it has no time", async () => {
    const bench = await fresh();
    await waiting(bench, "r", { paid: forPaid({}) });
    expect(await bench.store.lapseWait({ run: "r", step: "paid" })).toBe(false);
    expect(await answersOf(bench, "r")).toEqual([]);
  });

  test("ends with its answer, which the step keeps", async () => {
    const bench = await fresh();
    await waiting(bench, "r", { nap: lasting(500), paid: forPaid({}) });
    await bench.store.lapseWait(NAP);
    expect(await endAnswered(bench, "r")).toEqual({ "nap succeeded": '"late"', "paid open": null });
    expect(await look(bench)).toEqual([]);
    await send(bench, "s", { big: "payload" });
    expect(await endAnswered(bench, "r")).toEqual({
      "nap succeeded": '"late"',
      "paid succeeded": '{"big":"payload"}',
    });
    expect(await bench.store.answerWait(NAP, { state: "failed", body: null, told: "{}" })).toBe(false);
    expect(await contradictions(bench)).toEqual([]);
  });

  test.each(["ends", "fails", "is cancelled"] as const)("is gone if its run %s", async (how) => {
    const bench = await fresh();
    await waiting(bench, "r", { nap: lasting(500), paid: forPaid({}) });
    if (how === "ends") await bench.store.lapseWait(NAP);
    if (how === "ends") await move(bench, "r", { finish: { state: "succeeded", body: "1" } });
    if (how === "fails") await bench.store.failRun("r", '{"message":"no"}');
    if (how === "is cancelled") await bench.store.cancelRun("r", "ana");
    expect(await send(bench, "s", {})).toMatchObject({ created: true, woken: 0 });
    bench.clock.advance(500);
    expect((await bench.store.timers()).due).toEqual([]);
    expect(await bench.store.answerWait({ run: "r", step: "paid" }, ANSWER)).toBeUndefined();
    expect(await contradictions(bench)).toEqual([]);
  });

  test("of a paused run is answered, and a resumed run is looked at", async () => {
    const bench = await fresh();
    await waiting(bench, "r", { nap: lasting(500) });
    await bench.store.pauseRun("r", true, "ana");
    await bench.store.lapseWait(NAP);
    expect((await look(bench)).map(({ id, paused }) => [id, paused])).toEqual([["r", true]]);
    await bench.store.pauseRun("r", false, "ana");
    expect((await look(bench)).map(({ id, paused }) => [id, paused])).toEqual([["r", false]]);
  });

  test("may begin while another one of its run has an answer", async () => {
    const bench = await fresh();
    await waiting(bench, "r", { nap: lasting(500) });
    await bench.store.lapseWait(NAP);
    await move(bench, "r", { steps: [beginning("two", lasting(1))], again: true });
    expect(await answersOf(bench, "r")).toEqual(["nap succeeded"]);
  });

  test("lets its run rest: the slots are free, and it comes back in its old place", async () => {
    const bench = await fresh();
    await waiting(bench, "r", { nap: lasting(500) });
    const at = bench.clock.now();
    expect(await bench.heldAt("runs")).toBe(1);
    await bench.store.pauseRun("r", false, "ana");
    const rested = await move(bench, "r", { claim: "rest" });
    expect(rested.freed.map(({ id }) => id)).toEqual([NIGHTLY.id]);
    expect(await bench.heldAt("runs")).toBe(0);
    bench.clock.advance(500);
    await bench.store.lapseWait(NAP);
    expect((await look(bench))[0]).toMatchObject({ started: true, holds: false, resumes: false });
    await bench.store.submit([newRun("later")]);
    await bench.store.pauseRun("r", false, "ana");
    await move(bench, "r", { claim: "line" });
    expect((await bench.store.run("r"))?.run).toMatchObject({ state: "queued", startedAt: at });
    expect(await contradictions(bench)).toEqual([]);
    await bench.intake();
    expect((await bench.look([NIGHTLY])).heads.map(({ id }) => id)).toEqual(["r", "later"]);
    await letIn(bench, "r");
    expect((await look(bench))[0]).toMatchObject({ started: false, holds: true, resumes: true });
    await bench.claim([], { news: [newsOf("r")] });
    await move(bench, "r", { start: { gates: [], timeoutMs: null, again: true } });
    expect((await bench.store.run("r"))?.run).toMatchObject({ state: "started", startedAt: at });
    expect(await bench.heldAt("runs")).toBe(1);
    expect(await bench.history("r")).toEqual([
      "1 TaskEnqueued",
      "2 TaskClaimed",
      "3 TaskReturned",
      "4 TaskClaimed",
    ]);
  });

  test.each(["cancelled", "failed"] as const)("of a run that is %s in line again is gone", async (how) => {
    const bench = await fresh();
    await waiting(bench, "r", { nap: lasting(500), paid: forPaid({}) });
    await bench.store.pauseRun("r", false, "ana");
    await move(bench, "r", { claim: "rest" });
    await bench.store.pauseRun("r", false, "ana");
    await move(bench, "r", { claim: "line" });
    if (how === "cancelled") expect(await bench.store.cancelRun("r", "ana")).toEqual({ was: "queued" });
    else expect(await bench.store.failRun("r", '{"message":"too long"}')).toBe(true);
    expect((await bench.store.run("r"))?.run.state).toBe(how);
    expect(await send(bench, "s", {})).toMatchObject({ woken: 0 });
    expect(await bench.store.timers()).toMatchObject({ due: [], nextAt: null });
    expect(await contradictions(bench)).toEqual([]);
  });
}

const ANSWER = { state: "succeeded", body: "1", told: "{}" } as const;
