import { describe, expect, test } from "vitest";
import { claim, done, failure, RETRIED, working, world } from "../../../test/support/worker-world.ts";
import type { Ending } from "../../executor/executor.ts";
import type { Answer, Claimed, Ended, Report } from "../claiming/claims.ts";

describe("a worker", () => {
  test("opens its session, asks for work, and runs what it is given", async () => {
    const { claims, executor, worker } = await working([{ claimed: [claim("a", 1), claim("b", 2)] }]);
    expect(claims.calls).toEqual(["open id0001"]);
    expect(worker.session).toBe("id0001");
    expect(claims.reports[0]).toMatchObject({
      active: 0,
      hinted: true,
      draining: false,
      finished: [],
      started: [],
    });
    expect(executor.jobs.map(({ id, fence, attempt }) => [id, fence, attempt])).toEqual([
      ["a", 1, 1],
      ["b", 2, 1],
    ]);
    expect(worker.running).toBe(2);
  });

  test("lets reports ride on the next exchange, together, and says how many slots are in use after them", async () => {
    const { env, claims, executor } = await working([
      { claimed: [claim("a", 1), claim("b", 2), claim("c", 3)] },
    ]);
    const before = claims.reports.length;
    executor.end("a", done('"r"'));
    executor.end("b", failure);
    await env.settle();
    expect(claims.reports).toHaveLength(before + 1);
    const { finished, active, hinted } = claims.reports.at(-1) as Report;
    expect(finished).toMatchObject([
      { id: "a", epoch: 1, to: "succeeded", body: '"r"' },
      { id: "b", epoch: 2, to: "failed" },
    ]);
    expect(JSON.parse((finished[1] as Ended).body ?? "")).toEqual({ name: "Error", message: "no" });
    expect([active, hinted]).toEqual([1, false]);
  });

  test("says once which claims have begun, of those that are not over in a moment", async () => {
    const { env, claims, worker } = await working([{ claimed: [claim("a", 1)] }]);
    worker.wake();
    await env.settle();
    expect(claims.reports.map(({ started }) => started)).toEqual([[], []]);
    await env.advance(100);
    worker.wake();
    await env.settle();
    expect(claims.reports.map(({ started }) => started)).toEqual([[], [], [{ id: "a", epoch: 1 }], []]);
  });

  test("a claim is told to the store only when its code has begun, and so long after that", async () => {
    const { env, claims, executor, worker, told } = world({ claimLeaseMs: 60_000 });
    executor.beginsAtOnce = false;
    claims.replies = [{ claimed: [claim("a", 1)] }];
    await worker.start();
    await env.settle();
    await env.advance(10_000);
    worker.wake();
    await env.settle();
    expect(claims.reports.flatMap(({ started }) => started)).toEqual([]);
    expect(told("started")).toEqual([]);
    executor.jobs[0]?.begins?.();
    expect(told("started")).toMatchObject([{ id: "a", epoch: 1 }]);
    await env.advance(100);
    await env.settle();
    expect(claims.reports.flatMap(({ started }) => started)).toEqual([{ id: "a", epoch: 1 }]);
  });

  test("code may begin within three quarters of the claim lease, counted from when the claim was asked for", async () => {
    let answer = (_: Partial<Answer>): void => {};
    const reply = new Promise<Partial<Answer>>((resolve) => {
      answer = resolve;
    });
    const { env, executor, claims } = await working([reply], { claimLeaseMs: 60_000 });
    const askedAt = env.monotonic();
    await env.advance(5_000);
    answer({ claimed: [claim("a", 1)] });
    await env.settle();
    expect(executor.jobs[0]?.beginBy).toBe(askedAt + 45_000);
    executor.end("a", { ok: false, error: { name: "Error", message: "" }, retryable: true, begun: false });
    await env.settle();
    expect(claims.finished).toEqual(["a returned"]);
  });

  test("asks for no work for places that cannot begin anything now", async () => {
    const { env, claims, executor, worker } = await working([{ claimed: [claim("a", 1)] }]);
    executor.blockedPlaces = 3;
    worker.wake();
    await env.settle();
    expect(claims.reports.at(-1)).toMatchObject({ active: 4 });
    executor.blockedPlaces = 0;
    worker.wake();
    await env.settle();
    expect(claims.reports.at(-1)).toMatchObject({ active: 1 });
  });

  test("asks again at once while there is more, and then no longer", async () => {
    const { env, claims } = await working([{ more: true }, { more: true }, {}]);
    await env.settle();
    await env.settle();
    expect(claims.reports).toHaveLength(3);
  });

  test("asks again when it hears of work", async () => {
    const { env, claims } = await working([{}]);
    claims.hear("work");
    await env.settle();
    expect(claims.reports.map(({ hinted }) => hinted)).toEqual([true, true]);
  });

  test("takes in its own turn, a moment later, what it had left to others", async () => {
    const { env, claims } = await working([{ yielded: true }]);
    await env.advance(49);
    expect(claims.reports).toHaveLength(1);
    await env.advance(1);
    expect(claims.reports.map(({ ownTurn }) => ownTurn)).toEqual([false, true]);
    claims.hear("work");
    await env.settle();
    expect(claims.reports.at(-1)?.ownTurn).toBe(false);
  });

  test("tells of reports that came too late", async () => {
    const { told } = await working([{ refused: ["a", "b"] }]);
    expect(told("refused")).toEqual([
      { kind: "refused", id: "a" },
      { kind: "refused", id: "b" },
    ]);
  });

  test("keeps claims without slots until it is told to start them", async () => {
    const ahead = claim("later", 2, { held: false });
    const { env, claims, executor } = await working([{ claimed: [claim("now", 1), ahead] }]);
    expect(executor.ids).toEqual(["now"]);
    claims.replies = [{ started: ["later"] }];
    executor.end("now");
    await env.settle();
    expect(executor.ids).toEqual(["now", "later"]);
    claims.hear("work");
    await env.settle();
    // The store started it itself, so it need not be told.
    expect(claims.reports.at(-1)?.started).toEqual([]);
  });

  test("writes what a task said before it reports its end", async () => {
    const { env, claims, executor } = await working([{ claimed: [claim("a", 1)] }]);
    executor.jobs[0]?.log("last words");
    executor.jobs[0]?.progress(100);
    executor.end("a");
    await env.settle();
    expect(claims.calls).toEqual(["open id0001", "note", "progress"]);
    expect(claims.finished).toEqual(["a succeeded"]);
  });

  test("counts an executor that fails itself as a failed attempt", async () => {
    const made = world();
    made.claims.replies = [{ claimed: [claim("a", 1), claim("b", 2, { options: RETRIED })] }];
    made.executor.run = async () => {
      throw new Error("no process could be started");
    };
    await made.worker.start();
    await made.env.settle();
    expect(made.claims.finished).toEqual(["a failed", "b retry"]);
    expect(made.claims.reports.at(-1)?.finished[0]).toMatchObject({
      body: expect.stringContaining("no process could be started"),
    });
  });
});

