import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Ending, Job } from "../executor.ts";
import { Attempts } from "./attempts.ts";
import { machineNow } from "./machine-time.ts";
import type { Run, ToParent } from "./message.ts";

const run = (job: number, more: Partial<Run> = {}): Run => ({
  sluice: "run",
  job,
  id: `id${job}`,
  name: "t",
  input: "{}",
  attempt: 2,
  fence: 7,
  beginBy: Number.POSITIVE_INFINITY,
  until: 0,
  ...more,
});
const done: Ending = { ok: true, result: "1" };

/** Attempts whose code ends when the test says so. */
function serving(until = 0) {
  const told: ToParent[] = [];
  const begun: { job: Job; end: (ending: Ending | PromiseLike<Ending>) => void }[] = [];
  let left = 0;
  const executor = {
    run: (job: Job): Promise<Ending> => new Promise((end) => begun.push({ job, end })),
  };
  const attempts = new Attempts(
    executor,
    () => until,
    (message, sent = () => {}) => {
      told.push(message);
      sent();
    },
    () => {
      left += 1;
    },
  );
  return { attempts, told, begun, left: () => left };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a deadline that has passed", () => {
  test("refuses what would begin, whether the lifeline or the job itself tells it", async () => {
    const past = Math.floor(machineNow() - 1);
    for (const { attempts, told, begun, message } of [
      { ...serving(past), message: run(1) },
      { ...serving(), message: run(1, { until: past }) },
    ]) {
      attempts.hear(message);
      await settled();
      expect(begun).toEqual([]);
      expect(told).toMatchObject([
        { sluice: "ended", job: 1, ending: { ok: false, retryable: true, error: { code: "LEASE_LOST" } } },
      ]);
    }
  });

  test("does not refuse when the lifeline knows a later one than the job brings", async () => {
    const { attempts, begun } = serving(machineNow() + 60_000);
    attempts.hear(run(1, { until: Math.floor(machineNow() - 1) }));
    await settled();
    expect(begun).toHaveLength(1);
  });
});

describe("an abort", () => {
  test("reaches the job it names, before or after its code has asked for the signal", async () => {
    const { attempts, begun } = serving();
    for (const number of [1, 2, 3]) attempts.hear(run(number));
    await settled();
    const [first, second, third] = begun.map(({ job }) => job) as [Job, Job, Job];
    const early = first.signal;
    for (const job of [1, 2])
      attempts.hear({
        sluice: "abort",
        job,
        reason: { name: "SluiceError", code: "CANCELLED", message: "no" },
      });
    expect(early.reason).toMatchObject({ name: "SluiceError", code: "CANCELLED", message: "no" });
    expect(second.signal.reason).toMatchObject({ code: "CANCELLED" });
    expect(third.signal.aborted).toBe(false);
  });

  test("keeps its first reason", async () => {
    const { attempts, begun } = serving();
    attempts.hear(run(1));
    await settled();
    for (const code of ["LEASE_LOST", "TIMEOUT"])
      attempts.hear({ sluice: "abort", job: 1, reason: { name: "SluiceError", code, message: "" } });
    expect(begun[0]?.job.signal.reason).toMatchObject({ code: "LEASE_LOST" });
  });

  test("of something that has ended is nothing", () => {
    const { attempts } = serving();
    attempts.hear({ sluice: "abort", job: 9, reason: { name: "Error", message: "" } });
  });
});

describe("leaving", () => {
  test("happens at once when nothing runs", () => {
    const { attempts, left } = serving();
    attempts.hear({ sluice: "leave" });
    expect(left()).toBe(1);
  });

  test("waits for what runs, and comes after its end was told", async () => {
    const { attempts, begun, told, left } = serving();
    attempts.hear(run(1));
    attempts.hear(run(2));
    attempts.hear({ sluice: "leave" });
    await settled();
    begun[0]?.end(done);
    await settled();
    expect(left()).toBe(0);
    begun[1]?.end(done);
    await settled();
    expect(left()).toBe(1);
    expect(told).toEqual([
      ...[1, 2].map((job) => ({ sluice: "begun", job })),
      ...[1, 2].map((job) => ({ sluice: "ended", job, ending: done })),
    ]);
  });
});

