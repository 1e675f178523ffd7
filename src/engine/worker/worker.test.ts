import { afterEach, describe, expect, test } from "vitest";
import type { Hear } from "../../core/hint.ts";
import type { Ending, Executor, Job } from "../../executor/executor.ts";
import { FakeEnv } from "../../testing/fake-env.ts";
import type { Answer, Claimed, Claims, Ended, Report } from "../claiming/claims.ts";
import type { WorkerEvent, WorkerOptions } from "./worker.ts";
import { Worker } from "./worker.ts";

const NOTHING: Answer = {
  now: 0,
  claimed: [],
  started: [],
  refused: [],
  more: false,
  yielded: false,
  ended: false,
};

const claim = (id: string, epoch: number, more: Partial<Claimed> = {}): Claimed => ({
  id,
  name: "t",
  lane: "lane",
  epoch,
  attempt: 1,
  losses: 0,
  held: true,
  input: "{}",
  options: "{}",
  goodUntil: null,
  leaseMs: null,
  ...more,
});

const RETRIED = JSON.stringify({
  retry: { attempts: 3, backoff: "fixed", delayMs: 700, maxDelayMs: 700, jitter: 0 },
});

const done = (result = "1"): Ending => ({ ok: true, result });
const failure: Ending = { ok: false, error: { name: "Error", message: "no" }, retryable: true };

type Reply = Partial<Answer> | Error | Promise<Partial<Answer>>;

/** The work is wherever the test says: each exchange is answered with the next reply, or with nothing new. */
class FakeClaims implements Claims {
  atOnce = 1;
  readonly reports: Report[] = [];
  readonly calls: string[] = [];
  replies: Reply[] = [];
  holds: Claimed[] | Promise<Claimed[]> = [];
  gone: string[] = [];
  renewed: number[] = [];
  /** Claims of ours that were taken away, as the store knows them. */
  kept: { id: string; epoch: number }[] = [];
  hear: Hear = () => {};

  async open(session: string): Promise<void> {
    this.calls.push(`open ${session}`);
  }
  async renew(): Promise<boolean> {
    this.calls.push("renew");
    return true;
  }
  async renewClaims(): Promise<readonly number[]> {
    this.calls.push("renewClaims");
    return this.renewed;
  }
  async stopping(): Promise<readonly { id: string; epoch: number }[]> {
    return this.kept;
  }
  async exchange(report: Report): Promise<Answer> {
    this.reports.push(report);
    const reply = this.replies.shift() ?? {};
    if (reply instanceof Error) throw reply;
    return { ...NOTHING, ...(await reply) };
  }
  async held(): Promise<readonly Claimed[]> {
    this.calls.push("held");
    return this.holds;
  }
  async stale(claims: readonly { id: string }[]): Promise<readonly string[]> {
    return claims.map(({ id }) => id).filter((id) => this.gone.includes(id));
  }
  async progress(): Promise<void> {
    this.calls.push("progress");
  }
  async note(): Promise<void> {
    this.calls.push("note");
  }
  async listen(hear: Hear): Promise<() => Promise<void>> {
    this.hear = hear;
    return async () => {
      this.calls.push("unlisten");
    };
  }
  async close(): Promise<void> {
    this.calls.push("close");
  }

  /** Everything reported so far, as "id to". */
  get finished(): string[] {
    return this.reports.flatMap(({ finished }) => finished.map(({ id, to }) => `${id} ${to}`));
  }
}

/** Runs until it is told how the attempt ended. */
class FakeExecutor implements Executor {
  readonly jobs: Job[] = [];
  readonly #ends = new Map<string, (ending: Ending) => void>();
  /** False: as where no process can begin it yet. */
  beginsAtOnce = true;
  blockedPlaces = 0;
  blocked(): number {
    return this.blockedPlaces;
  }
  run(job: Job): Promise<Ending> {
    this.jobs.push(job);
    if (this.beginsAtOnce) job.begins?.();
    return new Promise((resolve) => this.#ends.set(job.id, resolve));
  }
  end(id: string, ending: Ending = done()): void {
    this.#ends.get(id)?.(ending);
  }
  endAll(): void {
    for (const id of this.ids) this.end(id);
  }
  get ids(): string[] {
    return this.jobs.map(({ id }) => id);
  }
}

interface World {
  readonly env: FakeEnv;
  readonly claims: FakeClaims;
  readonly executor: FakeExecutor;
  readonly events: WorkerEvent[];
  readonly worker: Worker;
  readonly told: (kind: WorkerEvent["kind"]) => WorkerEvent[];
}

const worlds: World[] = [];

afterEach(async () => {
  for (const { executor, worker } of worlds.splice(0)) {
    executor.endAll();
    await worker.stop({ graceMs: 100 });
  }
});

function world(options: Partial<WorkerOptions> = {}): World {
  const env = new FakeEnv();
  const claims = new FakeClaims();
  claims.atOnce = options.slots === 100 ? 2 : 1;
  const executor = new FakeExecutor();
  const events: WorkerEvent[] = [];
  const worker = new Worker(claims, executor, env, {
    slots: 4,
    lease: { leaseMs: 30_000, heartbeatMs: 10_000 },
    graceMs: 30_000,
    watch: (event) => events.push(event),
    ...options,
  });
  const told = (kind: WorkerEvent["kind"]) => events.filter((event) => event.kind === kind);
  const made = { env, claims, executor, events, worker, told };
  worlds.push(made);
  return made;
}

/** A worker whose first exchange brought these. */
async function working(replies: Reply[], options: Partial<WorkerOptions> = {}): Promise<World> {
  const made = world(options);
  made.claims.replies = replies;
  await made.worker.start();
  await made.env.settle();
  return made;
}

async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !isSo(); turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 2));
  expect(isSo()).toBe(true);
}

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

