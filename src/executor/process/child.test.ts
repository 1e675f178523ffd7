import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { SluiceError } from "../../core/error.ts";
import type { Ending, Failed, Job } from "../executor.ts";
import { Assignment } from "./assignment.ts";
import { Child } from "./child.ts";
import type { ToChild, ToParent } from "./message.ts";

/** A process that does only what the test says, in that order. */
class FakeProcess extends EventEmitter {
  readonly pid = 7;
  readonly stdio = [];
  readonly sent: ToChild[] = [];
  readonly signals: string[] = [];
  connected = true;
  send(message: ToChild): void {
    this.sent.push(message);
  }
  kill(signal: string): void {
    this.signals.push(signal);
  }
  says(message: ToParent): void {
    this.emit("message", message);
  }
  disconnects(): void {
    this.connected = false;
    this.emit("disconnect");
  }
}

let fake: FakeProcess;
vi.mock("./spawn.ts", () => ({ spawn: () => fake as unknown as ChildProcess, lifelineOf: () => undefined }));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  fake = new FakeProcess();
});
afterEach(() => void vi.useRealTimers());

const done: Ending = { ok: true, result: "1" };
const nobody = { aborted: () => {}, overstayed: () => {} };

const jobOf = (more: Partial<Job> = {}): Job => ({
  id: "id",
  name: "t",
  input: "{}",
  attempt: 1,
  fence: 1,
  timeoutMs: null,
  signal: new AbortController().signal,
  progress: () => {},
  log: () => {},
  ...more,
});

function withJob(more: Partial<Job> = {}) {
  const abort = new AbortController();
  const unbegun: Assignment[] = [];
  const child = new Child({ entry: "" }, { freed: () => {}, unbegun: (each) => unbegun.push(each) });
  fake.says({ sluice: "ready" });
  const assignment = new Assignment(jobOf({ signal: abort.signal, ...more }), 5_000, nobody);
  child.take(assignment, 0);
  return { child, abort, assignment, unbegun };
}

const immediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a process that has exited", () => {
  test("is over only when all it said was heard", async () => {
    const { assignment } = withJob();
    fake.emit("exit", 1, null);
    fake.says({ sluice: "ended", job: 1, ending: done });
    fake.disconnects();
    expect(await assignment.ending).toEqual(done);
  });

  test("is over soon, even if somebody else holds its channel open", async () => {
    const { child, assignment } = withJob();
    fake.says({ sluice: "begun", job: 1 });
    fake.emit("exit", 1, null);
    vi.advanceTimersByTime(200);
    expect(await assignment.ending).toMatchObject({ crashed: true });
    expect(await child.gone).toMatchObject({ pid: 7, exitCode: 1, jobsEnded: 0 });
  });

  test("has run nothing of a job that it never said had begun, aborted or not", async () => {
    for (const abort of [false, true]) {
      fake = new FakeProcess();
      const job = withJob();
      if (abort) job.abort.abort();
      fake.emit("exit", null, "SIGKILL");
      fake.disconnects();
      const ending = await job.assignment.ending;
      expect(ending).toMatchObject({ ok: false, begun: false });
      expect(ending).not.toHaveProperty("crashed");
    }
  });

  test("takes no more jobs, nor does one that was killed or told to leave", () => {
    for (const end of [
      () => void fake.emit("exit", 1, null),
      (child: Child) => child.kill("deaf"),
      (child: Child) => void child.leave({ name: "Error", message: "" }),
      () => fake.disconnects(),
    ]) {
      fake = new FakeProcess();
      const { child } = withJob();
      expect(child.canTake).toBe(true);
      end(child);
      expect(child.canTake).toBe(false);
    }
  });

  test("on its own is not killed on top of it", () => {
    withJob();
    fake.disconnects();
    vi.advanceTimersByTime(900);
    expect(fake.signals).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(fake.signals).toEqual(["SIGKILL"]);
  });
});

