// How a worker handles a task, from enqueue to outcome.

import { once } from "node:events";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type {
  AppDefinition,
  Sluice,
  SluiceError,
  Store,
  TaskContext,
  TaskState,
  TaskView,
  WorkerEvent,
  WorkerSettings,
} from "../../src/index.ts";
import { connect, defineApp, task } from "../../src/index.ts";
import { BrokenLine } from "./support/broken-line.ts";
import type { Deferred } from "./support/deferred.ts";
import { deferred } from "./support/deferred.ts";
import type { Place } from "./support/places.ts";
import { describeOn, storeOn } from "./support/places.ts";
import { until } from "./support/until.ts";

const QUICK: WorkerSettings = { poll: "50ms", pollJitter: "0ms" };
const FINAL: readonly TaskState[] = ["succeeded", "failed", "cancelled", "expired", "quarantined"];

describeOn(["memory", "postgres"], (place) => {
  describe("an outcome", () => {
    test("keeps the result", async () => {
      const sum = task({ id: "sum", run: async ({ a, b }: { a: number; b: number }) => ({ sum: a + b }) });
      const sluice = await open(place, { tasks: [sum] });
      const { id } = await sluice.enqueue(sum, { a: 1, b: 2 });
      await sluice.worker(QUICK);
      expect(await ended(sluice, id)).toMatchObject({ state: "succeeded", result: { sum: 3 }, attempt: 1 });
    });

    test("keeps the error", async () => {
      const fail = task({
        id: "fail",
        run: () => {
          throw Object.assign(new TypeError("no such order"), { code: "E_ORDER" });
        },
      });
      const sluice = await open(place, { tasks: [fail] });
      const { id } = await sluice.enqueue(fail, undefined);
      await sluice.worker(QUICK);
      const { state, error } = await ended(sluice, id);
      expect(state).toBe("failed");
      expect(error).toMatchObject({ name: "TypeError", message: "no such order", code: "E_ORDER" });
      expect(error?.stack).toContain("worker.test.ts");
    });

    test("of a result that is no JSON is an error that no retry mends", async () => {
      const big = task({ id: "big", retry: { attempts: 5, delay: "1ms" }, run: () => 1n });
      const sluice = await open(place, { tasks: [big] });
      const { id } = await sluice.enqueue(big, undefined);
      await sluice.worker(QUICK);
      expect(await ended(sluice, id)).toMatchObject({
        state: "failed",
        attempt: 1,
        error: { code: "RESULT_NOT_JSON" },
      });
    });

    test("can be had again: a finished task is put back in line with all its attempts", async () => {
      let broken = true;
      const fixable = task({
        id: "fixable",
        run: (_: undefined, { attempt }: TaskContext) => {
          if (broken) throw new Error("not yet");
          return attempt;
        },
      });
      const sluice = await open(place, { tasks: [fixable] });
      const { id } = await sluice.enqueue(fixable, undefined);
      await expect(sluice.retry(id)).rejects.toMatchObject({ code: "NOT_FINISHED" });
      await sluice.worker(QUICK);
      await ended(sluice, id);
      broken = false;
      await sluice.retry(id, "kim");
      expect(await ended(sluice, id, "succeeded")).toMatchObject({ result: 1, attempt: 1 });
      const again = (await sluice.events(id)).find(({ kind }) => kind === "TaskRetried");
      expect(JSON.parse(again?.data ?? "")).toEqual({ by: "kim", was: "failed" });
    });
  });

  describe("retries", () => {
    test("wait for a fixed backoff, hold nothing meanwhile, and count their attempts", async () => {
      const attempts: number[] = [];
      const flaky = task({
        id: "flaky",
        queue: "one",
        retry: { attempts: 3, backoff: "fixed", delay: "2s", jitter: 0 },
        run: (_: undefined, { attempt }: TaskContext) => {
          attempts.push(attempt);
          if (attempt < 3) throw new Error(`attempt ${attempt}`);
          return "at last";
        },
      });
      const other = task({ id: "other", queue: "one", run: () => attempts.length });
      const sluice = await open(place, { tasks: [flaky, other], queues: { one: { maxConcurrency: 1 } } });
      const { id } = await sluice.enqueue(flaky, undefined);
      await sluice.worker(QUICK);
      await until(async () => (await sluice.get(id))?.state === "later", "it waits for its retry");
      const [reason] = (await sluice.explain(id)).reasons;
      expect(reason).toMatchObject({ kind: "later", because: "retry" });
      const { id: otherId } = await sluice.enqueue(other, undefined);
      expect(await ended(sluice, otherId)).toMatchObject({ result: 1 });
      expect(await ended(sluice, id)).toMatchObject({ state: "succeeded", result: "at last", attempt: 3 });
      expect(attempts).toEqual([1, 2, 3]);
      const retried = (await sluice.events(id)).filter(({ kind }) => kind === "TaskRetried");
      expect(retried.map(({ data }) => JSON.parse(data ?? ""))).toMatchObject([
        { delayMs: 2000, error: { message: "attempt 1" } },
        { delayMs: 2000, error: { message: "attempt 2" } },
      ]);
      const claimed = (await sluice.events(id))
        .filter(({ kind }) => kind === "TaskClaimed")
        .map(({ at }) => at);
      expect((claimed[1] as number) - (claimed[0] as number)).toBeGreaterThanOrEqual(2_000);
    });

    test("double an exponential backoff, and end with the last error", async () => {
      const fail = task({
        id: "fail",
        retry: { attempts: 4, backoff: "exponential", delay: "20ms", jitter: 0 },
        run: (_: undefined, { attempt }: TaskContext) => {
          throw new Error(`attempt ${attempt}`);
        },
      });
      const sluice = await open(place, { tasks: [fail] });
      const { id } = await sluice.enqueue(fail, undefined);
      await sluice.worker(QUICK);
      expect(await ended(sluice, id)).toMatchObject({
        state: "failed",
        attempt: 4,
        error: { message: "attempt 4" },
      });
      const retried = (await sluice.events(id)).filter(({ kind }) => kind === "TaskRetried");
      expect(retried.map(({ data }) => (JSON.parse(data ?? "") as { delayMs: number }).delayMs)).toEqual([
        20, 40, 80,
      ]);
    });

    test("are not made of an error that says so", async () => {
      const fail = task({
        id: "fail",
        retry: { attempts: 5, delay: "1ms" },
        run: () => {
          throw Object.assign(new Error("the card was declined"), { retryable: false });
        },
      });
      const sluice = await open(place, { tasks: [fail] });
      const { id } = await sluice.enqueue(fail, undefined);
      await sluice.worker(QUICK);
      expect(await ended(sluice, id)).toMatchObject({ state: "failed", attempt: 1 });
    });
  });

  describe("a timeout", () => {
    test("aborts the signal and fails the attempt with TIMEOUT", async () => {
      const reasons: unknown[] = [];
      const slow = task({
        id: "slow",
        timeout: "50ms",
        retry: { attempts: 2, delay: "1ms" },
        run: async (_: undefined, { signal }: TaskContext) => {
          await once(signal, "abort");
          reasons.push(signal.reason);
          throw signal.reason;
        },
      });
      const sluice = await open(place, { tasks: [slow] });
      const { id } = await sluice.enqueue(slow, undefined);
      await sluice.worker(QUICK);
      expect(await ended(sluice, id)).toMatchObject({
        state: "failed",
        attempt: 2,
        error: { code: "TIMEOUT" },
      });
      expect(reasons).toMatchObject([{ code: "TIMEOUT" }, { code: "TIMEOUT" }]);
    });

    test("is over for code that does not listen, too", async () => {
      const never = deferred();
      onTestFinished(() => never.resolve());
      const deaf = task({ id: "deaf", timeout: "50ms", run: () => never.promise });
      const sluice = await open(place, { tasks: [deaf] });
      const { id } = await sluice.enqueue(deaf, undefined);
      const worker = await sluice.worker(QUICK);
      expect(await ended(sluice, id)).toMatchObject({ state: "failed", error: { code: "TIMEOUT" } });
      expect(worker.running).toBe(1);
      never.resolve();
      await until(() => worker.running === 0, "its code has ended");
    });
  });

  describe("cancel", () => {
    test("takes what waits, or is put off, out of line for good", async () => {
      const ran: string[] = [];
      const job = task({ id: "job", run: (_: undefined, { id }: TaskContext) => void ran.push(id) });
      const sluice = await open(place, { tasks: [job] });
      const { id: waiting } = await sluice.enqueue(job, undefined);
      const { id: later } = await sluice.enqueue(job, undefined, { delay: "50ms" });
      const { id: last } = await sluice.enqueue(job, undefined, { delay: "100ms" });
      expect(await sluice.cancel(waiting, "kim")).toEqual({ was: "waiting" });
      expect(await sluice.cancel(later)).toEqual({ was: "later" });
      expect(await sluice.cancel(later)).toEqual({ was: "cancelled" });
      await sluice.worker(QUICK);
      await ended(sluice, last);
      expect(ran).toEqual([last]);
      expect(await sluice.get(waiting)).toMatchObject({ state: "cancelled", attempt: 0 });
      expect(await kinds(sluice, waiting)).toEqual(["TaskEnqueued", "TaskCancelled"]);
    });

    test("aborts what runs, frees its slots when its code has ended, and is the only outcome", async () => {
      const { blocking, begun, release } = blockingTask({ queue: "one" });
      const sluice = await open(place, { tasks: [blocking], queues: { one: { maxConcurrency: 1 } } });
      const { id } = await sluice.enqueue(blocking, "first");
      const { id: next } = await sluice.enqueue(blocking, "next");
      const worker = await sluice.worker(QUICK);
      const { signal } = await begun("first");
      expect(signal.aborted).toBe(false);
      expect(await sluice.cancel(id)).toEqual({ was: "running" });
      await aborted(signal);
      expect(signal.reason).toMatchObject({ code: "CANCELLED" });
      expect(await sluice.get(id)).toMatchObject({ state: "cancelled" });
      release("first");
      await begun("next");
      release("next");
      await ended(sluice, next);
      await worker.stop();
      expect(await sluice.get(id)).toMatchObject({ state: "cancelled" });
      expect(await kinds(sluice, id)).toEqual(["TaskEnqueued", "TaskClaimed", "TaskCancelled"]);
    });

    test("reaches what runs even when its wake-up is lost", async () => {
      const { blocking, begun, release } = blockingTask();
      const store = await storeOn(place);
      const line = new BrokenLine(store);
      line.deafTo = ["cancel"];
      const app = { tasks: [blocking], session: { lease: "3s", heartbeat: "100ms" } };
      const sluice = await open(place, app, store);
      const away = await open(place, app, line.end);
      const { id } = await sluice.enqueue(blocking, "a");
      await away.worker(QUICK);
      const { signal } = await begun("a");
      await sluice.cancel(id);
      await aborted(signal);
      expect(signal.reason).toMatchObject({ code: "CANCELLED" });
      release("a");
    });
  });

  describe("a deadline", () => {
    test("expires what has not started by then, waiting or put off", async () => {
      const ran: string[] = [];
      const job = task({
        id: "job",
        queue: "shut",
        run: (_: undefined, { id }: TaskContext) => void ran.push(id),
      });
      const sluice = await open(place, { tasks: [job], queues: { shut: {} } });
      await sluice.deploy();
      await sluice.queues.pause("shut");
      const { id: waiting } = await sluice.enqueue(job, undefined, { goodUntil: "100ms" });
      const { id: later } = await sluice.enqueue(job, undefined, { delay: "10m", goodUntil: "100ms" });
      const { id: good } = await sluice.enqueue(job, undefined, { goodUntil: new Date(Date.now() + 60_000) });
      await sluice.worker(QUICK);
      for (const id of [waiting, later]) {
        expect(await ended(sluice, id)).toMatchObject({ state: "expired", attempt: 0 });
        expect(await kinds(sluice, id)).toEqual(["TaskEnqueued", "TaskExpired"]);
      }
      await sluice.queues.resume("shut");
      await ended(sluice, good, "succeeded");
      expect(ran).toEqual([good]);
    });

    test("bounds the retries: one that would come too late is not made", async () => {
      const fail = task({
        id: "fail",
        retry: { attempts: 10, backoff: "fixed", delay: "30s", jitter: 0 },
        run: () => {
          throw new Error("down");
        },
      });
      const sluice = await open(place, { tasks: [fail] });
      const { id } = await sluice.enqueue(fail, undefined, { goodUntil: "10s" });
      await sluice.worker(QUICK);
      expect(await ended(sluice, id)).toMatchObject({
        state: "failed",
        attempt: 1,
        error: { message: "down" },
      });
    });

    test("does not end what has started in time", async () => {
      const { blocking, begun, release } = blockingTask();
      const sluice = await open(place, { tasks: [blocking] });
      const { id } = await sluice.enqueue(blocking, "a", { goodUntil: "1s" });
      await sluice.worker(QUICK);
      const { signal } = await begun("a");
      const { goodUntil } = (await sluice.get(id)) as TaskView;
      await until(
        async () => (await sluice.store.now()) > (goodUntil as number) + 200,
        "the deadline is over",
      );
      expect(signal.aborted).toBe(false);
      release("a");
      expect(await ended(sluice, id)).toMatchObject({ state: "succeeded" });
    });
  });

  describe("enqueue", () => {
    test("with the same key gives the same task, however many ask at once", async () => {
      let runs = 0;
      const job = task({
        id: "job",
        run: () => {
          runs += 1;
        },
      });
      const sluice = await open(place, { tasks: [job] });
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => sluice.enqueue(job, undefined, { idempotencyKey: "order-7" })),
      );
      expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
      expect(answers.filter(({ created }) => created)).toHaveLength(1);
      await sluice.worker(QUICK);
      const id = answers[0]?.id as string;
      await ended(sluice, id);
      expect(await sluice.enqueue(job, undefined, { idempotencyKey: "order-7" })).toEqual({
        id,
        created: false,
      });
      const { id: other } = await sluice.enqueue(job, undefined, { idempotencyKey: "order-8" });
      await ended(sluice, other);
      expect(runs).toBe(2);
    });

    test("with a delay or an instant starts not before it, and within one poll of it", async () => {
      const job = task({ id: "job", run: () => "done" });
      const sluice = await open(place, { tasks: [job] });
      await sluice.worker({ ...QUICK, poll: "200ms" });
      const now = await sluice.store.now();
      const { id: delayed } = await sluice.enqueue(job, undefined, { delay: "400ms" });
      const { id: dated } = await sluice.enqueue(job, undefined, { runAt: new Date(now + 600) });
      expect((await sluice.explain(delayed)).reasons).toMatchObject([{ kind: "later", because: "delay" }]);
      const starts = await Promise.all([delayed, dated].map((id) => claimedAt(sluice, id)));
      expect(starts[0]).toBeGreaterThanOrEqual(now + 400);
      expect(starts[1]).toBeGreaterThanOrEqual(now + 600);
      expect(Math.max(...starts)).toBeLessThan(now + 2_000);
      await expect(sluice.enqueue(job, undefined, { delay: "1s", runAt: new Date() })).rejects.toMatchObject({
        code: "BAD_OPTIONS",
      });
    });

    test("with a higher priority starts earlier, and among equals the first comes first", async () => {
      const order: string[] = [];
      const job = task({ id: "job", run: (name: string) => void order.push(name) });
      const sluice = await open(place, { tasks: [job] });
      const calls = [
        ["c", 0],
        ["e", -5],
        ["a", 9],
        ["d", 0],
        ["b", 3],
      ] as const;
      for (const [name, priority] of calls) await sluice.enqueue(job, name, { priority });
      await sluice.worker({ ...QUICK, slots: 1 });
      await until(() => order.length === calls.length, "all ran");
      expect(order).toEqual(["a", "b", "c", "d", "e"]);
    });

    test("refuses an input that does not fit its schema, and then enqueues nothing of the call", async () => {
      const job = task({
        id: "job",
        input: z.object({ order: z.object({ id: z.string() }) }),
        run: () => {},
      });
      const sluice = await open(place, { tasks: [job] });
      const bad = { order: { id: 7 } } as never;
      const refused = {
        code: "BAD_INPUT",
        message: expect.stringContaining('task "job": the input does not match its schema: order.id:'),
      };
      await expect(sluice.enqueue(job, bad)).rejects.toMatchObject(refused);
      const good = { task: job, input: { order: { id: "7" } } };
      await expect(sluice.enqueueMany([good, { task: job, input: bad }])).rejects.toMatchObject(refused);
      expect(await sluice.list()).toEqual([]);
    });

    test("refuses to ask for more than the limit, in words that say what to do", async () => {
      const job = task({ id: "job", pools: (slots: number) => ({ gpu: slots }), run: () => "ran" });
      const sluice = await open(place, { tasks: [job], pools: { gpu: { limit: 2 } } });
      await expect(sluice.enqueue(job, 3)).rejects.toMatchObject({
        code: "ASKS_TOO_MUCH",
        message:
          'pool "gpu": asked for 3 slots, but its limit is 2, so this can never start. Ask for fewer, or raise the limit to 3. Set its limit: sluice.limits.set("pool:gpu", 3)',
      });
      expect(await sluice.list()).toEqual([]);
      await sluice.limits.set("pool:gpu", 3);
      const { id } = await sluice.enqueue(job, 3);
      await sluice.worker(QUICK);
      await ended(sluice, id, "succeeded");
    });
  });

  test("an input that no longer fits when it is run fails at once, and no code sees it", async () => {
    let runs = 0;
    const before = task({ id: "job", run: (_: { id: number }) => {} });
    const after = task({
      id: "job",
      input: z.object({ id: z.string() }),
      retry: { attempts: 5, delay: "1ms" },
      run: () => {
        runs += 1;
      },
    });
    const store = await storeOn(place);
    const old = await open(place, { tasks: [before] }, store);
    const { id } = await old.enqueue(before, { id: 7 });
    const sluice = await open(place, { tasks: [after] }, store);
    await sluice.worker(QUICK);
    expect(await ended(sluice, id)).toMatchObject({
      state: "failed",
      attempt: 1,
      error: { code: "BAD_INPUT" },
    });
    expect(runs).toBe(0);
  });

  test("progress is seen while it runs, and what it logs joins its history", async () => {
    const { promise, resolve } = deferred();
    const job = task({
      id: "job",
      run: async (_: undefined, { progress, log }: TaskContext) => {
        progress({ done: 1, of: 2 });
        log("halfway", { rows: 500 });
        await promise;
        log("all of it");
      },
    });
    const sluice = await open(place, { tasks: [job] });
    const { id } = await sluice.enqueue(job, undefined);
    await sluice.worker(QUICK);
    await until(async () => (await sluice.get(id))?.progress !== undefined, "its progress is seen");
    expect(await sluice.get(id)).toMatchObject({ state: "running", progress: { done: 1, of: 2 } });
    resolve();
    await ended(sluice, id, "succeeded");
    const events = await sluice.events(id);
    expect(events.map(({ kind }) => kind)).toEqual([
      "TaskEnqueued",
      "TaskClaimed",
      "TaskLogged",
      "TaskLogged",
      "TaskSucceeded",
    ]);
    expect(events.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5]);
    const logged = events
      .filter(({ kind }) => kind === "TaskLogged")
      .map(({ data }) => JSON.parse(data ?? ""));
    expect(logged).toEqual([{ message: "halfway", data: { rows: 500 } }, { message: "all of it" }]);
  });

  describe("a stop", () => {
    test("finishes what runs, and gives back what was claimed ahead with no attempt burnt", async () => {
      const { blocking, begun, release } = blockingTask();
      const app = { tasks: [blocking], prefetch: 4, claimLease: "60s" };
      const sluice = await open(place, app);
      const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
      const enqueued = await sluice.enqueueMany(names.map((input) => ({ task: blocking, input })));
      const ids = enqueued.map(({ id }) => id);
      const worker = await sluice.worker({ ...QUICK, slots: 2 });
      await Promise.all([begun("a"), begun("b")]);
      await until(
        async () => (await sluice.list({ state: "claimed" })).length === 4,
        "four are claimed ahead",
      );
      const stopped = worker.stop();
      await until(async () => (await sluice.list({ state: "waiting" })).length === 6, "they are given back");
      release("a");
      release("b");
      await stopped;
      const states = await Promise.all(ids.map((id) => sluice.get(id)));
      expect(states.map((each) => `${each?.state} ${each?.attempt}`)).toEqual([
        "succeeded 1",
        "succeeded 1",
        ...Array.from({ length: 6 }, () => "waiting 0"),
      ]);
      expect(await sluice.store.sessions()).toEqual([]);
      for (const name of names.slice(2)) release(name);
      await sluice.worker(QUICK);
      expect(await ended(sluice, ids[2] as string)).toMatchObject({
        state: "succeeded",
        attempt: 1,
        losses: 0,
      });
    });

    test("aborts what takes longer than the grace period and gives it back, and it runs elsewhere", async () => {
      const { blocking, begun, release } = blockingTask();
      const sluice = await open(place, { tasks: [blocking] });
      const { id } = await sluice.enqueue(blocking, "a");
      const worker = await sluice.worker(QUICK);
      const { signal } = await begun("a");
      const stopped = worker.stop({ graceMs: 2_000 });
      await aborted(signal);
      expect(signal.reason).toMatchObject({ code: "WORKER_STOPPED" });
      await stopped;
      expect(await sluice.get(id)).toMatchObject({ state: "waiting", attempt: 0, losses: 0 });
      release("a");
      await sluice.worker(QUICK);
      expect(await ended(sluice, id)).toMatchObject({ state: "succeeded", attempt: 1 });
    });
  });

  describe("a worker whose store is away", () => {
    const session = { lease: "1500ms", heartbeat: "200ms" };

    test("aborts what it runs with LEASE_LOST, and its late report is refused", async () => {
      const { blocking, begun, release } = blockingTask({ retry: { attempts: 3, delay: "1ms" } });
      const store = await storeOn(place);
      const line = new BrokenLine(store);
      const app = { tasks: [blocking], session };
      const away = await open(place, app, line.end);
      const { id } = await away.enqueue(blocking, "a");
      const { id: kept } = await away.enqueue(blocking, "b");
      const seen: WorkerEvent[] = [];
      await away.worker({ ...QUICK, watch: (event) => seen.push(event) });
      const [first, other] = await Promise.all([begun("a"), begun("b")]);

      line.cut();
      // The code is done but the store cannot be told. Another worker takes over when the lease ends.
      release("a");
      await until(
        () => seen.some((event) => event.kind === "finished" && event.id === id),
        "it is done there",
      );
      const near = await open(place, app, store);
      await near.worker(QUICK);
      await until(async () => (await near.get(id))?.state === "succeeded", "the other has done it");
      expect(await near.get(id)).toMatchObject({ attempt: 2, losses: 1, result: `a in ${first.fence + 2}` });
      await aborted(other.signal);
      expect(other.signal.reason).toMatchObject({ code: "LEASE_LOST" });
      expect(first.signal.aborted).toBe(false);

      line.mend();
      await until(
        () => seen.some((event) => event.kind === "refused" && event.id === id),
        "its report is refused",
      );
      expect(await near.get(id)).toMatchObject({
        state: "succeeded",
        attempt: 2,
        result: `a in ${first.fence + 2}`,
      });
      // The cut-off worker continues under a new session.
      release("b");
      expect(await ended(near, kept, "succeeded")).toMatchObject({ attempt: 2, losses: 1 });
      expect(await kinds(near, kept)).toContain("TaskLost");
    });

    test("aborts what it runs in time even when the store does not answer at all", async () => {
      const { blocking, begun, release } = blockingTask({ retry: { attempts: 3, delay: "1ms" } });
      const store = await storeOn(place);
      const line = new BrokenLine(store);
      const away = await open(place, { tasks: [blocking], session }, line.end);
      const { id } = await away.enqueue(blocking, "a");
      const worker = await away.worker(QUICK);
      const { signal } = await begun("a");
      const old = worker.session;
      const answer = line.hold("renewSession");
      await aborted(signal);
      expect(signal.reason).toMatchObject({ code: "LEASE_LOST" });
      // The signal fires before anyone else may begin: the store still counts the session as alive.
      expect((await store.sessions()).map((each) => each.id)).toContain(old);
      release("a");
      await until(
        () => worker.session !== undefined && worker.session !== old,
        "it goes on under a new session",
      );
      const fresh = worker.session;
      answer();
      expect(await ended(away, id)).toMatchObject({ state: "succeeded", attempt: 2 });
      // The late answer was about the old session and does not end the new one.
      expect(worker.session).toBe(fresh);
    });

    test("says again what has begun when an answer is lost, so that the claim's own lease does not end it", async () => {
      const { blocking, begun, release } = blockingTask();
      const store = await storeOn(place);
      const line = new BrokenLine(store);
      const app = { tasks: [blocking], session, claimLease: "1s" };
      const away = await open(place, app, line.end);
      const near = await open(place, app, store);
      const seen: WorkerEvent[] = [];
      const worker = await away.worker({ ...QUICK, poll: "1m", watch: (event) => seen.push(event) });
      const { id } = await away.enqueue(blocking, "a");
      await begun("a");
      line.cut();
      worker.wake();
      await until(() => seen.some(({ kind }) => kind === "error"), "an exchange was lost");
      line.mend();
      await near.worker(QUICK);
      const claimed = await claimedAt(near, id);
      await until(async () => (await store.now()) > claimed + 1_500, "its claim lease would be over");
      expect(await near.get(id)).toMatchObject({ state: "running", attempt: 1, losses: 0 });
      release("a");
      await ended(near, id, "succeeded");
    });

    test("never takes an answer about an earlier attempt for one about the attempt that runs now", async () => {
      const { blocking, begun, release } = blockingTask({
        retry: { attempts: 2, delay: "0ms" },
        failFirst: true,
      });
      const store = await storeOn(place);
      const line = new BrokenLine(store);
      const away = await open(place, { tasks: [blocking] }, line.end);
      const { id } = await away.enqueue(blocking, "a");
      await away.worker(QUICK);
      const first = await begun("a");
      // The question is asked during the first attempt and answered during the second.
      const asked = deferred();
      const answer = deferred();
      const answered = deferred();
      const real = store.stale.bind(store);
      store.stale = async (claims) => {
        store.stale = real;
        asked.resolve();
        await answer.promise;
        const stale = await real(claims);
        setImmediate(answered.resolve);
        return stale;
      };
      store.hint("cancel");
      await asked.promise;
      release("a");
      const second = await begun("a", 2);
      expect(second.fence).toBeGreaterThan(first.fence);
      answer.resolve();
      await answered.promise;
      release("a", 2);
      expect(await ended(away, id)).toMatchObject({ state: "succeeded", attempt: 2 });
      expect(second.signal.aborted).toBe(false);
    });
  });
});