describe("after an exchange that failed", () => {
  test("it reports again what it had reported, and what came since", async () => {
    const { env, claims, executor, told } = await working([{ claimed: [claim("a", 1), claim("b", 2)] }]);
    claims.replies = [new Error("the line is broken")];
    claims.holds = [claim("b", 2)];
    executor.end("a");
    await env.settle();
    executor.end("b");
    await until(() => claims.finished.length >= 3);
    expect(claims.finished).toEqual(["a succeeded", "a succeeded", "b succeeded"]);
    expect(told("error")).toMatchObject([{ error: new Error("the line is broken") }]);
  });

  test("it adopts what the lost answer may have brought, and nothing twice", async () => {
    const { claims, executor, env } = await working([{ claimed: [claim("a", 1), claim("b", 2)] }]);
    claims.replies = [new Error("answer lost")];
    claims.holds = [claim("a", 1), claim("b", 2), claim("new", 3), claim("ahead", 4, { held: false })];
    executor.end("a");
    await env.settle();
    await until(() => executor.ids.includes("new"));
    expect(executor.ids).toEqual(["a", "b", "new"]);
    claims.replies = [{ started: ["ahead"] }];
    claims.hear("work");
    await until(() => executor.ids.includes("ahead"));
    expect(executor.ids).toEqual(["a", "b", "new", "ahead"]);
  });

  test("it asks until it is answered, and exchanges nothing before", async () => {
    const { claims, executor } = await working([{}]);
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
    await until(() => executor.ids.includes("unknown"));
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
    await until(() => claims.calls.includes("held"));
    executor.end("a");
    await env.settle();
    answer([claim("a", 1)]);
    await until(() => claims.finished.includes("a succeeded"));
    expect(executor.ids).toEqual(["a"]);
  });

  test("it gives back what it adopts while it is stopping", async () => {
    const { claims, executor, worker } = await working([{}]);
    let fail: (error: Error) => void = () => {};
    claims.replies = [
      new Promise((_, reject) => {
        fail = reject;
      }),
    ];
    claims.holds = [claim("never begun", 9)];
    claims.hear("work");
    await until(() => claims.reports.length === 2);
    const stop = worker.stop();
    fail(new Error("answer lost"));
    await stop;
    expect(executor.ids).toEqual([]);
    expect(claims.finished).toEqual(["never begun returned"]);
  });

  test("it waits longer each time, and goes on when the store is back", async () => {
    const { claims, told } = await working([new Error("1"), new Error("2"), new Error("3"), {}]);
    await until(() => claims.reports.length >= 4);
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
    await until(() => claims.reports.length === 2);
    claims.hear("work");
    await env.settle();
    fail(new Error("answer lost"));
    await until(() => executor.ids.includes("after"));
  });
});

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
    // Another exchange was made meanwhile, and said nothing of it.
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
    // It was claimed anew, so the first claim was taken away, whether we had heard of that or not.
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
    await until(() => stops(claims).length > 0);
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
    const { claims, executor, worker } = await working([{}], { slots: 100 });
    let answer: (late: Partial<Answer>) => void = () => {};
    claims.replies = [
      new Promise((resolve) => {
        answer = resolve;
      }),
    ];
    claims.hear("work");
    await until(() => claims.reports.length === 2);
    const stop = worker.stop({ graceMs: 0 });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    answer({ claimed: [claim("late", 7)] });
    await stop;
    expect(executor.ids).toEqual([]);
    expect(claims.finished).toEqual(["late returned"]);
  });

  test("aborts what takes longer than the grace period, and still reports it", async () => {
    const { claims, executor, worker } = await working([{ claimed: [claim("a", 1)] }]);
    const { signal } = executor.jobs[0] as Job;
    signal.addEventListener("abort", () => executor.end("a", failure));
    await worker.stop({ graceMs: 10 });
    expect(signal.reason).toMatchObject({ code: "WORKER_STOPPED" });
    expect(claims.finished).toEqual(["a failed"]);
  });

  test("with a grace period longer than a timer can count does not abort at once", async () => {
    const { executor, worker } = await working([{ claimed: [claim("a", 1)] }]);
    const { signal } = executor.jobs[0] as Job;
    const stop = worker.stop({ graceMs: 365 * 86_400_000 });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(signal.aborted).toBe(false);
    executor.end("a");
    await stop;
  });

  test("that is asked for twice ends both at once, when the last task has ended", async () => {
    const { env, executor, worker } = await working([{ claimed: [claim("a", 1)] }]);
    const both = Promise.all([worker.stop({ graceMs: 20_000 }), worker.stop({ graceMs: 20_000 })]);
    await env.settle();
    executor.end("a");
    const late = new Promise((resolve) => setTimeout(() => resolve("late"), 2_000));
    expect(await Promise.race([both.then(() => "both"), late])).toBe("both");
  });

  test("ends even when the store does not come back", async () => {
    const { claims, executor, worker, env } = await working([{ claimed: [claim("a", 1)] }]);
    claims.exchange = async () => {
      throw new Error("away");
    };
    executor.end("a");
    await env.settle();
    await worker.stop({ graceMs: 10 });
    expect(claims.calls).toContain("close");
  }, 15_000);

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
    // The answer is taken, and nothing has begun yet; only now does the process notice how long it slept.
    expect([made.told("claimed").length, made.executor.jobs.length]).toEqual([50, 0]);
    made.env.thaw();
    await made.env.settle();
    expect(made.claims.calls).toContain("open id0002");
    expect(made.executor.ids).toEqual([]);
  });
});
