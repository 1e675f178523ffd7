// Rows that no pass can process affect only their own lane, and can be put back.

import { expect, test } from "vitest";
import type { RunningWorker, Sluice } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import type { Aside } from "../conformance/tables.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";

const bad = task({ id: "bad", queue: "one", run: () => "bad" });
const good = task({ id: "good", queue: "one", run: () => "good" });
const odd = workflow({ id: "odd", steps: (s) => s.step("only", good, undefined) });
const even = workflow({ id: "even", steps: (s) => s.step("only", good, undefined) });
const app = defineApp({
  tasks: [bad, good],
  workflows: [odd, even],
  queues: { one: { maxConcurrency: 2 } },
  runs: { max: 5 },
});

interface Scene {
  readonly sluice: Sluice;
  readonly beside: Aside;
  readonly said: Error[];
  work(): Promise<RunningWorker>;
  /** Runs another honest task to its end. */
  honest(): Promise<void>;
}

async function scene(place: Place): Promise<Scene & AsyncDisposable> {
  const store = (await place.open()) as string;
  const sluice = await connect({ store, app, migrate: true });
  const beside = await place.beside(store);
  const said: Error[] = [];
  return {
    sluice,
    beside,
    said,
    work: () =>
      sluice.worker({
        slots: 4,
        poll: "50ms",
        pollJitter: "0ms",
        watch: (event) => void (event.kind === "error" && said.push(event.error as Error)),
      }),
    honest: async () => {
      const { id } = await sluice.enqueue(good, undefined);
      await until(async () => (await sluice.get(id))?.state === "succeeded", "an honest task runs");
    },
    [Symbol.asyncDispose]: async () => {
      await beside.close();
      await sluice.close({ graceMs: 1_000 });
    },
  };
}