describeOn(["postgres"], (place) => {
  describe("enqueue inside the caller's own transaction", () => {
    test("leaves nothing after a rollback, and runs after a commit", async () => {
      const job = task({ id: "job", run: (name: string) => `hello ${name}` });
      const url = (await place.open()) as string;
      const sluice = await connect({ store: url, app: defineApp({ tasks: [job] }), migrate: true });
      onTestFinished(() => sluice.close());
      await sluice.worker({ ...QUICK, poll: "1m" });
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      onTestFinished(() => client.end());

      await client.query("BEGIN");
      const undone = await sluice.enqueue(job, "nobody", { within: client });
      await client.query("ROLLBACK");
      sluice.wake();
      expect(await sluice.get(undone.id)).toBeUndefined();

      await client.query("CREATE TABLE orders (id int)");
      await client.query("BEGIN");
      await client.query("INSERT INTO orders VALUES (7)");
      const { id } = await sluice.enqueue(job, "kim", { within: client });
      // Until the commit, others do not see the task and it blocks nobody.
      expect(await sluice.get(id)).toBeUndefined();
      const { id: other } = await sluice.enqueue(job, "sam");
      await ended(sluice, other, "succeeded");
      await client.query("COMMIT");
      sluice.wake();
      expect(await ended(sluice, id)).toMatchObject({ result: "hello kim" });
      expect(await sluice.list()).toHaveLength(2);
    });

    test("runs with the next poll when nobody says a word", async () => {
      const job = task({ id: "job", run: () => "done" });
      const url = (await place.open()) as string;
      const sluice = await connect({ store: url, app: defineApp({ tasks: [job] }), migrate: true });
      onTestFinished(() => sluice.close());
      await sluice.worker({ poll: "200ms", pollJitter: "0ms" });
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      onTestFinished(() => client.end());
      await client.query("BEGIN");
      const { id } = await sluice.enqueue(job, undefined, { within: client });
      await client.query("COMMIT");
      await ended(sluice, id, "succeeded");
    });
  });
});

