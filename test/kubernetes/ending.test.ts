// Pods that we end ourselves: on an abort, on a timeout, or with the worker.

import { expect, test } from "vitest";
import { SluiceError } from "../../src/core/error.ts";
import { done, job, logOf, openWorld, pod } from "./support/world.ts";

test("an abort deletes the pod with its grace, and the attempt ends when the pod is gone", async () => {
  const { api, executor, happened } = await openWorld();
  api.cluster.nodesAnswer = false;
  const attempt = job({ pod: pod({ keep: "always" }) });
  let isOver = false;
  const ending = executor.run(attempt).finally(() => {
    isOver = true;
  });
  const made = await api.pod();
  api.cluster.run(made);
  await happened("running");
  attempt.controller.abort(new SluiceError("CANCELLED", "The task was cancelled."));
  await happened("deleted");
  expect(api.asked.find(({ verb }) => verb === "delete")?.body).toMatchObject({ gracePeriodSeconds: 10 });
  // The executor asked once whether the pod is gone, and keeps watching.
  await api.until(() => api.count("get") === 1);
  api.endWatches();
  await api.until(() => api.count("watch") === 2);
  expect(isOver).toBe(false);
  const [leaving] = api.cluster.pods;
  if (leaving) api.cluster.remove(leaving);
  expect(await ending).toEqual({
    ok: false,
    retryable: true,
    error: expect.objectContaining({ code: "CANCELLED" }),
  });
});

test("an abort before the pod was asked for makes none, and says that nothing began", async () => {
  const { api, executor } = await openWorld();
  const attempt = job();
  attempt.controller.abort(new Error("stop"));
  expect(await executor.run(attempt)).toMatchObject({ ok: false, begun: false, error: { message: "stop" } });
  expect(api.count("create")).toBe(0);
});

test("an abort while the answer to the creation is lost deletes what may have been made", async () => {
  const { api, executor, happened } = await openWorld();
  api.disturb("create", "after", ...Array(1_000).fill("before"));
  const attempt = job();
  const ending = executor.run(attempt);
  await api.pod();
  attempt.controller.abort(new Error("stop"));
  expect(await ending).toMatchObject({ ok: false, error: { message: "stop" } });
  await happened("deleted");
  expect(api.cluster.pods).toEqual([]);
});

test("an abort while the result is read ends the attempt as aborted", async () => {
  const { api, executor } = await openWorld();
  api.disturb("log", ...Array(1_000).fill("before"));
  const attempt = job();
  const ending = executor.run(attempt);
  api.cluster.succeed(await api.pod(), logOf(1));
  await api.until(() => api.count("log") > 3);
  attempt.controller.abort(new Error("lease lost"));
  expect(await ending).toMatchObject({ ok: false, error: { message: "lease lost" } });
  expect(api.cluster.pods).toEqual([]);
});

test("a halt does not wait for a result that cannot be read", async () => {
  const { api, executor } = await openWorld();
  api.disturb("log", ...Array(100_000).fill("before"));
  const ending = executor.run(job());
  api.cluster.succeed(await api.pod(), logOf(1));
  await api.until(() => api.count("log") > 3);
  await executor.halt();
  expect(await ending).toMatchObject({ ok: false, error: { code: "WORKER_STOPPED" } });
});

test("a pod that runs longer than its step's timeout and some is deleted: TIMEOUT", async () => {
  const { api, executor, happened } = await openWorld({ graceSeconds: 0 });
  const ending = executor.run(job({ timeoutMs: 20 }));
  api.cluster.run(await api.pod());
  await happened("running");
  expect(await ending).toMatchObject({ ok: false, retryable: true, error: { code: "TIMEOUT" } });
  expect(api.cluster.pods).toEqual([]);
});

test("a halt deletes everything this executor runs, takes nothing more, and leaves others' pods", async () => {
  const { api, executor, another } = await openWorld();
  const other = another();
  const endings = [1, 2, 3].map((fence) => executor.run(job({ fence, id: `mine-${fence}` })));
  const others = other.run(job({ fence: 9, id: "theirs" }));
  await api.until(() => api.cluster.created.length === 4);
  await executor.halt();
  for (const ending of endings) expect(await ending).toMatchObject({ error: { code: "WORKER_STOPPED" } });
  expect(api.cluster.pods.map(({ metadata }) => metadata.annotations?.["sluice.dev/unit"])).toEqual([
    "theirs",
  ]);
  expect(await executor.run(job())).toMatchObject({ ok: false, begun: false });
  const [left] = api.cluster.pods;
  if (left) api.cluster.succeed(left, logOf("theirs", 9));
  expect(await others).toEqual(done("theirs"));
});