const isAside = (sluice: Sluice, name: string) =>
  until(async () => (await sluice.store.asides()).some(({ task: of }) => of === name), "it is set aside");

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("a unit that is in line and running at once is set aside with its lane, told once, and put back when it is cured", async () => {
    await using it = await scene(place);
    const { sluice, beside, said } = it;
    const { id } = await sluice.enqueue(bad, undefined, { priority: 9 });
    await beside.query(
      `INSERT INTO sluice_running (id, lane, session, held, until_at, claimed_at, claimed_n, precedence, at, attempt, losses, n)
       SELECT id, 'elsewhere', '@runs', 1, NULL, 0, 1, 0, 0, 1, 0, 1 FROM sluice_task WHERE id = '${id}'`,
    );
    await it.work();
    await it.honest();
    await isAside(sluice, "bad");
    await it.honest();
    const told = said.filter((error) => (error as { code?: string }).code === "SET_ASIDE");
    expect(told).toHaveLength(1);
    expect(told[0]?.message).toContain("sluice.restore(");
    expect(said.filter((error) => /reach/.test(error.message))).toEqual([]);
    await beside.query(`DELETE FROM sluice_running WHERE id = '${id}'`);
    expect((await sluice.explain(id)).reasons).toMatchObject([{ kind: "aside", error: expect.any(String) }]);
    const [later] = await sluice.enqueueMany([{ task: bad as never, input: undefined as never }]);
    await it.honest();
    expect((await sluice.get(later?.id as string))?.state).toBe("waiting");
    expect((await sluice.restore(id)).units).toBe(2);
    for (const each of [id, later?.id as string])
      await until(async () => (await sluice.get(each))?.state === "succeeded", "what was put back runs");
  });

  test("an arrival that cannot be taken in is set aside, and cancelling its task leaves the lane as new", async () => {
    await using it = await scene(place);
    const { sluice, beside } = it;
    const { id } = await sluice.enqueue(bad, undefined);
    const asks = JSON.stringify([[`pool:${"x".repeat(3_000)}`, 1]]);
    for (const table of ["arrival", "task"])
      await beside.query(
        `UPDATE sluice_${table} SET asks = '${asks}' WHERE lane = (SELECT w.lane FROM sluice_waiting w WHERE w.id = '${id}')`,
      );
    await it.work();
    await it.honest();
    await isAside(sluice, "bad");
    await sluice.cancel(id);
    expect(await sluice.store.asides()).toEqual([]);
    const next = await sluice.enqueue(bad, undefined);
    await until(async () => (await sluice.get(next.id))?.state === "succeeded", "the lane is as new");
  });

  test("a run that cannot be let in is set aside, says why in the line, and the others are let in", async () => {
    await using it = await scene(place);
    const { sluice, beside } = it;
    const { id } = await sluice.submit(odd, undefined, { priority: 9 });
    await beside.query(
      `INSERT INTO sluice_running (id, lane, session, held, until_at, claimed_at, claimed_n, precedence, at, attempt, losses, n)
       SELECT id, 'elsewhere', 'nobody', 1, 9000000000000000, 0, 1, 0, 0, 1, 0, 1 FROM sluice_task WHERE id = '${id}'`,
    );
    await it.work();
    const other = await sluice.submit(even, undefined);
    await until(
      async () => (await sluice.runs.get(other.id))?.state === "succeeded",
      "the other run goes on",
    );
    await isAside(sluice, "odd");
    await beside.query(`DELETE FROM sluice_running WHERE id = '${id}'`);
    expect((await sluice.queue.why(id)).reasons[0]?.kind).toBe("aside");
    await sluice.restore(id);
    await until(async () => (await sluice.runs.get(id))?.state === "succeeded", "what was put back goes on");
  });

  test("a run that cannot be moved on has failed, and the others go on", async () => {
    await using it = await scene(place);
    const { sluice, beside } = it;
    await sluice.deploy();
    await sluice.queues.pause("one");
    await it.work();
    const [one, two] = [await sluice.submit(odd, undefined), await sluice.submit(even, undefined)];
    for (const { id } of [one, two])
      await until(async () => (await sluice.runs.get(id))?.steps[0]?.state === "waiting", "its step waits");
    // An outcome that no worker wrote already exists.
    await beside.query(
      `INSERT INTO sluice_outcome (id, state, attempt, losses, finished_at, n) VALUES ('${one.id}', 'odd', 1, 0, 0, 99)`,
    );
    await sluice.queues.resume("one");
    await until(async () => (await sluice.runs.get(two.id))?.state === "succeeded", "the other run goes on");
    await it.honest();
  });

  test("a delayed unit that cannot come due, and a deadline that cannot be kept, stop neither delays nor deadlines", async () => {
    await using it = await scene(place);
    const { sluice, beside } = it;
    await sluice.deploy();
    await sluice.queues.pause("one");
    const stuck = await sluice.enqueue(bad, undefined, { delay: "200ms" });
    // The unit is already in line, in a lane that does not exist.
    await beside.query(
      `INSERT INTO sluice_waiting (id, lane, precedence, at, attempt, losses, n) SELECT id, 'elsewhere', 0, 0, 0, 0, 1 FROM sluice_task WHERE id = '${stuck.id}'`,
    );
    const over = await sluice.enqueue(bad, undefined, { goodUntil: "10ms" });
    // The unit has already ended but is still in line.
    await beside.query(
      `INSERT INTO sluice_outcome (id, state, attempt, losses, finished_at, n) VALUES ('${over.id}', 'failed', 1, 0, 0, 99)`,
    );
    await it.work();
    await isAside(sluice, "bad");
    const late = await sluice.enqueue(good, undefined, { goodUntil: "10ms" });
    await until(async () => (await sluice.get(late.id))?.state === "expired", "deadlines are kept");
    await sluice.queues.resume("one");
    const soon = await sluice.enqueue(good, undefined, { delay: "20ms" });
    await until(async () => (await sluice.get(soon.id))?.state === "succeeded", "delays go on");
  });

  test("damaged sessions, options, events and heads stop nobody", async () => {
    await using it = await scene(place);
    const { sluice, beside } = it;
    const { id } = await sluice.enqueue(bad, undefined);
    await beside.query(
      `INSERT INTO sluice_session (id, name, slots, serves, expires_at, started_at) VALUES ('odd', 'odd', 5, '{', 9000000000000000, 0)`,
    );
    await beside.query(`UPDATE sluice_task SET options = '{' WHERE id = '${id}'`);
    await it.work();
    await it.honest();
    await beside.query(
      `INSERT INTO sluice_event (subject, n, kind, at, data) SELECT id, 990, 'LaneWaiting', 0, '[' FROM sluice_lane`,
    );
    const next = await sluice.enqueue(good, undefined);
    await sluice.explain(next.id);
    await it.honest();
    await until(async () => (await sluice.get(id))?.state === "succeeded", "bad options are none");
  });
});
