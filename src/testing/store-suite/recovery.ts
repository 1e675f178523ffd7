import { expect, test } from "vitest";
import { RUNS } from "../../store/runs.ts";
import type { LostRow, Moves, Recovery } from "../../store/store.ts";
import type { Bench, Fresh } from "./bench.ts";
import { MAIL, NOTHING, newTask, scopeOf } from "./bench.ts";

const BODY = '{"code":"LEASE_LOST"}';

const recovered = ({ id, epoch }: LostRow, to: Recovery["to"]): Recovery => ({
  id,
  epoch,
  to,
  body: to === "waiting" ? null : BODY,
});

async function recover(bench: Bench, to: Recovery["to"]): Promise<void> {
  await bench.store.pass(scopeOf([], { session: "s2" }), ({ lost }): Moves => {
    return { ...NOTHING, recover: lost.map((row) => recovered(row, to)) };
  });
}

export function recoverySuite(fresh: Fresh): void {
  const lostClaim = async (): Promise<{ bench: Bench; claim: { id: string; epoch: number } }> => {
    const bench = await fresh();
    await bench.session("s1", { leaseMs: 10_000 });
    await bench.session("s2", { leaseMs: 90_000 });
    await bench.enqueue(newTask("a", { options: '{"retry":{"attempts":2}}' }));
    const claim = await bench.claimOne("a");
    await bench.store.pass(scopeOf([], { started: [claim] }), () => NOTHING);
    bench.clock.advance(10_000);
    return { bench, claim };
  };

  test("finds the claims of a session whose lease ran out, which count nowhere from that instant", async () => {
    const { bench, claim } = await lostClaim();
    const { lost, usage, sessions } = await bench.look();
    expect(lost).toEqual([
      {
        id: "a",
        epoch: claim.epoch,
        lane: MAIL.id,
        started: true,
        attempt: 1,
        losses: 0,
        goodUntil: null,
        options: '{"retry":{"attempts":2}}',
        input: null,
      },
    ]);
    expect(usage).toMatchObject([{ session: "s1", lost: true, units: 1 }]);
    expect(sessions.map(({ id }) => id).filter((id) => id !== RUNS)).toEqual(["s2"]);
    expect(await bench.heldAt("pool:smtp")).toBe(0);
  });

  test("finds nothing one millisecond earlier", async () => {
    const { bench } = await lostClaim();
    bench.clock.advance(-1);
    const { lost, usage } = await bench.look();
    expect([lost, usage.map((row) => row.lost)]).toEqual([[], [false]]);
  });

  test("finds the claims of a session that was closed", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    await bench.claim(["a"]);
    await bench.store.closeSession("s1");
    expect((await bench.look()).lost.map(({ id }) => id)).toEqual(["a"]);
  });

  test("finds claims of a living session that were not started within their claim lease", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("held", "ahead");
    await bench.claim(["held"], { claimLeaseMs: 500 });
    await bench.claim(["ahead"], { claimLeaseMs: 500, held: false });
    bench.clock.advance(499);
    expect((await bench.look()).lost).toEqual([]);
    bench.clock.advance(1);
    const { lost } = await bench.look();
    expect(lost.map(({ id, started }) => [id, started]).sort()).toEqual([
      ["ahead", false],
      ["held", true],
    ]);
  });

  test("still finds a claim that lapsed and says only then that its code has begun", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    const claim = await bench.claimOne("a", { claimLeaseMs: 500 });
    bench.clock.advance(500);
    await bench.store.pass(scopeOf([], { started: [claim] }), () => NOTHING);
    expect((await bench.look()).lost.map(({ id }) => id)).toEqual(["a"]);
  });

  test("puts a unit that never began back to its place, as if nothing had happened", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    const at = bench.clock.now();
    await bench.claim(["a"], { held: false, claimLeaseMs: 500 });
    bench.clock.advance(500);
    await recover(bench, "waiting");
    expect(await bench.store.task("a")).toMatchObject({ state: "waiting", attempt: 0, losses: 0, at });
    expect(await bench.history("a")).toEqual(["1 TaskEnqueued", "2 TaskClaimed", "3 TaskReturned"]);
  });

  test("tries a unit again at once, and counts the loss", async () => {
    const { bench } = await lostClaim();
    await recover(bench, "retry");
    expect(await bench.store.task("a")).toMatchObject({
      state: "waiting",
      attempt: 1,
      losses: 1,
      at: bench.clock.now(),
    });
    const event = (await bench.store.events("a")).at(-1);
    expect(event).toMatchObject({ n: 3, kind: "TaskLost" });
    expect(event?.data).toContain("LEASE_LOST");
    await bench.intake();
    expect((await bench.look()).heads.map(({ id }) => id)).toEqual(["a"]);
  });

  test.each([
    ["failed", "TaskFailed"],
    ["quarantined", "TaskQuarantined"],
    ["expired", "TaskExpired"],
  ] as const)("may end a unit: %s", async (to, kind) => {
    const { bench, claim } = await lostClaim();
    await recover(bench, to);
    expect(await bench.store.task("a")).toMatchObject({
      state: to,
      body: BODY,
      losses: 1,
      epoch: claim.epoch,
    });
    expect((await bench.store.events("a")).at(-1)).toMatchObject({ n: 3, kind });
  });

  test("and a late report of the lost holder: the report is refused", async () => {
    const { bench, claim } = await lostClaim();
    await recover(bench, "retry");
    expect(await bench.report(claim, { to: "succeeded", body: "1" })).toBe(false);
    expect(await bench.state("a")).toBe("waiting");
    expect(await bench.store.stale([claim])).toEqual(["a"]);
  });

  test("never takes what the lost holder reports in the same pass", async () => {
    const { bench, claim } = await lostClaim();
    const finished = [{ ...claim, to: "succeeded", body: "1", delayMs: 0 } as const];
    const { accepted } = await bench.store.pass(scopeOf([], { finished }), ({ lost }) => {
      expect(lost).toEqual([]);
      return NOTHING;
    });
    expect([...accepted]).toEqual(["a"]);
    expect(await bench.state("a")).toBe("succeeded");
  });

  test("by two at the same time happens once", async () => {
    const { bench } = await lostClaim();
    await Promise.all([recover(bench, "retry"), recover(bench, "retry"), recover(bench, "retry")]);
    expect(await bench.history("a")).toEqual(["1 TaskEnqueued", "2 TaskClaimed", "3 TaskLost"]);
    expect(await bench.store.task("a")).toMatchObject({ state: "waiting", losses: 1 });
  });

  test("with an epoch that is gone changes nothing", async () => {
    const { bench, claim } = await lostClaim();
    const stale: Recovery = {
      ...claim,
      epoch: claim.epoch + 1_000,
      to: "failed",
      body: BODY,
    };
    await bench.store.pass(scopeOf([]), () => ({ ...NOTHING, recover: [stale] }));
    expect(await bench.history("a")).toEqual(["1 TaskEnqueued", "2 TaskClaimed"]);
  });
}