describe("a job that has overstayed", () => {
  test("is not ended by force when its end only was not read yet, as after a freeze of our own", async () => {
    const { assignment } = withJob({ timeoutMs: 100 });
    fake.says({ sluice: "begun", job: 1 });
    vi.advanceTimersByTime(10_000);
    fake.says({ sluice: "ended", job: 1, ending: done });
    await immediate();
    expect(fake.signals).toEqual([]);
    expect(await assignment.ending).toEqual(done);
  });

  test("is ended so long after its timeout or its abort, whichever is first", async () => {
    for (const { timeoutMs, abortAt, killedAt } of [
      { timeoutMs: 1_000, abortAt: undefined, killedAt: 6_000 },
      { timeoutMs: null, abortAt: 1_000, killedAt: 6_000 },
      { timeoutMs: 10_000, abortAt: 1_000, killedAt: 6_000 },
      { timeoutMs: 1_000, abortAt: 500, killedAt: 5_500 },
    ]) {
      fake = new FakeProcess();
      const { abort } = withJob({ timeoutMs });
      fake.says({ sluice: "begun", job: 1 });
      const first = abortAt ?? timeoutMs ?? 0;
      vi.advanceTimersByTime(first);
      if (abortAt !== undefined) abort.abort();
      await immediate();
      vi.advanceTimersByTime(killedAt - first - 1);
      await immediate();
      expect(fake.signals).toEqual([]);
      vi.advanceTimersByTime(1);
      await immediate();
      expect(fake.signals).toEqual(["SIGKILL"]);
    }
  });

  test("has no timer once it has ended, and none while it runs without a timeout", () => {
    const before = vi.getTimerCount();
    withJob();
    fake.says({ sluice: "begun", job: 1 });
    expect(vi.getTimerCount()).toBe(before);
    fake.says({ sluice: "ended", job: 1, ending: done });
    fake = new FakeProcess();
    withJob({ timeoutMs: 100 });
    fake.says({ sluice: "begun", job: 1 });
    expect(vi.getTimerCount()).toBe(before + 1);
    fake.says({ sluice: "ended", job: 1, ending: done });
    expect(vi.getTimerCount()).toBe(before);
  });
});

describe("a job that is out of its time", () => {
  const timedOut = { ok: false, retryable: true, error: { code: "TIMEOUT" } };

  async function outOfTime() {
    const { assignment, child, abort } = withJob({ timeoutMs: 100 });
    fake.says({ sluice: "begun", job: 1 });
    vi.advanceTimersByTime(100);
    const ending = await assignment.ending;
    expect(ending).toMatchObject(timedOut);
    const { stopping = Promise.resolve() } = ending as Failed;
    const seen = { hasStopped: false };
    void stopping.then(() => {
      seen.hasStopped = true;
    });
    await immediate();
    return { child, abort, stopping, seen };
  }

  test("is answered at once and told to stop; it is still in its process until that says that it has ended", async () => {
    const { child, stopping, seen } = await outOfTime();
    expect(fake.sent.at(-1)).toMatchObject({ sluice: "abort", job: 1, reason: { code: "TIMEOUT" } });
    expect([seen.hasStopped, child.load, child.isRisky]).toEqual([false, 1, true]);
    fake.says({ sluice: "ended", job: 1, ending: done });
    await stopping;
    expect(child.load).toBe(0);
  });

  test("has stopped, too, when its process is gone", async () => {
    const { stopping, seen } = await outOfTime();
    fake.emit("exit", null, "SIGKILL");
    await immediate();
    expect(seen.hasStopped).toBe(false);
    fake.disconnects();
    await stopping;
  });

  test("has its time from when it began, not from when it was handed over", async () => {
    const { assignment } = withJob({ timeoutMs: 100 });
    vi.advanceTimersByTime(200);
    fake.says({ sluice: "begun", job: 1 });
    vi.advanceTimersByTime(99);
    await immediate();
    fake.says({ sluice: "ended", job: 1, ending: done });
    expect(await assignment.ending).toEqual(done);
  });
});

describe("an offer", () => {
  /** The machine's clock follows the fake timers here. */
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: 1_000 });
    vi.spyOn(process.hrtime, "bigint").mockImplementation(() => BigInt(Date.now()) * 1_000_000n);
  });
  afterEach(() => void vi.restoreAllMocks());

  async function passes(): Promise<void> {
    vi.advanceTimersByTime(300);
    await immediate();
  }

  test("says until when the job may begin, and never later than the job itself allows", () => {
    withJob();
    expect(fake.sent).toMatchObject([{ sluice: "run", beginBy: Date.now() + 250 }]);
    fake = new FakeProcess();
    withJob({ beginBy: performance.now() + 100 });
    const { beginBy } = fake.sent[0] as { beginBy: number };
    expect(beginBy).toBeLessThanOrEqual(Date.now() + 100);
  });

  test("that passes without a word gives the job back, and the child takes nothing until it answers", async () => {
    const { child, assignment, unbegun } = withJob();
    await passes();
    expect(unbegun).toEqual([assignment]);
    expect([child.load, child.canTake]).toEqual([0, false]);
    fake.says({ sluice: "missed", job: 1 });
    expect(child.canTake).toBe(true);
    // The job was already given back once, so it is not given back again.
    expect(unbegun).toEqual([assignment]);
  });

  test("is longer the next time, and has a number of its own: a late word about the first is not taken for it", async () => {
    const { child, assignment, unbegun } = withJob();
    await passes();
    fake.says({ sluice: "missed", job: 1 });
    child.take(assignment, 0);
    expect(fake.sent.at(-1)).toMatchObject({ sluice: "run", job: 2, beginBy: Date.now() + 500 });
    fake.says({ sluice: "begun", job: 1 });
    expect(assignment.hasBegun).toBe(false);
    vi.advanceTimersByTime(600);
    await immediate();
    expect(unbegun).toHaveLength(2);
  });

  test("that was taken is not judged by its word being read late", async () => {
    const { unbegun } = withJob();
    vi.advanceTimersByTime(300);
    fake.says({ sluice: "begun", job: 1 });
    await immediate();
    expect(unbegun).toEqual([]);
  });

  test("that the child has read too late is given back at once, and one of which it had said begun ends as not begun", async () => {
    const early = withJob();
    fake.says({ sluice: "missed", job: 1 });
    expect(early.unbegun).toEqual([early.assignment]);
    expect(early.child.canTake).toBe(true);
    fake = new FakeProcess();
    const { assignment, unbegun } = withJob();
    fake.says({ sluice: "begun", job: 1 });
    fake.says({ sluice: "missed", job: 1 });
    expect(unbegun).toEqual([]);
    expect(await assignment.ending).toMatchObject({ ok: false, begun: false });
  });

  test("of a job that is aborted before it began costs no process", async () => {
    const { abort, assignment, unbegun } = withJob();
    abort.abort();
    await passes();
    expect(unbegun).toEqual([assignment]);
    vi.advanceTimersByTime(4_900);
    expect(fake.signals).toEqual([]);
  });

  test("without an answer costs a child in which nothing runs its life, and no other", async () => {
    const { child } = withJob();
    const neighbour = new Assignment(jobOf(), 5_000, nobody);
    child.take(neighbour, 0);
    fake.says({ sluice: "begun", job: 2 });
    await passes();
    vi.advanceTimersByTime(30_000);
    expect(fake.signals).toEqual([]);
    fake.says({ sluice: "ended", job: 2, ending: done });
    vi.advanceTimersByTime(5_000);
    expect(fake.signals).toEqual(["SIGKILL"]);
    fake.emit("exit", null, "SIGKILL");
    fake.disconnects();
    expect(await child.gone).toMatchObject({ killedFor: "silent" });
  });
});