describe("an attempt that failed", () => {
  const reported = async (ending: Ending, more: Partial<Claimed>, now = 0) => {
    const { env, claims, executor } = await working([{ now, claimed: [claim("a", 1, more)] }]);
    executor.end("a", ending);
    await env.settle();
    return claims.reports.at(-1)?.finished[0];
  };

  test("is retried after the delay of its policy", async () => {
    expect(await reported(failure, { options: RETRIED })).toMatchObject({ to: "retry", delayMs: 700 });
  });

  test("is not retried when it says so itself, or when no attempt is left, or without a policy", async () => {
    const final = { to: "failed", delayMs: 0 };
    expect(await reported({ ...failure, retryable: false }, { options: RETRIED })).toMatchObject(final);
    expect(await reported(failure, { options: RETRIED, attempt: 3 })).toMatchObject(final);
    expect(await reported(failure, { options: "{}" })).toMatchObject(final);
  });

  test("is not retried past its deadline, by the store's clock", async () => {
    const late = { options: RETRIED, goodUntil: 5_700 };
    expect(await reported(failure, late, 5_000)).toMatchObject({ to: "failed" });
    expect(await reported(failure, late, 4_999)).toMatchObject({ to: "retry" });
  });
});

describe("a worker with very many slots", () => {
  const full = (from: number, count: number): Claimed[] =>
    Array.from({ length: count }, (_, index) => claim(`u${from + index}`, from + index));

  test("claims half of them at a time, until they are all in use", async () => {
    const { env, claims, executor } = await working(
      [
        { claimed: full(0, 50), more: true },
        { claimed: full(50, 50), more: true },
      ],
      { slots: 100 },
    );
    await env.settle();
    expect(executor.jobs).toHaveLength(100);
    expect(claims.reports[0]).toMatchObject({ active: 0, appetite: 50 });
    expect(claims.reports[1]).toMatchObject({ active: 50, appetite: 50 });
    claims.hear("work");
    await env.settle();
    expect(claims.reports.at(-1)).toMatchObject({ active: 100 });
  });

  test("never asks for more than its slots, whatever is on its way", async () => {
    const { env, claims, executor, worker } = await working([{}], { slots: 100 });
    const asked = claims.reports.length;
    const answers: ((answer: Partial<Answer>) => void)[] = [];
    const pending = (): Promise<Partial<Answer>> => new Promise((resolve) => answers.push(resolve));
    claims.replies = [pending(), pending(), pending()];
    for (let word = 0; word < 4; word += 1) {
      claims.hear("work");
      await env.settle();
    }
    const onTheirWay = claims.reports.slice(asked);
    expect(onTheirWay.length).toBeLessThanOrEqual(2);
    onTheirWay.forEach(({ active, appetite }, index) => {
      expect([active, appetite]).toEqual([index * 50, 50]);
    });
    answers[0]?.({ claimed: full(0, 50) });
    answers[1]?.({ claimed: full(50, 50) });
    answers[2]?.({});
    await env.settle();
    expect([executor.jobs.length, worker.running]).toEqual([100, 100]);
  });

  test("opens one new session after a lost one, however many exchanges wait for it", async () => {
    const { env, claims, executor, worker } = await working([{ claimed: full(0, 2) }], { slots: 100 });
    const opens: (() => void)[] = [];
    claims.open = (session) => {
      claims.calls.push(`open ${session}`);
      return new Promise((resolve) => opens.push(resolve));
    };
    claims.replies = [{ ended: true }];
    claims.hear("work");
    await env.settle();
    for (let word = 0; word < 4; word += 1) {
      claims.hear("work");
      await env.settle();
    }
    claims.replies = [{ claimed: full(10, 1) }];
    for (const open of opens) open();
    await env.settle();
    expect(claims.calls.filter((call) => call.startsWith("open"))).toEqual(["open id0001", "open id0002"]);
    expect([worker.session, executor.ids.at(-1)]).toEqual(["id0002", "u10"]);
  });

  test("does not begin in a new session what the old one had claimed", async () => {
    const made = world({ slots: 100 });
    let answer: (reply: Partial<Answer>) => void = () => {};
    made.claims.replies = [
      new Promise((resolve) => {
        answer = resolve;
      }),
    ];
    await made.worker.start();
    await made.env.settle();
    made.env.freeze(26_000);
    answer({ claimed: full(0, 50) });
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    // The answer is taken and nothing has started yet. Only now does the process notice how long it slept.
    expect([made.told("claimed").length, made.executor.jobs.length]).toEqual([50, 0]);
    made.env.thaw();
    await made.env.settle();
    expect(made.claims.calls).toContain("open id0002");
    expect(made.executor.ids).toEqual([]);
  });
});