describeOn(["memory", "sqlite", "mariadb"], (place) => {
  test("enqueue inside the caller's own transaction is refused in words", async () => {
    const job = task({ id: "job", run: () => {} });
    const sluice = await open(place, { tasks: [job] });
    await expect(sluice.enqueue(job, undefined, { within: {} })).rejects.toMatchObject({
      code: "NO_CALLER_TRANSACTION",
      message: expect.stringContaining("only PostgreSQL can"),
    });
  });
});

/** An app on `store`, or on a new one. All of it ends with the test. */
async function open(place: Place, definition: AppDefinition, store?: Store): Promise<Sluice> {
  const shared = store ?? (await storeOn(place));
  const sluice = await connect({ store: new BrokenLine(shared).end, app: defineApp(definition) });
  onTestFinished(() => sluice.close());
  return sluice;
}

function ended(sluice: Sluice, id: string, as?: TaskState): Promise<TaskView> {
  return until(
    async () => {
      const seen = await sluice.get(id);
      return seen && (as ? seen.state === as : FINAL.includes(seen.state)) && seen;
    },
    `task ${id} is ${as ?? "done"}`,
  );
}

const kinds = async (sluice: Sluice, id: string): Promise<string[]> =>
  (await sluice.events(id)).map(({ kind }) => kind);