describe("a process that is killed because the code of one job did not stop", () => {
  /** Two jobs that run. The first is aborted, and its grace is over. */
  async function overstays(before: () => void = () => {}) {
    const { child, abort, assignment } = withJob({ name: "hog" });
    const neighbour = new Assignment(jobOf({ id: "neighbour" }), 5_000, nobody);
    child.take(neighbour, 0);
    fake.says({ sluice: "begun", job: 1 });
    fake.says({ sluice: "begun", job: 2 });
    abort.abort(new SluiceError("CANCELLED", "It was cancelled."));
    vi.advanceTimersByTime(4_999);
    before();
    vi.advanceTimersByTime(1);
    await immediate();
    return { child, assignment, neighbour };
  }

  test("ends the others as bystanders, and tells which job it was", async () => {
    const { child, assignment, neighbour } = await overstays();
    expect(fake.signals).toEqual(["SIGKILL"]);
    fake.emit("exit", null, "SIGKILL");
    fake.disconnects();
    expect(await assignment.ending).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    const ending = await neighbour.ending;
    expect(ending).toMatchObject({
      bystander: true,
      error: {
        code: "PROCESS_ENDED",
        message: 'Its process was ended, because task "hog" id in it did not stop within 5s of its cancel.',
      },
    });
    expect(ending).not.toHaveProperty("crashed");
    expect(await child.gone).toMatchObject({ killedFor: "deaf", overstayed: { name: "hog", id: "id" } });
  });

  test("but was already dead: then it has died, and the others have crashed", async () => {
    const { child, neighbour } = await overstays(() => fake.emit("exit", null, "SIGKILL"));
    expect(fake.signals).toEqual([]);
    fake.disconnects();
    expect(await neighbour.ending).toMatchObject({ crashed: true, error: { code: "PROCESS_DIED" } });
    expect(await child.gone).toMatchObject({ killedFor: undefined, overstayed: undefined });
  });
});

test("a process that closes its channel and stays alive is told as that", async () => {
  const { child, assignment } = withJob();
  fake.says({ sluice: "begun", job: 1 });
  fake.disconnects();
  vi.advanceTimersByTime(1_000);
  fake.emit("exit", null, "SIGKILL");
  expect(await assignment.ending).toMatchObject({
    crashed: true,
    error: { message: expect.stringContaining("closed its channel to the worker") },
  });
  expect(await child.gone).toMatchObject({ killedFor: "unreachable" });
});

test("a call for a job that it does not have is answered, and starts nothing", async () => {
  const asked: unknown[] = [];
  withJob({ call: async (call) => void asked.push(call) });
  fake.says({ sluice: "begun", job: 1 });
  fake.says({ sluice: "ended", job: 1, ending: done });
  fake.says({ sluice: "call", job: 1, call: 3, asks: { verb: "run" } });
  await immediate();
  expect(fake.sent.at(-1)).toMatchObject({
    sluice: "answer",
    job: 1,
    call: 3,
    answer: { ok: false, error: { code: "TASK_ENDED" } },
  });
  expect(asked).toEqual([]);
});
