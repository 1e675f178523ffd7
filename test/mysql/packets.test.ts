// The server accepts packets of 1 MB. A value that fits alone is written, however much else is written at the
// same moment. A value that does not fit fails alone, with a clear error. The store is never reported as
// away.

import { expect, onTestFinished, test } from "vitest";
import type { Reference, RunningWorker, Sluice } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import { openMysql } from "../../src/store/mysql/index.ts";
import { MAIL, NOTHING, newTask, scopeOf } from "../../src/testing/store-suite/bench.ts";
import { until } from "../e2e/support/until.ts";
import { describeWithMariadb } from "../support/databases.ts";
import { oddMariadb } from "./odd-server.ts";

interface Size {
  readonly n: number;
}

/** Tasks end once all of them have begun, so their ends are written at the same moment. */
const meeting = { wanted: 0, here: [] as (() => void)[] };
const met = (): Promise<void> =>
  new Promise((resolve) => {
    meeting.here.push(resolve);
    if (meeting.here.length >= meeting.wanted) for (const go of meeting.here.splice(0)) go();
  });

const echo = task({ id: "echo", run: (_: unknown) => 1 });
const large = task({ id: "large", run: ({ n }: Size) => "x".repeat(n) });
const together = task({
  id: "together",
  run: async ({ n }: Size) => {
    await met();
    return "x".repeat(n);
  },
});
const loud = task({
  id: "loud",
  run: (_: null, { log }) => {
    log("before");
    log("x".repeat(2_000_000));
    log("after");
  },
});
const failing = task({
  id: "failing",
  retry: { attempts: 3, delay: "1ms" },
  run: ({ n }: Size) => {
    throw new Error("x".repeat(n));
  },
});
const one = workflow({ id: "one", steps: (s) => s.step("only", echo, null) });
const both = workflow({
  id: "both",
  steps: (s, input: Reference<Size>) => {
    const [a, b] = [s.step("a", large, input), s.step("b", large, input)];
    s.step("c", echo, { a: a.output, b: b.output });
  },
});
const gathered = workflow({
  id: "gathered",
  steps: (s, input: Reference<{ readonly list: readonly Size[] }>) => {
    s.each("items", input.list, large);
  },
});
const many = workflow({
  id: "many",
  steps: (s, input: Reference<{ readonly list: readonly number[]; readonly context: string }>) => {
    s.each("items", input.list, echo, {
      input: (item: unknown) => ({ item, context: input.context }),
    } as never);
  },
});
const app = defineApp({
  tasks: [echo, large, together, loud, failing],
  workflows: [one, both, gathered, many],
});

