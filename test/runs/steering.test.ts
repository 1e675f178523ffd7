// Operators steer runs that are in progress or in line.

import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import type { Reference, RunOptions, Sluice } from "../../src/index.ts";
import { defineApp, task, workflow } from "../../src/index.ts";
import type { Deferred } from "../e2e/support/deferred.ts";
import { deferred } from "../e2e/support/deferred.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { statesOf, working, worldOf } from "./support/world.ts";

/** Two steps, one after the other. Each stays until it is let go or aborted. */
function holding() {
  // The steps that have begun, in order, such as "a/first".
  const begun: string[] = [];
  const aborted: string[] = [];
  const holds = new Map<string, Deferred<void>>();
  const holdOf = (name: string): Deferred<void> => {
    const hold = holds.get(name) ?? deferred();
    holds.set(name, hold);
    return hold;
  };
  const stay = task({
    id: "stay",
    run: async (name: string, { signal }) => {
      begun.push(name);
      const away = new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => {
          aborted.push(name);
          reject(signal.reason);
        });
      });
      await Promise.race([holdOf(name).promise, away]);
      return name;
    },
  });
  const pair = workflow({
    id: "pair",
    steps: (s, input: Reference<{ first: string; second: string }>) => {
      const first = s.step("first", stay, input.first);
      return s.step("second", stay, input.second, { after: [first] });
    },
  });
  return { stay, pair, begun, aborted, letGo: (name: string) => holdOf(name).resolve() };
}

const inputOf = (name: string) => ({ first: `${name}/first`, second: `${name}/second` });

async function heldOn(place: Place, runs: RunOptions = {}) {
  const { stay, pair, ...held } = holding();
  const sluice = await working(place, { tasks: [stay], workflows: [pair], runs });
  const submit = async (name: string, options = {}): Promise<string> =>
    (await sluice.submit(pair, inputOf(name), options)).id;
  const hasBegun = (name: string): Promise<unknown> =>
    until(() => held.begun.includes(name), `${name} has begun`);
  const letRun = (name: string): void => {
    held.letGo(`${name}/first`);
    held.letGo(`${name}/second`);
  };
  return { ...held, sluice, pair, submit, hasBegun, letRun };
}

