// An API server that is away, loses answers, forgets or refuses: its absence decides nothing, and one attempt
// never has two pods.

import { describe, expect, test } from "vitest";
import type { Failed } from "../../src/executor/executor.ts";
import { done, job, logOf, openWorld, worldWithPod, worldWithRunningPod } from "./support/world.ts";

describe("while the API is away", () => {
  test("an attempt waits to be made, and is made once it is back", async () => {
    const { api, executor, happened } = await openWorld();
    await api.down();
    const ending = executor.run(job());
    await happened("away", 10);
    expect(executor.size).toBe(1);
    await api.up();
    api.cluster.succeed(await api.pod(), logOf("made late"));
    expect(await ending).toEqual(done("made late"));
    expect(api.cluster.created).toHaveLength(1);
  });

  test("a pod runs on, and its end is read once it is back", async () => {
    const { api, executor, ending, made, happened } = await worldWithRunningPod();
    await api.down();
    api.cluster.succeed(made, logOf("meanwhile"));
    await happened("away", 10);
    expect(executor.size).toBe(1);
    await api.up();
    expect(await ending).toEqual(done("meanwhile"));
    expect(api.cluster.created).toHaveLength(1);
  });

  test("a pod that disappears meanwhile is lost once it is back", async () => {
    const { api, ending, made, happened } = await worldWithRunningPod();
    await api.down();
    api.cluster.remove(made);
    await happened("away", 3);
    await api.up();
    expect(await ending).toMatchObject({ ok: false, crashed: true, error: { code: "POD_LOST" } });
    expect(api.cluster.created).toHaveLength(1);
  });

  test("a result waits to be read, and is not lost", async () => {
    const { api, ending, made } = await worldWithPod();
    api.disturb(
      "log",
      "before",
      "after",
      { status: 503, reason: "overloaded" },
      { status: 429, reason: "slow down" },
    );
    api.cluster.succeed(made, logOf("patience"));
    expect(await ending).toEqual(done("patience"));
    expect(api.count("log")).toBe(5);
  });

  test("what was to be deleted is deleted later", async () => {
    const { api, executor, happened } = await openWorld();
    const ending = executor.run(job());
    api.disturb("delete", "before", "before");
    api.cluster.succeed(await api.pod(), logOf(1));
    expect(await ending).toEqual(done(1));
    await happened("deleted");
    expect(api.cluster.pods).toEqual([]);
  });

  test("an abort does not wait for ever, and says later when the pod is gone", async () => {
    const { api, executor, happened } = await openWorld({ graceSeconds: 0, goneWithinMs: 10 });
    const attempt = job();
    const ending = executor.run(attempt);
    await api.pod();
    await happened("created");
    await api.down();
    attempt.controller.abort(new Error("lease lost"));
    const ended = (await ending) as Failed;
    expect(ended).toMatchObject({ ok: false, retryable: true, error: { message: "lease lost" } });
    expect(ended.stopping).toBeInstanceOf(Promise);
    expect(api.cluster.pods).toHaveLength(1);
    await api.up();
    await ended.stopping;
    expect(api.cluster.pods).toEqual([]);
  });
});

describe("an answer that is lost", () => {
  test("to a creation that was done is found out: there is one pod, and it is ours", async () => {
    const { api, executor, happened } = await openWorld();
    api.disturb("create", "after", "after");
    const ending = executor.run(job());
    await happened("created");
    api.cluster.succeed(await api.pod(), logOf("once"));
    expect(await ending).toEqual(done("once"));
    expect(api.cluster.created).toHaveLength(1);
  });

  test("to a creation that was not done is asked for again", async () => {
    const { api, executor } = await openWorld();
    api.disturb("create", "before", { status: 500, reason: "etcd timed out" });
    const ending = executor.run(job());
    api.cluster.succeed(await api.pod(), logOf("once"));
    expect(await ending).toEqual(done("once"));
    expect(api.count("create")).toBeGreaterThanOrEqual(3);
    expect(api.cluster.created).toHaveLength(1);
  });

  test("to the creation of a pod that has gone since is a loss, and no second pod", async () => {
    const { api, executor, happened } = await openWorld();
    api.disturb("list", ...Array(50).fill({ status: 500, reason: "blind" }));
    api.disturb("create", "after", { status: 409, reason: "AlreadyExists" });
    void api.pod().then((made) => api.cluster.remove(made));
    const ending = await executor.run(job());
    expect(ending).toMatchObject({ ok: false, crashed: true, error: { code: "POD_LOST" } });
    expect(api.cluster.created).toHaveLength(1);
    await happened("away");
  });
});

