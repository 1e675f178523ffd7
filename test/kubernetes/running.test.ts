// One attempt, one pod: how the pod is created, and how its end becomes the end of the attempt.

import { describe, expect, test } from "vitest";
import { sayEnded, sayLog } from "../../src/executor/kubernetes/report.ts";
import { done, job, logOf, openWorld, pod } from "./support/world.ts";

describe("a pod", () => {
  test("is made, runs and succeeds: its result is the attempt's, its lines are logged, and it is deleted", async () => {
    const { api, executor, happened } = await openWorld();
    const attempt = job();
    const ending = executor.run(attempt);
    const made = await api.pod();
    expect(executor.size).toBe(1);
    expect(executor.running).toEqual([
      { namespace: "steps", name: made.metadata.name, unit: "0190-unit", fence: 7 },
    ]);
    api.cluster.run(made);
    await happened("running");
    const said = sayLog(7, "half way", { n: 1 });
    api.cluster.succeed(made, `begins\n${said}\n${sayEnded(7, { ok: true, result: '{"size":8}' })}\n`);
    expect(await ending).toEqual(done({ size: 8 }));
    expect(attempt.said).toEqual(["begins", "half way"]);
    await happened("deleted");
    expect(api.cluster.pods).toEqual([]);
    expect(executor.size).toBe(0);
  });

  test("carries labels, its assignment and what its spec says", async () => {
    const { api, executor } = await openWorld();
    const spec = pod({
      serviceAccount: "resizer",
      env: { REGION: "eu", SLUICE_STEP: "not mine to set" },
      labels: { team: "media", "sluice.dev/owner": "somebody else" },
      resources: { limits: { memory: "1Gi" } },
      keep: "failed",
    });
    void executor.run(job({ pod: spec, timeoutMs: 60_500, attempt: 2 }));
    const { metadata, spec: made } = await api.pod();
    expect(metadata.name).toMatch(/^sluice-resize-image-[0-9a-f]{20}$/);
    expect(metadata.labels).toEqual({
      team: "media",
      "sluice.dev/owner": "tests",
      "sluice.dev/run": "run-1",
      "sluice.dev/step": expect.stringMatching(/^Resize-image-[0-9a-f]{12}$/),
      "sluice.dev/task": "resize",
      "sluice.dev/unit": "0190-unit",
      "sluice.dev/attempt": "2",
      "sluice.dev/epoch": "7",
      "sluice.dev/keep": "failed",
    });
    expect(metadata.annotations).toMatchObject({
      "sluice.dev/unit": "0190-unit",
      "sluice.dev/step": "Resize image",
    });
    const { env, ...container } = (made.containers as { env: { name: string; value: string }[] }[])[0] ?? {};
    expect(container).toEqual({
      name: "step",
      image: "shop:1",
      command: ["sluice", "step"],
      resources: { limits: { memory: "1Gi" } },
    });
    expect(env?.map(({ name }) => name)).toEqual(["REGION", "SLUICE_STEP"]);
    expect(JSON.parse(env?.[1]?.value ?? "")).toEqual({
      id: "0190-unit",
      task: "resize",
      input: '{"n":4}',
      attempt: 2,
      fence: 7,
      timeoutMs: 60_500,
      run: "run-1",
      step: "Resize image",
    });
    expect(made).toMatchObject({
      restartPolicy: "Never",
      activeDeadlineSeconds: 361,
      terminationGracePeriodSeconds: 10,
      serviceAccountName: "resizer",
    });
    expect(api.asked.find(({ verb }) => verb === "create")?.headers.authorization).toBe("Bearer a-token");
  });

  test("without an account has no access to the cluster, and runs its own command if it names one", async () => {
    const { api, executor } = await openWorld();
    void executor.run(job({ pod: pod({ command: ["node", "step.mjs"] }) }));
    const { spec } = await api.pod();
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      containers: [{ command: ["node", "step.mjs"] }],
    });
    expect(spec).not.toHaveProperty("activeDeadlineSeconds");
  });

  test("is not made for an input that its environment cannot hold", async () => {
    const { api, executor } = await openWorld();
    const ending = await executor.run(job({ input: JSON.stringify("x".repeat(110_000)) }));
    expect(ending).toMatchObject({ ok: false, retryable: false, error: { code: "INPUT_TOO_LARGE" } });
    expect(api.asked).toEqual([]);
  });

  test("is not made for a job that says nothing of it", async () => {
    const { executor } = await openWorld();
    const { pod: _, ...without } = job();
    expect(await executor.run(without)).toMatchObject({ retryable: false, error: { code: "NO_POD" } });
  });
});