const heldAt = async (sluice: Sluice, gate: string): Promise<string> => {
  const found = (await sluice.limits.list()).find(({ key }) => key === gate);
  return `${found?.held}/${found?.limit}`;
};

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("cancelling a run in progress aborts the step that runs, and nothing of it stays held", async () => {
    const { sluice, submit, hasBegun, aborted, begun } = await heldOn(place);
    const id = await submit("a");
    await hasBegun("a/first");
    expect(await sluice.runs.cancel(id)).toEqual({ was: "started" });
    await until(() => aborted.includes("a/first"), "its signal is aborted");
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "cancelled" });
    expect(await statesOf(sluice, id)).toMatchObject({ first: "cancelled" });
    await until(
      async () => (await sluice.limits.list()).every(({ held }) => held === 0),
      "its code has ended, and everything is free",
    );
    expect(begun).toEqual(["a/first"]);
  });

  test("a step that is cancelled by hand fails its run, and what needs it is skipped", async () => {
    const { sluice, submit, hasBegun, aborted } = await heldOn(place);
    const id = await submit("a");
    await hasBegun("a/first");
    const [first] = (await sluice.runs.get(id))?.steps ?? [];
    await sluice.cancel(first?.unit as string);
    await until(() => aborted.includes("a/first"), "its signal is aborted");
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "failed", error: { steps: ["first"] } });
    expect(await statesOf(sluice, id)).toEqual({ first: "cancelled", second: "skipped" });
  });

  test("a paused run can be cancelled, and run again it takes over what had succeeded", async () => {
    const { sluice, submit, hasBegun, begun, letRun } = await heldOn(place);
    const id = await submit("a");
    await hasBegun("a/first");
    await sluice.runs.pause(id);
    letRun("a");
    await until(async () => (await statesOf(sluice, id)).second === "waiting", "its second step is in line");
    await sluice.runs.cancel(id);
    expect(await sluice.runs.ended(id)).toMatchObject({ state: "cancelled" });
    expect(await statesOf(sluice, id)).toEqual({ first: "succeeded", second: "cancelled" });
    const again = await sluice.runs.rerun(id);
    expect(await sluice.runs.ended(again.id)).toMatchObject({ state: "succeeded", result: "a/second" });
    expect(begun).toEqual(["a/first", "a/second"]);
  });

  test("a run that is cancelled in line never starts, and those behind it move up", async () => {
    const { sluice, submit, hasBegun, begun, letRun } = await heldOn(place, { max: 1 });
    await submit("a");
    await hasBegun("a/first");
    const [b, c] = [await submit("b"), await submit("c")];
    await sluice.queue.cancel(b);
    expect(await sluice.runs.get(b)).toMatchObject({ state: "cancelled", startedAt: null });
    expect((await sluice.queue.list()).map(({ id, position }) => [id, position])).toEqual([[c, 1]]);
    for (const name of ["a", "b", "c"]) letRun(name);
    expect(await sluice.runs.ended(c)).toMatchObject({ state: "succeeded" });
    expect(begun).toEqual(["a/first", "a/second", "c/first", "c/second"]);
  });

  test("of a paused run nothing new starts, what runs goes on, and resumed it ends", async () => {
    const { sluice, submit, hasBegun, begun, letGo, letRun } = await heldOn(place);
    const id = await submit("a");
    await hasBegun("a/first");
    await sluice.runs.pause(id);
    expect(await sluice.runs.get(id)).toMatchObject({ state: "started", paused: true });
    letRun("a");
    await until(async () => (await statesOf(sluice, id)).second === "waiting", "its second step is in line");
    expect(await statesOf(sluice, id)).toEqual({ first: "succeeded", second: "waiting" });
    // Since then the same worker has served another run from beginning to end.
    const other = await submit("b");
    letGo("b/first");
    letGo("b/second");
    expect(await sluice.runs.ended(other)).toMatchObject({ state: "succeeded" });
    expect(begun).toEqual(["a/first", "b/first", "b/second"]);
    expect(await statesOf(sluice, id)).toEqual({ first: "succeeded", second: "waiting" });
    await sluice.runs.resume(id);
    expect(await sluice.runs.ended(id)).toMatchObject({
      state: "succeeded",
      result: "a/second",
      paused: false,
    });
  });

  test("a run that is given a higher priority while it is queued goes first", async () => {
    const { sluice, submit, hasBegun, begun, letRun } = await heldOn(place, { max: 1 });
    await submit("a");
    await hasBegun("a/first");
    const [b, c] = [await submit("b"), await submit("c")];
    const line = async () => (await sluice.queue.list()).map(({ id, position }) => [id, position]);
    expect(await line()).toEqual([
      [b, 1],
      [c, 2],
    ]);
    expect(await sluice.queue.priority(c, 10)).toEqual({ from: 0 });
    expect(await line()).toEqual([
      [c, 1],
      [b, 2],
    ]);
    for (const name of ["a", "b", "c"]) letRun(name);
    for (const id of [b, c]) expect(await sluice.runs.ended(id)).toMatchObject({ state: "succeeded" });
    expect(begun.filter((name) => name.endsWith("first"))).toEqual(["a/first", "c/first", "b/first"]);
  });

  test("a direct run starts past a full run cap and is counted at it", async () => {
    const { sluice, submit, hasBegun, pair, letRun } = await heldOn(place, { max: 1 });
    await submit("a");
    await hasBegun("a/first");
    const queued = await submit("b");
    const direct = await sluice.execute(pair, inputOf("c"));
    await hasBegun("c/first");
    expect(await heldAt(sluice, "runs")).toBe("2/1");
    expect(await sluice.runs.get(queued)).toMatchObject({ state: "queued" });
    letRun("a");
    letRun("c");
    expect(await sluice.runs.ended(direct.id)).toMatchObject({ state: "succeeded", result: "c/second" });
    letRun("b");
    expect(await sluice.runs.ended(queued)).toMatchObject({ state: "succeeded" });
    expect(await heldAt(sluice, "runs")).toBe("0/1");
  });

  test("a second submission with the same key is the first run", async () => {
    const { sluice, pair, letRun, begun } = await heldOn(place);
    letRun("a");
    letRun("b");
    const first = await sluice.submit(pair, inputOf("a"), { idempotencyKey: "today" });
    const second = await sluice.submit(pair, inputOf("b"), { idempotencyKey: "today" });
    expect(first.created).toBe(true);
    expect(second).toEqual({ id: first.id, created: false });
    expect(await sluice.runs.ended(first.id)).toMatchObject({
      state: "succeeded",
      idempotencyKey: "today",
      result: "a/second",
    });
    expect(await sluice.submit(pair, inputOf("b"), { idempotencyKey: "today" })).toEqual(second);
    expect(await sluice.runs.list()).toHaveLength(1);
    expect(begun).toEqual(["a/first", "a/second"]);
  });
});

describeOn(["postgres"], (place) => {
  test("a run submitted inside the caller's own transaction is there with its commit, and never after a rollback", async () => {
    const { stay, pair, letGo, begun } = holding();
    for (const name of ["a", "b"]) for (const step of ["first", "second"]) letGo(`${name}/${step}`);
    const { sluice, url } = await worldOf(place, defineApp({ tasks: [stay], workflows: [pair] }));
    await sluice.worker();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());

    await client.query("BEGIN");
    const lost = await sluice.submit(pair, inputOf("a"), { within: client });
    await client.query("ROLLBACK");
    await client.query("BEGIN");
    const kept = await sluice.submit(pair, inputOf("b"), { within: client });
    expect(await sluice.runs.get(kept.id)).toBeUndefined();
    await client.query("COMMIT");
    expect(await sluice.runs.ended(kept.id)).toMatchObject({ state: "succeeded", result: "b/second" });
    expect(await sluice.runs.get(lost.id)).toBeUndefined();
    expect(begun).toEqual(["b/first", "b/second"]);
  });
});
