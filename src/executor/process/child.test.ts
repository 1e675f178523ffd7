import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Ending, Job } from "../executor.ts";
import { Assignment } from "./assignment.ts";
import { Child } from "./child.ts";
import type { ToChild, ToParent } from "./message.ts";

/** A process that does only what the test says, in the order the test says. */
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

function withJob(more: Partial<Job> = {}) {
  const abort = new AbortController();
  const child = new Child({ entry: "" }, () => {});
  fake.says({ sluice: "ready" });
  const job: Job = {
    id: "id",
    name: "t",
    input: "{}",
    attempt: 1,
    fence: 1,
    timeoutMs: null,
    signal: abort.signal,
    progress: () => {},
    log: () => {},
    ...more,
  };
  const assignment = new Assignment(1, job, 5_000, nobody);
  child.take(assignment, 0);
  return { child, abort, assignment };
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
      (child: Child) => child.kill(),
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
    vi.advanceTimersByTime(2_100);
    fake.says({ sluice: "ended", job: 1, ending: done });
    await immediate();
    expect(fake.signals).toEqual([]);
    expect(await assignment.ending).toEqual(done);
  });

  test("is ended two seconds after its timeout, or so long after its abort, whichever is first", async () => {
    for (const { timeoutMs, abortAt, killedAt } of [
      { timeoutMs: 1_000, abortAt: undefined, killedAt: 3_000 },
      { timeoutMs: null, abortAt: 1_000, killedAt: 6_000 },
      { timeoutMs: 10_000, abortAt: 1_000, killedAt: 6_000 },
      { timeoutMs: 1_000, abortAt: 500, killedAt: 3_000 },
    ]) {
      fake = new FakeProcess();
      const { abort } = withJob({ timeoutMs });
      if (abortAt !== undefined) {
        vi.advanceTimersByTime(abortAt);
        abort.abort();
      }
      vi.advanceTimersByTime(killedAt - (abortAt ?? 0) - 1);
      await immediate();
      expect(fake.signals).toEqual([]);
      vi.advanceTimersByTime(1);
      await immediate();
      expect(fake.signals).toEqual(["SIGKILL"]);
    }
  });

  test("has no timer once it has ended, and none at all without a timeout", () => {
    const before = vi.getTimerCount();
    withJob();
    expect(vi.getTimerCount()).toBe(before);
    fake.says({ sluice: "ended", job: 1, ending: done });
    fake = new FakeProcess();
    withJob({ timeoutMs: 100 });
    expect(vi.getTimerCount()).toBe(before + 1);
    fake.says({ sluice: "ended", job: 1, ending: done });
    expect(vi.getTimerCount()).toBe(before);
  });
});