test("an executor that fails itself fails the attempt and nothing else", async () => {
  const { attempts, begun, told } = serving();
  attempts.hear(run(1));
  await settled();
  begun[0]?.end(Promise.reject(new TypeError("broken")));
  await settled();
  expect(told).toMatchObject([
    { sluice: "begun", job: 1 },
    { job: 1, ending: { ok: false, retryable: true, error: { name: "TypeError", message: "broken" } } },
  ]);
});

test("code begins only once the parent can know of it", async () => {
  let out = (): void => {};
  let ran = 0;
  const executor = {
    run: async (): Promise<Ending> => {
      ran += 1;
      return done;
    },
  };
  const tell = (message: ToParent, sent = () => {}): void => {
    if (message.sluice === "begun") out = sent;
  };
  new Attempts(
    executor,
    () => 0,
    tell,
    () => {},
  ).hear(run(1));
  await settled();
  expect(ran).toBe(0);
  out();
  await settled();
  expect(ran).toBe(1);
});

describe("an offer that is no longer good", () => {
  test("is not run, and the parent is told", async () => {
    const { attempts, begun, told } = serving();
    attempts.hear(run(1, { beginBy: machineNow() - 1 }));
    await settled();
    expect(begun).toEqual([]);
    expect(told).toEqual([{ sluice: "missed", job: 1 }]);
  });

  test("once the word that it begins is out, is not run either: the parent may have looked before", async () => {
    const told: ToParent[] = [];
    let ran = 0;
    let out = (): void => {};
    const executor = {
      run: async (): Promise<Ending> => {
        ran += 1;
        return done;
      },
    };
    const tell = (message: ToParent, sent = () => {}): void => {
      told.push(message);
      if (message.sluice === "begun") out = sent;
    };
    const attempts = new Attempts(
      executor,
      () => 0,
      tell,
      () => {},
    );
    const clock = vi.spyOn(process.hrtime, "bigint").mockReturnValue(1_000_000n);
    onTestFinished(() => clock.mockRestore());
    const beginBy = machineNow() + 30;
    attempts.hear(run(1, { beginBy }));
    clock.mockReturnValue(31_000_000n);
    out();
    await settled();
    expect(ran).toBe(0);
    expect(told.map(({ sluice }) => sluice)).toEqual(["begun", "missed"]);
  });
});

test("an executor that answers before its code has ended is not believed: the end is told when it has", async () => {
  const { attempts, begun, told } = serving();
  attempts.hear(run(1));
  await settled();
  let stopped = (): void => {};
  const stopping = new Promise<void>((resolve) => {
    stopped = resolve;
  });
  begun[0]?.end({ ok: false, error: { name: "Error", message: "over" }, retryable: true, stopping });
  await settled();
  expect(told).toHaveLength(1);
  stopped();
  await settled();
  expect(told[1]).toEqual({
    sluice: "ended",
    job: 1,
    ending: { ok: false, error: { name: "Error", message: "over" }, retryable: true },
  });
});

test("a call that is open when its code ends is answered, and the process does not leave before that", async () => {
  const { attempts, begun, told, left } = serving();
  attempts.hear(run(1));
  await settled();
  const job = begun[0]?.job as Job;
  const [first, second] = [job.call?.({ verb: "run" }), job.call?.({ verb: "run" })];
  begun[0]?.end(done);
  await settled();
  expect(told.at(-1)).toMatchObject({ sluice: "ended", job: 1 });
  attempts.hear({ sluice: "leave" });
  attempts.hear({ sluice: "answer", job: 1, call: 1, answer: { ok: true, value: "one" } });
  expect(left()).toBe(0);
  attempts.hear({ sluice: "answer", job: 1, call: 2, answer: { ok: true, value: "two" } });
  expect(await Promise.all([first, second])).toEqual(["one", "two"]);
  expect(left()).toBe(1);
});