describe("a pod that fails", () => {
  test("with the step's own error fails the attempt with it", async () => {
    const { api, executor } = await openWorld();
    const ending = executor.run(job());
    const made = await api.pod();
    const own = {
      ok: false,
      error: { name: "TypeError", message: "no such image" },
      retryable: false,
    } as const;
    api.cluster.fail(made, 1, { log: `oh\n${sayEnded(7, own)}\n` });
    expect(await ending).toEqual(own);
  });

  test("without a word fails it with the exit code", async () => {
    const { api, executor } = await openWorld();
    const attempt = job();
    const ending = executor.run(attempt);
    api.cluster.fail(await api.pod(), 3, { log: "segmentation fault\n" });
    expect(await ending).toMatchObject({
      ok: false,
      retryable: true,
      error: { code: "POD_FAILED", message: expect.stringContaining("exit code 3") },
    });
    expect(await ending).not.toHaveProperty("crashed");
    expect(attempt.said).toEqual(["segmentation fault"]);
  });

  test("because its memory was full says so, whatever its log says", async () => {
    const { api, executor } = await openWorld();
    const ending = executor.run(job());
    const own = { ok: false, error: { name: "Error", message: "?" }, retryable: false } as const;
    api.cluster.fail(await api.pod(), 137, { reason: "OOMKilled", log: sayEnded(7, own) });
    expect(await ending).toMatchObject({ retryable: true, error: { code: "POD_OUT_OF_MEMORY" } });
  });

  test("at its deadline has timed out", async () => {
    const { api, executor } = await openWorld();
    const ending = executor.run(job());
    api.cluster.end(await api.pod(), "DeadlineExceeded");
    expect(await ending).toMatchObject({ ok: false, retryable: true, error: { code: "TIMEOUT" } });
  });

  test("with a log that cannot be read has failed all the same", async () => {
    const { api, executor } = await openWorld();
    const ending = executor.run(job());
    api.disturb("log", ...Array(5).fill({ status: 500, reason: "the node does not answer" }));
    api.cluster.fail(await api.pod(), 2);
    expect(await ending).toMatchObject({ error: { code: "POD_FAILED" } });
    expect(api.count("log")).toBe(5);
  });
});

describe("a pod that is taken away", () => {
  test("by an eviction loses the attempt, which has not failed", async () => {
    const { api, executor } = await openWorld();
    const ending = executor.run(job());
    const made = await api.pod();
    api.cluster.run(made);
    api.cluster.end(made, "Evicted", "The node was low on resource: memory.");
    expect(await ending).toMatchObject({
      ok: false,
      crashed: true,
      error: { code: "POD_LOST", message: expect.stringContaining("Evicted (The node was low on") },
    });
  });

  test("by somebody who deletes it loses the attempt, and no second pod is made", async () => {
    const { api, executor } = await openWorld();
    const ending = executor.run(job());
    const made = await api.pod();
    api.cluster.run(made);
    api.cluster.remove(made);
    expect(await ending).toMatchObject({ ok: false, crashed: true, error: { code: "POD_LOST" } });
    expect(api.cluster.created).toHaveLength(1);
  });

  test("and whose node never says that it is gone loses the attempt after a while", async () => {
    const { api, executor } = await openWorld({ graceSeconds: 0, patienceMs: 5 });
    const ending = executor.run(job());
    const made = await api.pod();
    api.cluster.run(made);
    api.cluster.nodesAnswer = false;
    api.cluster.delete("steps", made.metadata.name, 30);
    expect(await ending).toMatchObject({
      crashed: true,
      error: { message: expect.stringContaining("its node does not say") },
    });
  });

  test("after it succeeded but before its log was read loses the attempt: nobody knows its result", async () => {
    const { api, executor } = await openWorld();
    const ending = executor.run(job());
    const made = await api.pod();
    api.disturb("log", { status: 404, reason: "NotFound" });
    api.cluster.succeed(made, logOf(1));
    expect(await ending).toMatchObject({ ok: false, crashed: true, error: { code: "RESULT_LOST" } });
  });
});

