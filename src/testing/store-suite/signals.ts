import { expect, test } from "vitest";
import type { Fresh } from "./bench.ts";
import { move, newRun } from "./run-bench.ts";
import {
  answersOf,
  contradictions,
  endAnswered,
  forPaid,
  lasting,
  paid,
  send,
  stepsOf,
  waiting,
} from "./wait-bench.ts";

export function signalSuite(fresh: Fresh<"runs" | "waits" | "steering" | "inspection">): void {
  test("answers the steps that wait for its event and match", async () => {
    const bench = await fresh();
    await waiting(bench, "a", { paid: forPaid({ order: "a" }) });
    await waiting(bench, "b", { paid: forPaid({ order: "b" }) });
    await waiting(bench, "c", { paid: forPaid({ amount: 2, order: "a" }) });
    await waiting(bench, "d", { paid: forPaid({}) });
    expect(await bench.store.signal(paid("s", { order: "a" }, { event: "sent" }))).toMatchObject({
      woken: 0,
    });
    expect(await send(bench, "s1", { order: "a", amount: 1 })).toEqual({ id: "s1", created: true, woken: 2 });
    expect(await send(bench, "s2", { amount: 2, order: "a", more: [1] })).toMatchObject({ woken: 1 });
    expect(await send(bench, "s3", { order: 1, amount: "2" })).toMatchObject({ woken: 0 });
    expect(await endAnswered(bench, "c")).toEqual({
      "paid succeeded": '{"amount":2,"order":"a","more":[1]}',
    });
    expect((await bench.store.run("b"))?.steps[0]?.state).toBe("open");
    expect((await bench.store.run("d"))?.steps[0]).toMatchObject({
      state: "succeeded",
      body: '{"order":"a","amount":1}',
    });
    expect(await contradictions(bench)).toEqual([]);
  });

  test("whose payload is no object answers only steps that compare nothing", async () => {
    const bench = await fresh();
    await waiting(bench, "a", { paid: forPaid({ 0: "x" }) });
    await waiting(bench, "b", { paid: forPaid({}) });
    expect(await send(bench, "s", ["x"])).toMatchObject({ woken: 1 });
    expect(await answersOf(bench, "b")).toEqual(["paid succeeded"]);
  });

  test("tells values of different types and names apart", async () => {
    const bench = await fresh();
    await waiting(bench, "a", { paid: forPaid({ n: 1 }) });
    for (const [id, payload] of Object.entries({
      a: { n: "1" },
      b: { n: true },
      c: { N: 1 },
      d: { n: null },
    }))
      expect(await send(bench, id, payload)).toMatchObject({ woken: 0 });
    expect(await send(bench, "e", { n: 1 })).toMatchObject({ woken: 1 });
  });

  test("answers one step of a run: the one that has waited longest", async () => {
    const bench = await fresh();
    await waiting(bench, "r", { late: forPaid({}) });
    bench.clock.advance(1);
    await bench.store.pauseRun("r", false, "ana");
    await move(bench, "r", { steps: stepsOf({ early: forPaid({ order: "a" }) }) });
    expect(await send(bench, "s1", { order: "a" })).toMatchObject({ woken: 1 });
    expect(await answersOf(bench, "r")).toEqual(["late succeeded"]);
    expect(await send(bench, "s2", { order: "a" })).toMatchObject({ woken: 1 });
    expect(await send(bench, "s3", { order: "a" })).toMatchObject({ woken: 0 });
    expect(await endAnswered(bench, "r")).toMatchObject({ "early succeeded": '{"order":"a"}' });
  });

  test("is taken by a step that begins to wait later, one signal by one step of a run", async () => {
    const bench = await fresh();
    await bench.store.submit([newRun("r", { direct: true })]);
    await bench.store.submit([newRun("q", { direct: true })]);
    bench.clock.advance(1);
    await send(bench, "s1", { order: "a" });
    bench.clock.advance(1);
    await send(bench, "s2", { order: "a", amount: 2 });
    await send(bench, "s3", { order: "b" });
    const waits = { one: forPaid({ order: "a" }), two: forPaid({ order: "a" }), three: forPaid({}) };
    await move(bench, "r", { start: { gates: [], timeoutMs: null }, steps: stepsOf(waits) });
    const answers = (await bench.store.run("r"))?.steps.map(({ name, wait }) => [name, wait?.answer]);
    const taken = (signal: string) => JSON.stringify({ how: "signal", signal, state: "succeeded" });
    expect(new Map(answers as [string, string][])).toEqual(
      new Map([
        ["one", taken("s1")],
        ["two", taken("s2")],
        ["three", taken("s3")],
      ]),
    );
    expect(await endAnswered(bench, "r")).toMatchObject({ "one succeeded": '{"order":"a"}' });
    await bench.store.pauseRun("r", false, "ana");
    await move(bench, "r", { steps: stepsOf({ four: forPaid({ order: "a" }) }) });
    expect((await bench.store.run("r"))?.steps.find(({ name }) => name === "four")?.state).toBe("open");
    expect(await answersOf(bench, "r")).toEqual([]);
    await bench.store.pauseRun("q", false, "ana");
    await move(bench, "q", { steps: stepsOf({ both: forPaid({ amount: 2, order: "a" }) }) });
    expect(await contradictions(bench)).toEqual([]);
    expect(await answersOf(bench, "q")).toEqual(["both succeeded"]);
  });

  test("is not taken if it was sent before the run was submitted, or is no longer kept", async () => {
    const bench = await fresh();
    await send(bench, "old", { order: "a" });
    bench.clock.advance(1);
    await bench.store.submit([newRun("r", { direct: true })]);
    await send(bench, "short", { order: "a" }, { keepMs: 10 });
    bench.clock.advance(10);
    await move(bench, "r", {
      start: { gates: [], timeoutMs: null },
      steps: stepsOf({ one: forPaid({ order: "a" }), all: forPaid({}) }),
    });
    expect(await answersOf(bench, "r")).toEqual([]);
    bench.clock.advance(120_000);
    await bench.store.tend();
    expect(await send(bench, "new", { order: "a" })).toMatchObject({ woken: 1 });
  });

  test("with the key of another one changes nothing while that is kept", async () => {
    const bench = await fresh();
    await waiting(bench, "r", { one: forPaid({}), two: forPaid({}) });
    expect(await send(bench, "s1", 1, { key: "k", keepMs: 10 })).toMatchObject({ created: true, woken: 1 });
    expect(await send(bench, "s2", 2, { key: "k" })).toEqual({ id: "s1", created: false, woken: 0 });
    expect(await send(bench, "s3", 2, { key: "k", event: "sent" })).toMatchObject({ created: true });
    bench.clock.advance(10);
    expect(await send(bench, "s4", 3, { key: "k" })).toEqual({ id: "s4", created: true, woken: 1 });
    expect(Object.values(await endAnswered(bench, "r")).sort()).toEqual(["1", "3"]);
  });

  test("that comes at the same time as the time of the wait: exactly one of them wins", async () => {
    const bench = await fresh();
    const names = Array.from({ length: 8 }, (_, n) => `r${n}`);
    for (const run of names) await waiting(bench, run, { paid: lasting(500, forTime()) });
    bench.clock.advance(500);
    const wins = await Promise.all(
      names.flatMap((run) => [
        bench.store.lapseWait({ run, step: "paid" }).then((done) => (done ? 1 : 0)),
        send(bench, `s ${run}`, { run }).then(({ woken }) => woken),
      ]),
    );
    // A signal that matches every run answers each that has no answer yet.
    expect(wins.reduce<number>((sum, one) => sum + one, 0)).toBe(names.length);
    expect(await contradictions(bench)).toEqual([]);
  });
}

const forTime = () => ({ event: { name: "paid", match: [] } });
