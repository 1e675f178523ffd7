import { expect, test } from "vitest";
import type { Fresh } from "./bench.ts";
import { MAIL, newTask } from "./bench.ts";

export function byHandSuite(fresh: Fresh<"steering">): void {
  test("a waiting, a delayed, a prefetched and a running task can each be cancelled", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("waiting", newTask("later", { delayMs: 9 }), "claimed", "running");
    await bench.claim(["claimed"], { held: false });
    const { epoch } = await bench.claimOne("running");
    for (const id of ["waiting", "later", "claimed", "running"]) {
      expect(await bench.store.cancel(id, "ann")).toEqual({ was: id });
      expect(await bench.store.task(id)).toMatchObject({
        state: "cancelled",
        body: '{"by":"ann"}',
      });
      expect((await bench.store.events(id)).at(-1)).toMatchObject({
        kind: "TaskCancelled",
        data: '{"by":"ann"}',
      });
    }
    expect((await bench.store.task("running"))?.epoch).toBe(epoch);
    // Waiting and prefetched units free their slots at once, a running unit only when its code has ended.
    expect(await bench.heldAt("pool:smtp")).toBe(1);
    await bench.stopped({ id: "running", epoch });
    expect(await bench.heldAt("pool:smtp")).toBe(0);
    expect((await bench.look()).heads).toEqual([]);
    expect(await bench.claim(["waiting", "later", "claimed", "running"])).toEqual([]);
    expect(await bench.history("waiting")).toEqual(["1 TaskEnqueued", "2 TaskCancelled"]);
  });

  test("what runs and is cancelled has lost its claim: its report is refused", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    const claim = await bench.claimOne("a");
    await bench.store.cancel("a", "ann");
    expect(await bench.store.stale([claim])).toEqual(["a"]);
    expect(await bench.report(claim, { to: "succeeded" })).toBe(false);
    expect(await bench.state("a")).toBe("cancelled");
  });

  test("a finished task cannot be cancelled, and an unknown one is not there", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    await bench.report(await bench.claimOne("a"), { to: "succeeded" });
    expect(await bench.store.cancel("a", "ann")).toEqual({ was: "succeeded" });
    expect(await bench.history("a")).toHaveLength(3);
    expect(await bench.store.cancel("nobody", "ann")).toBeUndefined();
  });

  test.each(["succeeded", "failed", "cancelled"] as const)(
    "a task that has %s can be put back in line",
    async (was) => {
      const bench = await fresh();
      await bench.session();
      await bench.enqueue(newTask("a", { priority: 4 }));
      if (was === "cancelled") await bench.store.cancel("a", "ann");
      else await bench.report(await bench.claimOne("a"), { to: was, body: "{}" });
      bench.clock.advance(50);
      expect(await bench.store.retry("a", "bob")).toEqual({ was });
      expect(await bench.store.task("a")).toMatchObject({
        state: "waiting",
        attempt: 0,
        losses: 0,
        body: null,
        epoch: null,
        at: bench.clock.now(),
      });
      const event = (await bench.store.events("a")).at(-1);
      expect(event?.kind).toBe("TaskRetried");
      expect(JSON.parse(event?.data ?? "")).toEqual({ by: "bob", was });
      expect((await bench.intake()).arrived).toEqual([MAIL]);
      expect((await bench.look()).heads).toMatchObject([{ id: "a", priority: 4 }]);
      expect(await bench.claimOne("a")).toMatchObject({ attempt: 1 });
    },
  );

  test("only what is finished can be put back in line", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a", newTask("later", { delayMs: 9 }), "run");
    await bench.claim(["run"]);
    for (const id of ["a", "later", "run", "nobody"])
      expect(await bench.store.retry(id, "bob")).toBeUndefined();
    expect(await bench.history("a")).toEqual(["1 TaskEnqueued"]);
  });

  test("a second life has no deadline, even if the first one's passes", async () => {
    const bench = await fresh();
    await bench.enqueue(newTask("a", { goodForMs: 100 }));
    await bench.store.cancel("a", "ann");
    await bench.store.retry("a", "bob");
    bench.clock.advance(200);
    await bench.store.tend();
    expect(await bench.state("a")).toBe("waiting");
  });

  test("a task is cancelled once, whoever is first", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    const answers = await Promise.all(["x", "y", "z"].map((by) => bench.store.cancel("a", by)));
    expect(answers.map((answer) => answer?.was).sort()).toEqual(["cancelled", "cancelled", "waiting"]);
    expect(await bench.history("a")).toEqual(["1 TaskEnqueued", "2 TaskCancelled"]);
  });

  test("a task is put back once, whoever is first", async () => {
    const bench = await fresh();
    await bench.enqueue("a");
    await bench.store.cancel("a", "ann");
    const answers = await Promise.all(["x", "y", "z"].map((by) => bench.store.retry("a", by)));
    expect(answers.filter(Boolean)).toEqual([{ was: "cancelled" }]);
    expect(await bench.history("a")).toEqual(["1 TaskEnqueued", "2 TaskCancelled", "3 TaskRetried"]);
  });

  test("leaves a history without gaps, whatever happened", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    await bench.report(await bench.claimOne("a"), { to: "returned" });
    const second = await bench.claimOne("a");
    await bench.store.note([{ ...second, kind: "TaskLogged", data: "{}" }]);
    await bench.report(second, { to: "retry", delayMs: 5, body: "{}" });
    bench.clock.advance(5);
    await bench.store.tend();
    await bench.report(await bench.claimOne("a"), { to: "failed", body: "{}" });
    await bench.store.retry("a", "me");
    await bench.store.cancel("a", "me");
    const events = await bench.store.events("a");
    expect(events.map(({ n }) => n)).toEqual(events.map((_, index) => index + 1));
    expect(events.map(({ kind }) => kind)).toEqual([
      "TaskEnqueued",
      "TaskClaimed",
      "TaskReturned",
      "TaskClaimed",
      "TaskLogged",
      "TaskRetried",
      "TaskClaimed",
      "TaskFailed",
      "TaskRetried",
      "TaskCancelled",
    ]);
  });
}
