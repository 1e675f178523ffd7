import { describe, expect, test } from "vitest";
import type { Finished } from "../../store/store.ts";
import type { Bench, Fresh } from "./bench.ts";
import { MAIL, NOTHING, newTask, scopeOf } from "./bench.ts";

export function settleSuite(fresh: Fresh): void {
  const running = async (): Promise<{ bench: Bench; claim: { id: string; epoch: number } }> => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue(newTask("a", { priority: 2 }));
    bench.clock.advance(100);
    const claim = await bench.claimOne("a");
    bench.clock.advance(100);
    return { bench, claim };
  };

  test("of success keeps the result in the outcome, and frees the slots", async () => {
    const { bench, claim } = await running();
    expect(await bench.report(claim, { to: "succeeded", body: '{"sent":1}' })).toBe(true);
    expect(await bench.store.task("a")).toMatchObject({
      state: "succeeded",
      body: '{"sent":1}',
      at: bench.clock.now(),
      epoch: claim.epoch,
      attempt: 1,
      losses: 0,
    });
    expect(await bench.heldAt("pool:smtp")).toBe(0);
    expect((await bench.store.events("a")).at(-1)).toMatchObject({ n: 3, kind: "TaskSucceeded", data: null });
  });

  test("of failure keeps the error in the outcome and in the history", async () => {
    const { bench, claim } = await running();
    expect(await bench.report(claim, { to: "failed", body: '{"message":"no"}' })).toBe(true);
    expect(await bench.store.task("a")).toMatchObject({ state: "failed", body: '{"message":"no"}' });
    expect((await bench.store.events("a")).at(-1)).toMatchObject({
      kind: "TaskFailed",
      data: '{"message":"no"}',
    });
  });

  test("of a retry with a delay waits for it, and holds nothing meanwhile", async () => {
    const { bench, claim } = await running();
    expect(await bench.report(claim, { to: "retry", body: '{"message":"no"}', delayMs: 700 })).toBe(true);
    expect(await bench.store.task("a")).toMatchObject({
      state: "later",
      at: bench.clock.now() + 700,
      attempt: 1,
    });
    expect(await bench.heldAt("pool:smtp")).toBe(0);
    const event = (await bench.store.events("a")).at(-1);
    expect(event?.kind).toBe("TaskRetried");
    expect(JSON.parse(event?.data ?? "")).toEqual({ delayMs: 700, error: { message: "no" } });
  });

  test("of a retry without a delay goes behind those who came in the meantime, and counts its attempts on", async () => {
    const { bench, claim } = await running();
    await bench.enqueue(newTask("b", { priority: 2 }));
    bench.clock.advance(1);
    expect(await bench.report(claim, { to: "retry" })).toBe(true);
    expect(await bench.store.task("a")).toMatchObject({
      state: "waiting",
      at: bench.clock.now(),
      attempt: 1,
    });
    await bench.intake();
    expect((await bench.look()).heads.map(({ id }) => id)).toEqual(["b", "a"]);
    expect(await bench.claimOne("a")).toMatchObject({ attempt: 2 });
  });

  test("that it was returned gives it its old place and its attempt back", async () => {
    const { bench, claim } = await running();
    await bench.enqueue(newTask("b", { priority: 2 }));
    const before = (await bench.store.task("b"))?.at ?? 0;
    expect(await bench.report(claim, { to: "returned" })).toBe(true);
    const task = await bench.store.task("a");
    expect(task).toMatchObject({ state: "waiting", attempt: 0 });
    expect(task?.at).toBe(before - 200);
    await bench.intake();
    expect((await bench.look()).heads.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(await bench.history("a")).toEqual(["1 TaskEnqueued", "2 TaskClaimed", "3 TaskReturned"]);
  });

  test("of several ends at once takes each on its own", async () => {
    const bench = await fresh();
    await bench.session();
    const ways = ["succeeded", "failed", "retry", "returned"] as const;
    await bench.enqueue(...ways, "later", "stale");
    const claims = await bench.claim([...ways, "later", "stale"]);
    const finished = claims.map(({ id, epoch }): Finished => {
      if (id === "stale") return { id, epoch: epoch + 1_000, to: "succeeded", body: null, delayMs: 0 };
      const to = id === "later" ? "retry" : (id as (typeof ways)[number]);
      return { id, epoch, to, body: null, delayMs: id === "later" ? 5 : 0 };
    });
    const { accepted } = await bench.store.pass(scopeOf([MAIL], { finished }), () => NOTHING);
    expect(accepted).toEqual(new Set([...ways, "later"]));
    const states = await Promise.all([...ways, "later", "stale"].map((id) => bench.state(id)));
    expect(states).toEqual(["succeeded", "failed", "waiting", "waiting", "later", "claimed"]);
  });

  test("of a claim whose process died is taken as a lost one, and counted", async () => {
    const bench = await fresh();
    await bench.session();
    const ways = ["retry", "failed", "quarantined", "expired", "stale"] as const;
    await bench.enqueue(...ways);
    const finished = (await bench.claim([...ways])).map(({ id, epoch }): Finished => {
      const to = id === "stale" ? "retry" : (id as Exclude<(typeof ways)[number], "stale">);
      return {
        id,
        epoch: id === "stale" ? epoch + 1_000 : epoch,
        to,
        body: '{"code":"GONE"}',
        revoked: true,
      };
    });
    const { accepted } = await bench.store.pass(scopeOf([MAIL], { finished }), () => NOTHING);
    expect(accepted).toEqual(new Set(["retry", "failed", "quarantined", "expired"]));
    const states = await Promise.all(ways.map((id) => bench.state(id)));
    expect(states).toEqual(["waiting", "failed", "quarantined", "expired", "claimed"]);
    expect(await bench.store.task("retry")).toMatchObject({ attempt: 1, losses: 1 });
    expect(await bench.store.task("failed")).toMatchObject({ losses: 1, body: '{"code":"GONE"}' });
    expect(await bench.history("retry")).toEqual(["1 TaskEnqueued", "2 TaskClaimed", "3 TaskLost"]);
    expect((await bench.claimOne("retry")).losses).toBe(1);
  });

  test("that it is tried again at once counts the attempt and no loss, whatever was lost before", async () => {
    const { bench, claim } = await running();
    const lost: Finished = { id: "a", epoch: claim.epoch, to: "retry", body: null, revoked: true };
    await bench.store.pass(scopeOf([MAIL], { finished: [lost] }), () => NOTHING);
    const second = await bench.claimOne("a");
    expect(second).toMatchObject({ attempt: 2, losses: 1 });
    expect(await bench.report(second, { to: "retry", body: '{"code":"PROCESS_ENDED"}' })).toBe(true);
    expect(await bench.store.task("a")).toMatchObject({ state: "waiting", attempt: 2, losses: 1 });
    expect((await bench.store.events("a")).at(-1)).toMatchObject({ kind: "TaskRetried" });
    expect(await bench.claimOne("a")).toMatchObject({ attempt: 3, losses: 1 });
  });

  test("that its code has begun ends the claim lease: from then on only the session counts", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a", "b");
    const [a] = await bench.claim(["a", "b"], { claimLeaseMs: 1_000 });
    const started = [{ id: "a", epoch: a?.epoch ?? 0 }];
    await bench.store.pass(scopeOf([], { started }), () => NOTHING);
    bench.clock.advance(1_000);
    const { lost } = await bench.look();
    expect(lost.map(({ id }) => id)).toEqual(["b"]);
  });

  describe("with a stale epoch changes nothing", () => {
    test.each(["succeeded", "failed", "retry", "returned"] as const)("when it says %s", async (to) => {
      const { bench, claim } = await running();
      await bench.report(claim, { to: "retry" });
      const current = await bench.claimOne("a");
      const before = [await bench.store.task("a"), await bench.store.events("a"), await bench.lane(MAIL)];
      bench.clock.advance(1);
      expect(await bench.report(claim, { to, body: '{"late":true}', delayMs: to === "retry" ? 9 : 0 })).toBe(
        false,
      );
      expect([await bench.store.task("a"), await bench.store.events("a"), await bench.lane(MAIL)]).toEqual(
        before,
      );
      expect((await bench.store.task("a"))?.epoch).toBe(current.epoch);
    });

    test.each(["succeeded", "returned", "retry"] as const)(
      "when it says %s of a unit that is back in line",
      async (to) => {
        const { bench, claim } = await running();
        await bench.report(claim, { to: "returned" });
        await bench.intake();
        const before = [await bench.store.task("a"), await bench.store.events("a"), await bench.lane(MAIL)];
        expect(await bench.report(claim, { to })).toBe(false);
        expect((await bench.intake()).arrived).toEqual([]);
        expect([await bench.store.task("a"), await bench.store.events("a"), await bench.lane(MAIL)]).toEqual(
          before,
        );
      },
    );

    test("when it says the same twice", async () => {
      const { bench, claim } = await running();
      expect(await bench.report(claim, { to: "succeeded", body: "1" })).toBe(true);
      expect(await bench.report(claim, { to: "failed", body: "2" })).toBe(false);
      expect(await bench.store.task("a")).toMatchObject({ state: "succeeded", body: "1" });
      expect(await bench.history("a")).toEqual(["1 TaskEnqueued", "2 TaskClaimed", "3 TaskSucceeded"]);
    });

    test("when it says that it began, its progress, or a line of its log", async () => {
      const { bench, claim } = await running();
      await bench.report(claim, { to: "retry" });
      await bench.claimOne("a");
      const before = [await bench.store.task("a"), await bench.store.events("a")];
      await bench.store.pass(scopeOf([], { started: [claim] }), () => NOTHING);
      await bench.store.progress([{ ...claim, value: "9" }]);
      await bench.store.note([{ ...claim, kind: "TaskLogged", data: "{}" }]);
      expect([await bench.store.task("a"), await bench.store.events("a")]).toEqual(before);
    });
  });
}