describe("a pod that cannot start", () => {
  test("for want of its image is given up after some patience, and deleted", async () => {
    const { api, executor } = await openWorld({ patienceMs: 20 });
    const attempt = job({ pod: pod({ keep: "always" }) });
    const ending = executor.run(attempt);
    const made = await api.pod();
    api.cluster.wait(made, "ErrImagePull", "not found");
    api.cluster.wait(made, "ImagePullBackOff", "back-off");
    const ended = await ending;
    expect(ended).toMatchObject({ ok: false, retryable: true, error: { code: "POD_NOT_STARTED" } });
    expect(!ended.ok && ended.error.message).toContain("could not start: ErrImagePull (not found)");
    expect(attempt.said[0]).toContain("cannot start: ErrImagePull (not found)");
    // Once the image is there, the pod would start with nobody waiting for it. So it is deleted even with
    // keep: "always".
    expect(api.cluster.pods).toEqual([]);
  });

  test("because no node takes it waits, and says why once", async () => {
    const { api, executor, happened } = await openWorld({ patienceMs: 1 });
    const attempt = job();
    const ending = executor.run(attempt);
    const made = await api.pod();
    api.cluster.unschedulable(made, "0/3 nodes are available");
    api.cluster.unschedulable(made, "0/3 nodes are available");
    api.cluster.run(made);
    await happened("running");
    api.cluster.succeed(made, logOf("late"));
    expect(await ending).toEqual(done("late"));
    expect(attempt.said.filter((line) => line.includes("0/3 nodes"))).toHaveLength(1);
  });
});

describe("a log", () => {
  test("without a result is looked at again, for it may lag, and then is an error", async () => {
    const { api, executor } = await openWorld();
    const ending = executor.run(job());
    api.cluster.succeed(await api.pod(), "hello\n");
    expect(await ending).toMatchObject({ ok: false, retryable: true, error: { code: "NO_RESULT" } });
    expect(api.count("log")).toBe(3);
  });

  test("whose last line is cut off is no result", async () => {
    const { api, executor } = await openWorld();
    const ending = executor.run(job());
    api.cluster.succeed(await api.pod(), logOf({ long: "text" }).slice(0, -12));
    expect(await ending).toMatchObject({ ok: false, error: { code: "RESULT_CUT_OFF" } });
  });

  test("of an earlier attempt does not count", async () => {
    const { api, executor } = await openWorld();
    const ending = executor.run(job());
    api.cluster.succeed(await api.pod(), logOf("old", 6));
    expect(await ending).toMatchObject({ ok: false, error: { code: "NO_RESULT" } });
  });

  test("of any length costs a thousand lines", async () => {
    const { api, executor } = await openWorld();
    const attempt = job();
    const ending = executor.run(attempt);
    api.cluster.succeed(await api.pod(), `${"noise\n".repeat(5_000)}${logOf(1)}`);
    expect(await ending).toEqual(done(1));
    expect(attempt.said).toHaveLength(999);
  });
});

describe("what is kept", () => {
  test.each([
    ["never", true, false],
    ["never", false, false],
    ["failed", true, false],
    ["failed", false, true],
    ["always", true, true],
    ["always", false, true],
  ] as const)("%s: a pod that ended well (%s) stays: %s", async (keep, ok, stays) => {
    const { api, executor, happened } = await openWorld();
    const ending = executor.run(job({ pod: pod({ keep }) }));
    const made = await api.pod();
    if (ok) api.cluster.succeed(made, logOf(1));
    else api.cluster.fail(made, 1);
    expect((await ending).ok).toBe(ok);
    if (!stays) await happened("deleted");
    await executor.halt();
    expect(api.cluster.pods).toHaveLength(stays ? 1 : 0);
    expect(api.count("delete")).toBe(stays ? 0 : 1);
  });
});

test("a hundred pods are followed by one watch", async () => {
  const { api, executor } = await openWorld();
  const endings = Array.from({ length: 100 }, (_, n) => executor.run(job({ id: `unit-${n}`, fence: n + 1 })));
  await api.until(() => api.cluster.created.length === 100 && api.watching === 1);
  expect(executor.size).toBe(100);
  for (const made of api.cluster.created) {
    const fence = Number(made.metadata.labels?.["sluice.dev/epoch"]);
    api.cluster.run(made);
    api.cluster.succeed(made, logOf(fence, fence));
  }
  expect(await Promise.all(endings)).toEqual(Array.from({ length: 100 }, (_, n) => done(n + 1)));
  expect(api.count("watch")).toBe(1);
});