describeWithMariadb("where a packet is 1 MB at most", () => {
  const fresh = oddMariadb(["--max-allowed-packet=1M"]);

  interface Scene extends AsyncDisposable {
    readonly sluice: Sluice;
    readonly said: (string | undefined)[];
    work(): Promise<RunningWorker>;
    ended(id: string): Promise<{ state: string; error?: { code?: string; message: string } }>;
    runEnded(id: string): Promise<{ state: string; error?: { code?: string; message: string } }>;
  }

  async function scene(): Promise<Scene> {
    const sluice = await connect({ store: await fresh(), app, migrate: true });
    const said: (string | undefined)[] = [];
    return {
      sluice,
      said,
      work: () =>
        sluice.worker({
          slots: 4,
          poll: "50ms",
          pollJitter: "0ms",
          watch: (event) =>
            void (event.kind === "error" && said.push((event.error as { code?: string }).code)),
        }),
      ended: (id) => sluice.ended(id) as never,
      runEnded: (id) => sluice.runs.ended(id) as never,
      [Symbol.asyncDispose]: () => sluice.close({ graceMs: 1_000 }),
    };
  }

  test("a result that does not fit fails its own task, and the worker goes on", async () => {
    await using it = await scene();
    await it.work();
    const [bad, other] = [
      await it.sluice.enqueue(large, { n: 2_000_000 }),
      await it.sluice.enqueue(echo, null),
    ];
    expect(await it.ended(other.id)).toMatchObject({ state: "succeeded" });
    expect(await it.ended(bad.id)).toMatchObject({
      state: "failed",
      error: { code: "RESULT_NOT_STORED", message: expect.stringContaining("max_allowed_packet") },
    });
    const error = await it.sluice.enqueue(failing, { n: 3_000_000 });
    expect(await it.ended(error.id)).toMatchObject({ state: "failed" });
    expect(it.said).not.toContain("STORE_UNREACHABLE");
  });

  test("results that fit one by one are all stored, though they are reported at the same moment", async () => {
    await using it = await scene();
    meeting.wanted = 4;
    const calls = Array.from({ length: 4 }, () => ({
      task: together as never,
      input: { n: 600_000 } as never,
    }));
    const tasks = await it.sluice.enqueueMany(calls);
    await it.work();
    for (const { id } of tasks) expect(await it.ended(id)).toMatchObject({ state: "succeeded" });
    expect(it.said).toEqual([]);
  });

  test("one pass reports all of them, and none is looked for by trying", async () => {
    const store = openMysql({ url: await fresh() });
    onTestFinished(() => store.close());
    await store.migrate();
    await store.openSession({ id: "s1", name: "s1", slots: 4, serves: "{}", leaseMs: 60_000 });
    const ids = ["a", "b", "c", "d"];
    await store.enqueue(ids.map((id) => newTask(id)));
    const claim = ids.map((id) => ({ id, held: true, leaseMs: null }));
    const { claimed } = await store.pass(scopeOf([MAIL]), () => ({ ...NOTHING, claim }));
    const body = JSON.stringify("x".repeat(600_000));
    const finished = claimed.map(({ id, epoch }) => ({
      id,
      epoch,
      to: "succeeded" as const,
      body,
      delayMs: 0,
    }));
    const { accepted } = await store.pass(scopeOf([MAIL], { finished }), () => NOTHING);
    expect([...accepted].sort()).toEqual(ids);
    expect(await store.task("d")).toMatchObject({ state: "succeeded", body });
  });

  test("a run whose next step does not fit fails alone", async () => {
    await using it = await scene();
    await it.work();
    const [bad, list] = [
      await it.sluice.submit(both, { n: 600_000 }),
      await it.sluice.submit(gathered, { list: Array.from({ length: 8 }, () => ({ n: 300_000 })) }),
    ];
    for (const { id } of [bad, list])
      expect(await it.runEnded(id)).toMatchObject({
        state: "failed",
        error: { code: "MALFORMED_RUN", message: expect.stringContaining("max_allowed_packet") },
      });
    const good = await it.sluice.submit(one, undefined);
    expect(await it.runEnded(good.id)).toMatchObject({ state: "succeeded" });
    expect(it.said).not.toContain("STORE_UNREACHABLE");
  });

  test("many items that fit one by one are put in line, though their batch does not fit", async () => {
    await using it = await scene();
    await it.work();
    const list = Array.from({ length: 300 }, (_, index) => index);
    const run = await it.sluice.submit(many, { list, context: "c".repeat(9_000) });
    expect(await it.runEnded(run.id)).toMatchObject({ state: "succeeded" });
    expect(it.said).toEqual([]);
  });

  test("an enqueue of many goes through as one; of one that does not fit, nothing is stored", async () => {
    await using it = await scene();
    const inputs = Array.from({ length: 300 }, () => "y".repeat(9_000));
    const calls = inputs.map((input, index) => ({
      task: echo,
      input,
      options: { idempotencyKey: `k${index}` },
    }));
    const first = await it.sluice.enqueueMany(calls);
    expect(new Set(first.map(({ id }) => id)).size).toBe(300);
    expect((await it.sluice.enqueueMany(calls)).map(({ id, created }) => [id, created])).toEqual(
      first.map(({ id }) => [id, false]),
    );
    const refused = it.sluice.enqueueMany([
      { task: echo, input: "fits" },
      { task: echo, input: "y".repeat(2_000_000) },
    ]);
    await expect(refused).rejects.toMatchObject({ code: "BAD_DATA" });
    expect((await it.sluice.list({ limit: 500 })).length).toBe(300);
  });

  test("a line of a log that does not fit is left out, and the others are kept", async () => {
    await using it = await scene();
    await it.work();
    const { id } = await it.sluice.enqueue(loud, null);
    expect(await it.ended(id)).toMatchObject({ state: "succeeded" });
    const lines = await until(async () => {
      const logged = (await it.sluice.events(id)).filter(({ kind }) => kind === "TaskLogged");
      return logged.length === 2 && logged;
    }, "both lines are kept");
    expect(JSON.stringify(lines)).toMatch(/before.*after/);
  });
});