describe("a creation that is refused", () => {
  test.each([
    [422, "Invalid", false],
    [400, "BadRequest", false],
    [403, "Forbidden", true],
    [404, "NotFound", true],
  ])("with %s (%s) fails the attempt; a retry may help: %s", async (status, reason, retryable) => {
    const { api, executor } = await openWorld();
    api.disturb("create", { status, reason });
    expect(await executor.run(job())).toMatchObject({
      ok: false,
      retryable,
      error: { code: "KUBERNETES_REFUSED", message: expect.stringContaining(reason) },
    });
    expect(api.count("create")).toBe(1);
  });

  test("because a quota changed at that moment is asked for again", async () => {
    const { api, executor } = await openWorld();
    api.disturb("create", { status: 409, reason: "Conflict" });
    const ending = executor.run(job());
    api.cluster.succeed(await api.pod(), logOf(1));
    expect(await ending).toEqual(done(1));
  });

  test("because its name belongs to a pod of others fails the attempt and leaves that pod alone", async () => {
    const { api, executor, another } = await openWorld();
    const first = executor.run(job());
    const { metadata, spec } = await api.pod();
    api.cluster.succeed(await api.pod(), logOf(1));
    await first;
    await executor.halt();
    api.cluster.create("steps", { metadata: { ...metadata, labels: {}, annotations: {} }, spec });
    expect(await another().run(job())).toMatchObject({ ok: false, error: { code: "POD_NAME_TAKEN" } });
    expect(api.cluster.pods).toHaveLength(1);
  });
});

describe("a watch", () => {
  test("that is too old (410) begins anew with a list, and misses nothing", async () => {
    const { api, ending, made } = await worldWithRunningPod();
    // The watch resumes from its last event, which is too old by then.
    api.forgetHistory();
    api.cluster.succeed(made, logOf("seen"));
    expect(await ending).toEqual(done("seen"));
    expect(api.count("list")).toBeGreaterThanOrEqual(2);
  });

  test("that ends as watches do goes on where it was, without a list", async () => {
    const { api, ending, made, happened } = await worldWithPod();
    await api.until(() => api.watching === 1);
    api.cluster.run(made);
    await happened("running");
    api.bookmark();
    const lists = api.count("list");
    api.endWatches();
    await api.until(() => api.count("watch") === 2 && api.watching === 1);
    expect(api.asked.findLast(({ verb }) => verb === "watch")?.query.get("resourceVersion")).toBe(
      String(api.cluster.version),
    );
    api.cluster.succeed(made, logOf("on"));
    expect(await ending).toEqual(done("on"));
    expect(api.count("list")).toBe(lists);
  });

  test("that is forbidden leaves lists, and they are enough", async () => {
    const { api, executor } = await openWorld();
    api.disturb("watch", ...Array(200).fill({ status: 403, reason: "Forbidden" }));
    const ending = executor.run(job());
    const made = await api.pod();
    const lists = api.count("list");
    await api.until(() => api.count("list") > lists + 3);
    api.cluster.succeed(made, logOf("polled"));
    expect(await ending).toEqual(done("polled"));
  });

  test("that is forbidden together with lists leaves asking for each pod by its name", async () => {
    const { api, executor, happened } = await openWorld();
    api.disturb("list", ...Array(5_000).fill({ status: 403, reason: "Forbidden" }));
    const ending = executor.run(job());
    const made = await api.pod();
    await happened("created");
    api.cluster.run(made);
    await happened("running");
    api.cluster.succeed(made, logOf("asked for"));
    expect(await ending).toEqual(done("asked for"));
    expect(api.count("watch")).toBe(0);
  });

  test("asks for bookmarks and for our own pods alone, and ends when nobody follows a pod", async () => {
    const { api, ending, made } = await worldWithPod();
    await api.until(() => api.watching === 1);
    const { query } = api.asked.find(({ verb }) => verb === "watch") ?? {};
    expect(query?.get("allowWatchBookmarks")).toBe("true");
    expect(query?.get("labelSelector")).toBe("sluice.dev/owner=tests");
    api.cluster.succeed(made, logOf(1));
    await ending;
    await api.until(() => api.watching === 0);
  });
});
