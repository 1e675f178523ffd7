import { describe, expect, test } from "vitest";
import { claim, failure, inTime, until, working, world } from "../../../test/support/worker-world.ts";
import type { Job } from "../../executor/executor.ts";
import type { Answer } from "../claiming/claims.ts";

describe("a stop", () => {
  test("returns claims that never began, takes no new work, waits for what runs, and closes", async () => {
    const ahead = claim("ahead", 2, { held: false });
    const { env, claims, executor, worker } = await working([{ claimed: [claim("a", 1), ahead] }], {});
    let stopped = false;
    const stop = worker.stop().then(() => {
      stopped = true;
    });
    await env.settle();
    expect(claims.reports.at(-1)).toMatchObject({
      draining: true,
      finished: [{ id: "ahead", epoch: 2, to: "returned" }],
    });
    expect(stopped).toBe(false);
    executor.end("a");
    await stop;
    expect(claims.finished).toEqual(["ahead returned", "a succeeded"]);
    expect(claims.calls.slice(-2)).toEqual(["unlisten", "close"]);
    expect(worker.session).toBeUndefined();
  });

  test("says at once that it takes nothing more, while code still runs", async () => {
    const { env, claims, executor, worker } = await working([{ claimed: [claim("a", 1)] }], {});
    const stop = worker.stop();
    await env.settle();
    expect(claims.calls).toContain("retire");
    executor.end("a");
    await stop;
    const idle = await working([{}], {});
    await idle.worker.stop();
    expect(idle.claims.calls).not.toContain("retire");
  });

  test("gives back what an exchange still brings", async () => {
    const { env, claims, executor, worker } = await working([{}]);
    let answer: (late: Partial<Answer>) => void = () => {};
    claims.replies = [
      new Promise((resolve) => {
        answer = resolve;
      }),
    ];
    claims.hear("work");
    await env.settle();
    const stop = worker.stop();
    answer({ claimed: [claim("late", 7)] });
    await stop;
    expect(executor.ids).toEqual([]);
    expect(claims.finished).toEqual(["late returned"]);
  });

  test("gives it back even when the store takes longer than the stop would wait", async () => {
    const { env, claims, executor, worker } = await working([{}], { slots: 100 });
    let answer: (late: Partial<Answer>) => void = () => {};
    claims.replies = [
      new Promise((resolve) => {
        answer = resolve;
      }),
    ];
    claims.hear("work");
    await until(env, () => claims.reports.length === 2);
    const stop = worker.stop({ graceMs: 0 });
    await env.advance(1_100);
    answer({ claimed: [claim("late", 7)] });
    await stop;
    expect(executor.ids).toEqual([]);
    expect(claims.finished).toEqual(["late returned"]);
  });

  test("aborts what takes longer than the grace period, and still reports it", async () => {
    const { env, claims, executor, worker } = await working([{ claimed: [claim("a", 1)] }]);
    const { signal } = executor.jobs[0] as Job;
    signal.addEventListener("abort", () => executor.end("a", failure));
    await inTime(env, worker.stop({ graceMs: 10 }));
    expect(signal.reason).toMatchObject({ code: "WORKER_STOPPED" });
    expect(claims.finished).toEqual(["a failed"]);
  });

  test("with a very long grace period does not abort at once", async () => {
    const { env, executor, worker } = await working([{ claimed: [claim("a", 1)] }]);
    const { signal } = executor.jobs[0] as Job;
    const stop = worker.stop({ graceMs: 365 * 86_400_000 });
    await env.advance(60_000);
    expect(signal.aborted).toBe(false);
    executor.end("a");
    await stop;
  });

  test("that is asked for twice ends both at once, when the last task has ended", async () => {
    const { env, executor, worker } = await working([{ claimed: [claim("a", 1)] }]);
    const both = Promise.all([worker.stop({ graceMs: 20_000 }), worker.stop({ graceMs: 20_000 })]);
    await env.settle();
    executor.end("a");
    let isOver = false;
    void both.then(() => {
      isOver = true;
    });
    await env.settle();
    expect(isOver).toBe(true);
  });

  test("that is asked for again with less time ends sooner", async () => {
    const { env, executor, worker } = await working([{ claimed: [claim("a", 1)] }]);
    const { signal } = executor.jobs[0] as Job;
    signal.addEventListener("abort", () => executor.end("a", failure));
    const both = Promise.all([worker.stop({ graceMs: 30_000 }), worker.stop({ graceMs: 1_000 })]);
    await env.advance(699);
    expect(signal.aborted).toBe(false);
    await env.advance(1);
    expect(signal.aborted).toBe(true);
    await both;
    expect(env.planned).toEqual([]);
  });

  test("that comes while the session is opened ends the worker before it claims", async () => {
    const { env, claims, executor, worker } = world();
    claims.replies = [{ claimed: [claim("a", 1)] }];
    const start = worker.start();
    const stop = worker.stop();
    await start;
    await inTime(env, stop);
    expect([claims.reports, executor.ids]).toEqual([[], []]);
    expect([claims.calls.at(-1), worker.session]).toEqual(["close", undefined]);
  });

  test("ends even when the store does not come back", async () => {
    const { claims, executor, worker, env } = await working([{ claimed: [claim("a", 1)] }]);
    claims.exchange = async () => {
      throw new Error("away");
    };
    executor.end("a");
    await env.settle();
    await inTime(env, worker.stop({ graceMs: 10 }));
    expect(claims.calls).toContain("close");
  });

  test("is harmless before a start and after a stop, and a worker can be started again", async () => {
    const { env, claims, executor, worker } = world();
    await worker.stop();
    expect(claims.calls).toEqual([]);
    await worker.start();
    await worker.stop();
    await worker.stop();
    expect(claims.calls.filter((call) => call === "close")).toHaveLength(1);
    claims.replies = [{ claimed: [claim("a", 1)] }];
    await worker.start();
    await env.settle();
    expect(executor.ids).toEqual(["a"]);
  });
});
