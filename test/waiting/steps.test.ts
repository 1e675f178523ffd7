// Steps that wait: for a time, an event or a person.

import { expect, test } from "vitest";
import type { Reference } from "../../src/index.ts";
import { event, task, workflow } from "../../src/index.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { statesOf, working } from "../runs/support/world.ts";

const paid = event<{ orderId: string; amount: number; currency?: string }>({ id: "paid" });
const note = task({ id: "note", run: (input: unknown) => input });

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("a step sleeps, and what comes after it starts then", async () => {
    const napping = workflow({
      id: "napping",
      steps: (s) => {
        const nap = s.sleep("nap", "50ms");
        return s.step("after", note, "awake", { after: [nap] });
      },
    });
    const sluice = await working(place, { tasks: [note], workflows: [napping] });
    const { id } = await sluice.submit(napping, undefined);
    const run = await sluice.runs.ended(id);
    expect(run).toMatchObject({ state: "succeeded", result: "awake" });
    const [nap, after] = run.steps;
    expect(nap).toMatchObject({
      state: "succeeded",
      task: null,
      result: null,
      wait: { for: "sleep", answer: { how: "time" } },
    });
    expect((nap?.wait?.answer?.at ?? 0) - (nap?.wait?.since ?? 0)).toBeGreaterThanOrEqual(50);
    expect(after?.enqueuedAt).toBeGreaterThanOrEqual(nap?.wait?.until ?? Number.POSITIVE_INFINITY);
  });

  test("a step waits for an event whose payload matches, and gets the payload", async () => {
    const buying = workflow({
      id: "buying",
      steps: (s, input: Reference<{ orderId: string }>) => {
        const payment = s.waitFor("payment", paid, { match: { orderId: input.orderId } });
        return s.step("note", note, { got: payment.output.amount });
      },
    });
    const sluice = await working(place, { tasks: [note], workflows: [buying] });
    const { id } = await sluice.submit(buying, { orderId: "a" });
    await until(async () => (await statesOf(sluice, id)).payment === "waiting", "it waits");
    expect(await sluice.signal(paid, { orderId: "b", amount: 1 })).toMatchObject({ woken: 0 });
    expect(await sluice.signal(paid, { orderId: "a", amount: 2 })).toMatchObject({ woken: 1 });
    expect(await sluice.signal(paid, { orderId: "a", amount: 3 })).toMatchObject({ woken: 0 });
    expect((await sluice.runs.ended(id)).result).toEqual({ got: 2 });
  });

  test("a step takes a signal that was sent before it began to wait", async () => {
    const buying = workflow({
      id: "buying",
      steps: (s, input: Reference<{ orderId: string }>) => {
        const first = s.step("first", note, input);
        return s.waitFor("payment", paid, { match: { orderId: input.orderId, amount: 2 }, after: [first] });
      },
    });
    const sluice = await working(place, { tasks: [note], workflows: [buying] });
    await sluice.queues.pause("default");
    const { id } = await sluice.submit(buying, { orderId: "a" });
    await sluice.signal(paid, { orderId: "a", amount: 1 });
    await sluice.signal(paid, { orderId: "b", amount: 2 });
    await sluice.signal(paid, { orderId: "a", amount: 2, currency: "EUR" });
    await sluice.queues.resume("default");
    expect((await sluice.runs.ended(id)).result).toEqual({ orderId: "a", amount: 2, currency: "EUR" });
  });

  test("a timeout fails the step, or gives it what it has instead", async () => {
    const patient = workflow({
      id: "patient",
      steps: (s) => {
        const one = s.waitFor("one", "never", { timeout: "30ms", mayFail: true });
        const two = s.waitFor("two", "never", { timeout: "30ms", otherwise: { late: true } });
        return s.step("note", note, { two: two.output }, { after: [one.failed] });
      },
    });
    const sluice = await working(place, { tasks: [note], workflows: [patient] });
    const { id } = await sluice.submit(patient, undefined);
    const run = await sluice.runs.ended(id);
    expect(run.result).toEqual({ two: { late: true } });
    expect(run.steps[0]).toMatchObject({ state: "failed", error: { code: "WAIT_TIMEOUT" } });
  });

  test("a person approves or rejects, if the step lets them", async () => {
    const releasing = workflow({
      id: "releasing",
      steps: (s, input: Reference<string>) => s.approve("release", { question: input, by: ["ana", "bob"] }),
    });
    const sluice = await working(place, { tasks: [note], workflows: [releasing] });
    const [one, two] = [await sluice.submit(releasing, "Now?"), await sluice.submit(releasing, "Later?")];
    for (const { id } of [one, two])
      await until(async () => (await statesOf(sluice, id)).release === "waiting", "it waits");
    await expect(sluice.runs.approve(one.id, "release", { by: "eve" })).rejects.toMatchObject({
      code: "NOT_ALLOWED",
    });
    await expect(sluice.runs.approve(one.id, "relaese", { by: "ana" })).rejects.toMatchObject({
      code: "UNKNOWN_STEP",
    });
    await sluice.runs.approve(one.id, "release", { by: "ana", note: "go" });
    await sluice.runs.reject(two.id, "release", { by: "bob" });
    await expect(sluice.runs.reject(one.id, "release", { by: "bob" })).rejects.toMatchObject({
      code: "NOT_WAITING",
    });
    const yes = await sluice.runs.ended(one.id);
    expect(yes).toMatchObject({ state: "succeeded", result: { approved: true, by: "ana", note: "go" } });
    const no = await sluice.runs.ended(two.id);
    expect(no).toMatchObject({ state: "failed" });
    expect(no.steps[0]).toMatchObject({ state: "failed", error: { code: "REJECTED", by: "bob" } });
  });
});
