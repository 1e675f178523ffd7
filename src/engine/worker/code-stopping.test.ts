import { describe, expect, test } from "vitest";
import type { FakeClaims } from "../../../test/support/worker-world.ts";
import { claim, done, failure, until, working, world } from "../../../test/support/worker-world.ts";
import type { Ending } from "../../executor/executor.ts";
import type { Answer } from "../claiming/claims.ts";

describe("code that is stopping", () => {
  const stops = (claims: FakeClaims): string[] =>
    claims.reports.flatMap(({ finished }) =>
      finished.flatMap((one) => (one.to === "stopped" ? [`${one.id} ${one.epoch}`] : [])),
    );

  test("uses its slot until it has ended, and that is said by its epoch", async () => {
    const { env, claims, executor, worker } = await working([{ claimed: [claim("a", 1)] }]);
    claims.gone = ["a"];
    await env.advance(10_000);
    worker.wake();
    await env.settle();
    expect([claims.reports.at(-1)?.active, stops(claims)]).toEqual([1, []]);
    executor.end("a", failure);
    await env.settle();
    expect([claims.reports.at(-1)?.active, stops(claims)]).toEqual([0, ["a 1"]]);
    expect(claims.finished).toEqual(["a stopped"]);
  });

  test("after its timeout has failed at once, and is said to have stopped when it has", async () => {
    const { env, claims, executor, worker } = await working([{ claimed: [claim("a", 1)] }]);
    let end: () => void = () => {};
    const stopping = new Promise<void>((resolve) => {
      end = resolve;
    });
    executor.end("a", { ...failure, stopping } as Ending);
    await env.settle();
    expect(claims.reports.at(-1)).toMatchObject({ active: 1, finished: [{ to: "failed", stopping: true }] });
    expect(worker.running).toBe(1);
    end();
    await env.settle();
    expect([worker.running, claims.finished]).toEqual([0, ["a failed", "a stopped"]]);
  });

  test("is not said to have stopped before the store knows that its claim is over", async () => {
    const made = await working([{ claimed: [claim("a", 1)] }], { slots: 100 });
    const { env, claims, executor } = made;
    let answer: (reply: Partial<Answer>) => void = () => {};
    claims.replies = [
      new Promise((resolve) => {
        answer = resolve;
      }),
    ];
    let end: () => void = () => {};
    const stopping = new Promise<void>((resolve) => {
      end = resolve;
    });
    executor.end("a", { ...failure, stopping } as Ending);
    await env.settle();
    end();
    claims.hear("work");
    await env.settle();
    // Another exchange was made meanwhile and did not mention it.
    expect([claims.finished, claims.reports.at(-1)?.finished]).toEqual([["a failed"], []]);
    answer({});
    await env.settle();
    expect(claims.finished).toEqual(["a failed", "a stopped"]);
  });

  test("beside a new claim of the same task: each is reported by its own epoch", async () => {
    const { env, claims, executor } = await working([{ claimed: [claim("a", 1)] }]);
    const endFirst = executor.end.bind(executor, "a");
    const [first] = executor.jobs;
    const ends: ((ending: Ending) => void)[] = [];
    executor.run = (job) => {
      executor.jobs.push(job);
      return new Promise((resolve) => ends.push(resolve));
    };
    claims.replies = [{ claimed: [claim("a", 2)] }];
    claims.hear("work");
    await env.settle();
    // The task was claimed anew, so the first claim was taken away, whether we had heard of that or not.
    expect([first?.signal.aborted, executor.jobs[1]?.signal.aborted]).toEqual([true, false]);
    expect(claims.reports.at(-1)?.active).toBeLessThanOrEqual(2);
    ends[0]?.(done());
    await env.settle();
    expect(claims.reports.at(-1)).toMatchObject({
      active: 1,
      finished: [{ id: "a", epoch: 2, to: "succeeded" }],
    });
    endFirst();
    await env.settle();
    expect(stops(claims)).toEqual(["a 1"]);
  });

  test("that ended as it was cancelled: its report is refused, and what it held is let go of", async () => {
    const { env, claims, executor } = await working([{ claimed: [claim("a", 1)] }]);
    claims.replies = [{ refused: ["a"] }];
    executor.end("a");
    await env.settle();
    expect(claims.finished).toEqual(["a succeeded", "a stopped"]);
  });

  test("that is not here, because the answer with its claim was lost, is let go of", async () => {
    const { env, claims } = await working([{}]);
    claims.replies = [new Error("lost")];
    claims.kept = [{ id: "a", epoch: 7 }];
    claims.hear("work");
    await env.settle();
    await until(env, () => stops(claims).length > 0);
    expect(stops(claims)).toEqual(["a 7"]);
  });

  test("that is not here is let go of with a heartbeat, too; what runs here is not", async () => {
    const { env, claims } = await working([{ claimed: [claim("a", 1), claim("b", 2, { held: false })] }]);
    claims.gone = ["a"];
    claims.kept = [
      { id: "a", epoch: 1 },
      { id: "b", epoch: 2 },
      { id: "c", epoch: 3 },
    ];
    await env.advance(10_000);
    await env.settle();
    expect(stops(claims)).toEqual(["c 3"]);
  });

  test("in an answer that is still on its way will run here, so it is not let go of", async () => {
    const { env, claims, executor } = await working([{}]);
    let answer: (reply: Partial<Answer>) => void = () => {};
    claims.replies = [
      new Promise((resolve) => {
        answer = resolve;
      }),
    ];
    claims.hear("work");
    await env.settle();
    claims.kept = [{ id: "late", epoch: 7 }];
    await env.advance(10_000);
    await env.settle();
    expect(stops(claims)).toEqual([]);
    answer({ claimed: [claim("late", 7)] });
    await env.settle();
    expect([executor.ids, stops(claims)]).toEqual([["late"], []]);
  });

  test("is forgotten with its session: its slot came back with the lease", async () => {
    const { env, claims, executor, worker } = await working([{ claimed: [claim("a", 1)] }]);
    claims.gone = ["a"];
    await env.advance(10_000);
    claims.replies = [{ ended: true }];
    claims.hear("work");
    await env.settle();
    expect(worker.running).toBe(0);
    executor.end("a");
    await env.settle();
    expect(stops(claims)).toEqual([]);
  });

  test("is waited for by a stop", async () => {
    const { env, claims, executor, worker } = await working([{ claimed: [claim("a", 1)] }]);
    claims.gone = ["a"];
    await env.advance(10_000);
    let isOver = false;
    const stop = worker.stop({ graceMs: 30_000 }).then(() => {
      isOver = true;
    });
    await env.settle();
    expect(isOver).toBe(false);
    executor.end("a");
    await stop;
    expect(claims.finished).toEqual(["a stopped"]);
  });

  test("keeps the lease of its pool for as long as it is renewed, and asks no more when that is lost", async () => {
    const made = world();
    made.claims.replies = [{ claimed: [claim("a", 1, { leaseMs: 3_000 })] }];
    await made.worker.start();
    await made.env.settle();
    const { env, claims, executor } = made;
    claims.gone = ["a"];
    claims.renewed = [1];
    claims.hear("cancel");
    await env.advance(50);
    const asked = () => claims.calls.filter((call) => call === "renewClaims").length;
    await env.advance(1_000);
    const before = asked();
    expect(before).toBeGreaterThan(0);
    claims.renewed = [];
    await env.advance(1_000);
    const after = asked();
    await env.advance(5_000);
    expect([after > before, asked() - after]).toEqual([true, 0]);
    executor.end("a");
    await env.settle();
    expect(stops(claims)).toEqual(["a 1"]);
  });
});
