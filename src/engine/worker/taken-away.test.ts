import { describe, expect, test } from "vitest";
import type { FakeClaims } from "../../../test/support/worker-world.ts";
import { claim, failure, working } from "../../../test/support/worker-world.ts";
import type { Job } from "../../executor/executor.ts";
import type { Answer } from "../claiming/claims.ts";

describe("a session that ends", () => {
  test("aborts what it ran, reports nothing of it, and a new one begins", async () => {
    const { env, claims, executor, worker, told } = await working([{ claimed: [claim("a", 1)] }]);
    const { signal } = executor.jobs[0] as Job;
    claims.replies = [{ ended: true }];
    claims.hear("work");
    await env.settle();
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({ code: "LEASE_LOST" });
    expect(told("sessionEnded")).toHaveLength(1);
    expect([worker.session, worker.running]).toEqual(["id0002", 0]);
    executor.end("a");
    await env.settle();
    expect(claims.finished).toEqual([]);
  });

  test("does not begin what a late answer brings", async () => {
    const { env, claims, executor, worker, told } = await working([{}]);
    let answer: (late: Partial<Answer>) => void = () => {};
    claims.replies = [
      new Promise((resolve) => {
        answer = resolve;
      }),
    ];
    claims.renew = async () => false;
    claims.hear("work");
    await env.advance(10_000);
    expect(worker.session).toBeUndefined();
    claims.replies = [{ started: ["ahead"] }];
    answer({ claimed: [claim("late", 7), claim("ahead", 8, { held: false })], refused: ["x"] });
    await env.settle();
    expect(executor.ids).toEqual([]);
    expect(worker.session).toBe("id0002");
    expect([told("claimed"), told("refused")]).toEqual([[], []]);
  });

  test("does not begin what arrives after its trusted time, even if nobody has said so yet", async () => {
    const { env, claims, executor, told } = await working([{}]);
    let answer: (late: Partial<Answer>) => void = () => {};
    claims.replies = [
      new Promise((resolve) => {
        answer = resolve;
      }),
    ];
    claims.hear("work");
    await env.settle();
    env.freeze(26_000);
    answer({ claimed: [claim("late", 7)] });
    await env.settle();
    expect(executor.ids).toEqual([]);
    expect(told("sessionEnded")).toHaveLength(1);
  });

  test("forgets the claims it had not begun", async () => {
    const ahead = claim("ahead", 2, { held: false });
    const { env, claims, executor } = await working([{ claimed: [ahead] }]);
    claims.replies = [{ ended: true }, { started: ["ahead"] }];
    claims.hear("work");
    await env.settle();
    await env.settle();
    expect(claims.calls).toContain("open id0002");
    expect(executor.ids).toEqual([]);
  });
});

describe("a heartbeat", () => {
  test("aborts what is no longer ours, and says so", async () => {
    const { env, claims, executor, worker } = await working([{ claimed: [claim("a", 1), claim("b", 2)] }]);
    const signals = executor.jobs.map(({ signal }) => signal);
    claims.gone = ["a"];
    await env.advance(10_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(signals[0]?.reason).toMatchObject({ code: "CANCELLED" });
    expect([worker.running, claims.finished]).toEqual([2, []]);
    executor.end("a");
    await env.settle();
    expect(worker.running).toBe(1);
    expect(claims.reports.at(-1)).toMatchObject({
      active: 1,
      finished: [{ id: "a", epoch: 1, to: "stopped" }],
    });
  });
});

describe("a task that is claimed anew", () => {
  /** A store where only the first claim of the task is no longer ours. */
  const forgetsTheFirst = (claims: FakeClaims): void => {
    claims.stale = async (asked) => asked.filter(({ epoch }) => epoch === 1).map(({ id }) => id);
  };

  test("takes the place of its claim that was kept ahead and has lapsed", async () => {
    const { env, claims, executor } = await working([{ claimed: [claim("a", 1, { held: false })] }]);
    claims.replies = [{ claimed: [claim("a", 2)] }];
    claims.hear("work");
    await env.settle();
    forgetsTheFirst(claims);
    await env.advance(10_000);
    expect(executor.jobs.map(({ fence, signal }) => [fence, signal.aborted])).toEqual([[2, false]]);
    executor.end("a");
    await env.settle();
    expect(claims.finished).toEqual(["a succeeded"]);
  });

  test("and kept ahead is not given up for its claim that still runs here", async () => {
    const { env, claims, executor } = await working([{ claimed: [claim("a", 1)] }]);
    const [first] = executor.jobs;
    claims.replies = [{ claimed: [claim("a", 2, { held: false })] }];
    claims.hear("work");
    await env.settle();
    expect(first?.signal.aborted).toBe(true);
    forgetsTheFirst(claims);
    await env.advance(10_000);
    claims.replies = [{ started: ["a"] }];
    claims.hear("work");
    await env.settle();
    expect(executor.jobs.map(({ fence }) => fence)).toEqual([1, 2]);
  });
});

describe("a word of a cancelled task", () => {
  test("is looked into a moment later, once for many, and frees the slot when the code has ended", async () => {
    const { env, claims, executor, worker } = await working([{ claimed: [claim("a", 1)] }]);
    let looks = 0;
    const stale = claims.stale.bind(claims);
    claims.stale = (asked) => {
      looks += 1;
      return stale(asked);
    };
    claims.gone = ["a"];
    for (let word = 0; word < 20; word += 1) claims.hear("cancel");
    expect(executor.jobs[0]?.signal.aborted).toBe(false);
    await env.advance(50);
    expect([looks, executor.jobs[0]?.signal.aborted, worker.running]).toEqual([1, true, 1]);
    expect(claims.reports.at(-1)?.active).toBe(1);
    executor.end("a");
    await env.settle();
    expect([worker.running, claims.reports.at(-1)?.active]).toEqual([0, 0]);
  });

  test("costs nothing where nothing runs", async () => {
    const { env, claims } = await working([{}]);
    const planned = env.planned.length;
    claims.hear("cancel");
    expect(env.planned).toHaveLength(planned);
  });

  test("does not touch the same task when it runs again under another epoch", async () => {
    const { env, claims, executor } = await working([{ claimed: [claim("a", 1)] }]);
    let answer: (stale: string[]) => void = () => {};
    claims.stale = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    claims.hear("cancel");
    await env.advance(50);
    executor.end("a", failure);
    claims.replies = [{ claimed: [claim("a", 2, { attempt: 2 })] }];
    await env.settle();
    answer(["a"]);
    await env.settle();
    expect(executor.jobs.map(({ fence, signal }) => [fence, signal.aborted])).toEqual([
      [1, false],
      [2, false],
    ]);
  });
});
