// Children respect the deadline of the lease, whatever their parent or their code does.

import { afterEach, describe, expect, test } from "vitest";
import type { ProcessExecutor } from "../../src/executor/process/process-executor.ts";
import { job, pidOf, startExecutor } from "./support/executors.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const trust = (executor: ProcessExecutor, ms: number): void => executor.trustedUntil(performance.now() + ms);

function keepTrusting(executor: ProcessExecutor, leaseMs: number): () => void {
  trust(executor, leaseMs);
  const timer = setInterval(() => trust(executor, leaseMs), leaseMs / 20);
  ends.push(() => clearInterval(timer));
  return () => clearInterval(timer);
}

describe("when the deadline passes", () => {
  test("running code is aborted with LEASE_LOST", async () => {
    const { executor, pids } = await startExecutor();
    trust(executor, 1_000);
    const wait = job("wait");
    const ending = await executor.run(wait);
    expect(ending).toMatchObject({ ok: true, result: expect.stringContaining("LEASE_LOST") });
    expect(wait.said).toEqual([{ message: "begun", data: pids[0] }]);
  });

  test("so is code that began before there was one", async () => {
    const { executor } = await startExecutor();
    const wait = job("wait");
    const ending = executor.run(wait);
    await wait.begun;
    trust(executor, 200);
    expect(await ending).toMatchObject({ ok: true, result: expect.stringContaining("LEASE_LOST") });
  });

  test("nothing begins any more, until there is a new one", async () => {
    const { executor, pids } = await startExecutor();
    trust(executor, -1);
    const wait = job("wait");
    expect(await executor.run(wait)).toMatchObject({
      ok: false,
      retryable: true,
      error: { code: "LEASE_LOST" },
    });
    expect(wait.said).toEqual([]);
    trust(executor, 60_000);
    expect(await pidOf(executor)).toBe(pids[0]);
  });

  test("an earlier one that is told late changes nothing", async () => {
    const { executor, pids } = await startExecutor();
    trust(executor, 60_000);
    trust(executor, -1);
    expect(await pidOf(executor)).toBe(pids[0]);
  });

  test("it has passed for children, too, that came later", async () => {
    const { executor, died, pids } = await startExecutor();
    trust(executor, -1);
    process.kill(pids[0] as number, "SIGKILL");
    await died(1);
    expect(await executor.run(job("wait"))).toMatchObject({ ok: false, error: { code: "LEASE_LOST" } });
    expect(pids).toHaveLength(2);
    trust(executor, 500);
    expect(await executor.run(job("wait"))).toMatchObject({ result: expect.stringContaining("LEASE_LOST") });
  });
});

describe("code that blocks its loop for several leases", () => {
  test("is not taken for lost, and what waited behind it begins, while the parent renews", async () => {
    const { executor } = await startExecutor({ concurrency: 2 });
    keepTrusting(executor, 1_000);
    const block = job("blockFor", 3_000);
    const ending = executor.run(block);
    await block.begun;
    const behind = executor.run(job("pid"));
    expect(await ending).toEqual({ ok: true, result: '"held"' });
    expect(await behind).toMatchObject({ ok: true });
  });

  test("is taken for lost, and nothing begins behind it, when the parent does not", async () => {
    const { executor } = await startExecutor({ concurrency: 2 });
    trust(executor, 500);
    const block = job("blockFor", 1_000);
    const ending = executor.run(block);
    await block.begun;
    const behind = job("wait");
    const other = executor.run(behind);
    expect(await ending).toEqual({ ok: true, result: '"LEASE_LOST"' });
    expect(await other).toMatchObject({ ok: false, error: { code: "LEASE_LOST" } });
    expect(behind.said).toEqual([]);
  });
});
