import { describe, expect, test } from "vitest";
import { claim, inTime, until, working } from "../../../test/support/worker-world.ts";
import { SluiceError } from "../../core/error.ts";
import type { Claimed } from "../claiming/claims.ts";

describe("after an exchange that failed", () => {
  test("it reports again what it had reported, and what came since", async () => {
    const { env, claims, executor, told } = await working([{ claimed: [claim("a", 1), claim("b", 2)] }]);
    claims.replies = [new Error("the line is broken")];
    claims.holds = [claim("b", 2)];
    executor.end("a");
    await env.settle();
    executor.end("b");
    await until(env, () => claims.finished.length >= 3);
    expect(claims.finished).toEqual(["a succeeded", "a succeeded", "b succeeded"]);
    expect(told("error")).toMatchObject([{ error: new Error("the line is broken") }]);
  });

  test("it adopts what the lost answer may have brought, and nothing twice", async () => {
    const { claims, executor, env } = await working([{ claimed: [claim("a", 1), claim("b", 2)] }]);
    claims.replies = [new Error("answer lost")];
    claims.holds = [claim("a", 1), claim("b", 2), claim("new", 3), claim("ahead", 4, { held: false })];
    executor.end("a");
    await env.settle();
    await until(env, () => executor.ids.includes("new"));
    expect(executor.ids).toEqual(["a", "b", "new"]);
    claims.replies = [{ started: ["ahead"] }];
    claims.hear("work");
    await until(env, () => executor.ids.includes("ahead"));
    expect(executor.ids).toEqual(["a", "b", "new", "ahead"]);
  });

  test("it asks until it is answered, and exchanges nothing before", async () => {
    const { env, claims, executor } = await working([{}]);
    const { length } = claims.reports;
    let asked = 0;
    claims.held = async () => {
      asked += 1;
      expect(claims.reports).toHaveLength(length + 1);
      if (asked < 3) throw new Error("still away");
      return [claim("unknown", 3)];
    };
    claims.replies = [new Error("answer lost")];
    claims.hear("work");
    await until(env, () => executor.ids.includes("unknown"));
    expect(asked).toBe(3);
  });

  test("it does not run again what ended while it asked what it holds", async () => {
    const { claims, executor, env } = await working([{ claimed: [claim("a", 1)] }]);
    let answer: (held: Claimed[]) => void = () => {};
    claims.holds = new Promise((resolve) => {
      answer = resolve;
    });
    claims.replies = [new Error("answer lost")];
    claims.hear("work");
    await until(env, () => claims.calls.includes("held"));
    executor.end("a");
    await env.settle();
    answer([claim("a", 1)]);
    await until(env, () => claims.finished.includes("a succeeded"));
    expect(executor.ids).toEqual(["a"]);
  });

  test("it gives back what it adopts while it is stopping", async () => {
    const { env, claims, executor, worker } = await working([{}]);
    let fail: (error: Error) => void = () => {};
    claims.replies = [
      new Promise((_, reject) => {
        fail = reject;
      }),
    ];
    claims.holds = [claim("never begun", 9)];
    claims.hear("work");
    await until(env, () => claims.reports.length === 2);
    const stop = worker.stop();
    fail(new Error("answer lost"));
    await inTime(env, stop);
    expect(executor.ids).toEqual([]);
    expect(claims.finished).toEqual(["never begun returned"]);
  });

  test("it waits longer each time, and goes on when the store is back", async () => {
    const { env, claims, told } = await working([new Error("1"), new Error("2"), new Error("3"), {}]);
    await until(env, () => claims.reports.length >= 4);
    expect(told("error")).toHaveLength(3);
  });

  test("it goes on, too, when it was about to ask again", async () => {
    const { env, claims, executor } = await working([{}]);
    let fail: (error: Error) => void = () => {};
    claims.replies = [
      new Promise((_, reject) => {
        fail = reject;
      }),
      { claimed: [claim("after", 5)] },
    ];
    claims.hear("work");
    await until(env, () => claims.reports.length === 2);
    claims.hear("work");
    await env.settle();
    fail(new Error("answer lost"));
    await until(env, () => executor.ids.includes("after"));
  });
});

describe("when the store is not there any more", () => {
  const gone = (): Error => new SluiceError("STORE_GONE", "The file was deleted.");
  const OFTEN = { lease: { leaseMs: 1_000, heartbeatMs: 100 } };

  test("it aborts its code as with a lost lease, says so once, asks nothing more, and stops", async () => {
    const { env, claims, executor, told, worker } = await working([{ claimed: [claim("a", 1)] }]);
    claims.replies = [gone()];
    const { length } = claims.reports;
    claims.hear("work");
    await until(env, () => told("storeGone").length > 0);
    expect(executor.jobs[0]?.signal.reason).toMatchObject({ code: "LEASE_LOST", cause: gone() });
    worker.unanswered(gone());
    claims.hear("work");
    await env.settle();
    expect([worker.session, claims.reports.length, told("storeGone").length]).toEqual([
      undefined,
      length + 1,
      1,
    ]);
    // Its code still runs, so the stop waits for it.
    const stopped = worker.stop();
    await env.settle();
    expect(worker.running).toBe(1);
    executor.end("a");
    await inTime(env, stopped);
    expect(claims.reports).toHaveLength(length + 1);
    expect(claims.finished).toEqual([]);
  });

  test("it notices that with a renewal", async () => {
    const { env, claims, told } = await working([{}], OFTEN);
    claims.renew = () => Promise.reject(gone());
    await until(env, () => told("storeGone").length > 0);
    expect(told("sessionEnded")).toEqual([]);
  });

  test("a stop that waits for code is over when that code has ended", async () => {
    const { env, claims, executor, told, worker } = await working([{ claimed: [claim("a", 1)] }], OFTEN);
    const stopped = worker.stop();
    await env.settle();
    claims.renew = () => Promise.reject(gone());
    await until(env, () => told("storeGone").length > 0);
    executor.end("a");
    await inTime(env, stopped);
    expect(claims.finished).toEqual([]);
  });
});