const claimedAt = (sluice: Sluice, id: string): Promise<number> =>
  until(
    async () => (await sluice.events(id)).find(({ kind }) => kind === "TaskClaimed")?.at,
    `task ${id} was claimed`,
  );

async function aborted(signal: AbortSignal): Promise<void> {
  await until(() => signal.aborted, "its signal is aborted");
}

interface Stay {
  readonly signal: AbortSignal;
  readonly fence: number;
}

type BlockingOptions = Pick<Parameters<typeof task>[0], "queue" | "retry"> & { readonly failFirst?: boolean };

/** A task that blocks until the test releases it, or throws its abort reason. */
function blockingTask({ failFirst = false, ...options }: BlockingOptions = {}) {
  const begins = new Map<string, Deferred<Stay>>();
  const releases = new Map<string, Deferred<void>>();
  const at = <T>(map: Map<string, Deferred<T>>, name: string, attempt: number): Deferred<T> => {
    const key = `${name} ${attempt}`;
    const found = map.get(key) ?? deferred<T>();
    map.set(key, found);
    return found;
  };
  // Only failFirst distinguishes attempts. Otherwise a release applies to every attempt.
  const which = (attempt: number): number => (failFirst ? attempt : 1);
  const blocking = task({
    id: "blocking",
    ...options,
    run: async (name: string, { signal, fence, attempt }: TaskContext) => {
      at(begins, name, which(attempt)).resolve({ signal, fence });
      const stopped = once(signal, "abort").then(() => {
        if ((signal.reason as SluiceError).code === "WORKER_STOPPED") throw signal.reason;
      });
      await Promise.race([
        at(releases, name, which(attempt)).promise,
        stopped.then(() => new Promise(() => {})),
      ]);
      if (failFirst && attempt === 1) throw new Error("the first time it fails");
      return `${name} in ${fence}`;
    },
  });
  return {
    blocking,
    begun: (name: string, attempt = 1): Promise<Stay> => at(begins, name, attempt).promise,
    release: (name: string, attempt = 1): void => at(releases, name, attempt).resolve(),
  };
}
