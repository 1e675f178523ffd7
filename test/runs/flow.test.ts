// The flow of a run: conditions, failures, retries, timeouts, and reruns.

import { expect, test } from "vitest";
import type { Reference } from "../../src/index.ts";
import { equal, greater, less, not, task, when, workflow } from "../../src/index.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { statesOf, working } from "./support/world.ts";

const echo = task({ id: "echo", run: async (value: unknown) => value as string });
const fail = task({
  id: "fail",
  run: async () => {
    throw new Error("no luck");
  },
});

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("a step whose condition does not hold is skipped, those that need it too, and the others run", async () => {
    const measure = task({ id: "measure", run: async (size: number) => ({ size, kind: "box", tags: [] }) });
    const pack = workflow({
      id: "pack",
      steps: (s, input: Reference<{ size: number }>) => {
        const measured = s.step("measure", measure, input.size);
        const { size, kind, tags } = measured.output;
        const large = s.step("large", echo, "crane", { when: greater(size, 3) });
        const small = s.step("small", echo, "hand", { when: less(size, 4) });
        const afterSmall = s.step("afterSmall", echo, small.output);
        s.step("tagged", echo, "tag", { when: when(tags) });
        s.step("boxed", echo, "box", { when: not(equal(kind, "bag")) });
        const sent = s.step("send", echo, [large.output, small.output], {
          after: [large.finished, small.finished],
        });
        return { sent: sent.output, last: afterSmall.output };
      },
    });
    const sluice = await working(place, { tasks: [measure, echo], workflows: [pack] });
    const { id } = await sluice.submit(pack, { size: 5 });
    const run = await sluice.runs.ended(id);
    expect(run).toMatchObject({ state: "succeeded", result: { sent: ["crane", null], last: null } });
    expect(await statesOf(sluice, id)).toEqual({
      measure: "succeeded",
      large: "succeeded",
      small: "skipped",
      afterSmall: "skipped",
      tagged: "skipped",
      boxed: "succeeded",
      send: "succeeded",
    });
    const because = Object.fromEntries(run.steps.map((step) => [step.name, step.because]));
    expect(because.small).toEqual({ kind: "condition" });
    expect(because.afterSmall).toEqual({ kind: "need", step: "small", was: "skipped", wanted: "succeeded" });
  });

  test("a step that fails fails its run: what needs it is skipped, what handles it runs, other branches end", async () => {
    const cleaned: string[] = [];
    const clean = task({
      id: "clean",
      run: async (what: string) => {
        cleaned.push(what);
      },
    });
    const order = workflow({
      id: "order",
      steps: (s) => {
        const charge = s.step("charge", fail);
        const ship = s.step("ship", echo, "parcel", { after: [charge] });
        s.step("thank", echo, ship.output);
        s.step("refund", clean, "refund", { after: [charge.failed] });
        const stock = s.step("stock", echo, "stock");
        s.step("count", echo, stock.output);
        s.step("panic", clean, "panic", { after: [stock.failed] });
      },
    });
    const sluice = await working(place, { tasks: [fail, echo, clean], workflows: [order] });
    const { id } = await sluice.submit(order, undefined);
    const run = await sluice.runs.ended(id);
    expect(run).toMatchObject({ state: "failed", error: { code: "STEPS_FAILED", steps: ["charge"] } });
    expect(await statesOf(sluice, id)).toEqual({
      charge: "failed",
      ship: "skipped",
      thank: "skipped",
      refund: "succeeded",
      stock: "succeeded",
      count: "succeeded",
      panic: "skipped",
    });
    expect(run.steps.find(({ name }) => name === "charge")?.error).toMatchObject({ message: "no luck" });
    expect(cleaned).toEqual(["refund"]);
  });

  test("a step that may fail does not fail its run, and another takes its place", async () => {
    const fetch = workflow({
      id: "fetch",
      steps: (s) => {
        const fresh = s.step("fresh", fail, undefined, { mayFail: true });
        const stale = s.step("stale", echo, "yesterday", { after: [fresh.failed] });
        return stale;
      },
    });
    const sluice = await working(place, { tasks: [fail, echo], workflows: [fetch] });
    const { id } = await sluice.submit(fetch, undefined);
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "succeeded", result: "yesterday" });
    expect(await statesOf(sluice, id)).toEqual({ fresh: "failed", stale: "succeeded" });
  });

  test("a step is tried again as its options say, and its run goes on with what came of it", async () => {
    const flaky = task({
      id: "flaky",
      run: async (_: unknown, { attempt }) => {
        if (attempt < 3) throw new Error("not yet");
        return attempt;
      },
    });
    const patient = workflow({
      id: "patient",
      steps: (s) => {
        const tried = s.step("try", flaky, null, {
          retry: { attempts: 3, delay: "10ms", backoff: "fixed" },
        });
        return s.step("tell", echo, { tried: tried.output });
      },
    });
    const sluice = await working(place, { tasks: [flaky, echo], workflows: [patient] });
    const { id } = await sluice.submit(patient, undefined);
    const run = await sluice.runs.ended(id);
    expect(run).toMatchObject({ state: "succeeded", result: { tried: 3 } });
    expect(run.steps.map(({ name, attempt }) => [name, attempt])).toEqual([
      ["try", 3],
      ["tell", 1],
    ]);
  });

  test("a run that takes longer than its timeout fails, and what runs of it is aborted", async () => {
    const aborted: unknown[] = [];
    const endless = task({
      id: "endless",
      run: (_: unknown, { signal }) =>
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            aborted.push(signal.reason);
            reject(signal.reason);
          });
        }),
    });
    const slow = workflow({
      id: "slow",
      timeout: "300ms",
      steps: (s) => {
        const stuck = s.step("stuck", endless, null);
        s.step("next", echo, stuck.output);
      },
    });
    // Noticing the timeout takes no poll.
    const seldom = { poll: "1h", pollJitter: "0ms" };
    const sluice = await working(place, { tasks: [endless, echo], workflows: [slow] }, seldom);
    const { id } = await sluice.submit(slow, undefined);
    const run = await sluice.runs.ended(id);
    expect(run).toMatchObject({ state: "failed", error: { code: "RUN_TIMEOUT" } });
    // The timeout counts from the dequeue. An ended run reports its start as that of its first step, some
    // milliseconds later.
    expect((run.finishedAt ?? 0) - (run.dequeuedAt ?? 0)).toBeGreaterThanOrEqual(300);
    await expect.poll(() => aborted, { timeout: 40_000 }).toHaveLength(1);
    expect(await statesOf(sluice, id)).toMatchObject({ stuck: "cancelled" });
    await until(
      async () => (await sluice.limits.list()).every(({ held }) => held === 0),
      "its code has ended, and everything is free",
    );
  });

  test("run again, a failed run takes over what succeeded and does only the rest", async () => {
    const ran: string[] = [];
    let isBroken = true;
    const note = task({
      id: "note",
      run: async ({ name, from }: { name: string; from: number }) => {
        ran.push(name);
        if (name === "load" && isBroken) throw new Error("disk full");
        return from + 1;
      },
    });
    const nightly = workflow({
      id: "nightly",
      tags: { team: "data" },
      steps: (s, input: Reference<{ from: number }>) => {
        const extract = s.step("extract", note, { name: "extract", from: input.from });
        const clean = s.step("clean", note, { name: "clean", from: extract.output });
        const load = s.step("load", note, { name: "load", from: clean.output });
        const report = s.step("report", note, { name: "report", from: load.output });
        return { rows: report.output, first: extract.output };
      },
    });
    const sluice = await working(place, { tasks: [note], workflows: [nightly] });
    const { id } = await sluice.submit(nightly, { from: 40 }, { priority: 7 });
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "failed" });
    expect(await statesOf(sluice, id)).toEqual({
      extract: "succeeded",
      clean: "succeeded",
      load: "failed",
      report: "skipped",
    });
    // Neither a step nor a run can be put back in line alone, because the steps after it would not run.
    const [, , load] = (await sluice.runs.get(id))?.steps ?? [];
    for (const unit of [id, load?.unit as string])
      await expect(sluice.retry(unit)).rejects.toThrow(`sluice.runs.rerun("${id}")`);
    isBroken = false;
    const again = await sluice.runs.rerun(id);
    const run = await sluice.runs.ended<typeof nightly>(again.id);
    expect(run).toMatchObject({ state: "succeeded", result: { rows: 44, first: 41 }, rerunOf: id });
    expect(run).toMatchObject({ priority: 7, tags: { team: "data" }, input: { from: 40 } });
    expect(ran).toEqual(["extract", "clean", "load", "load", "report"]);
    expect(run.steps.map(({ result }) => result)).toEqual([41, 42, 43, 44]);
    // Steps that were taken over can be taken over again.
    const third = await sluice.runs.rerun(again.id);
    expect(await sluice.runs.ended(third.id)).toMatchObject({ state: "succeeded", result: { rows: 44 } });
    expect(ran).toHaveLength(5);
    // With `all`, every step runs again.
    const fourth = await sluice.runs.rerun(id, { all: true });
    expect(await sluice.runs.ended(fourth.id)).toMatchObject({ state: "succeeded", result: { rows: 44 } });
    expect(ran).toHaveLength(9);
  });
});
