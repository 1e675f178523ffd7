import { expect, test } from "vitest";
import { LOCKS, processName, requestName, requestsOf } from "../../core/lock/request.ts";
import { optionsOfRequest } from "../../core/unit-options.ts";
import type { LaneSpec } from "../../store/lane.ts";
import { laneOf } from "../../store/lane.ts";
import type { NewTask } from "../../store/store.ts";
import type { Bench, Fresh } from "./bench.ts";
import { NOTHING, newTask, scopeOf } from "./bench.ts";

const IDLE_MS = 60_000;

export function requestSuite(fresh: Fresh<"requests" | "holdings" | "inspection">): void {
  type Desk = Awaited<ReturnType<typeof fresh>>;

  const laneAt = (name: string, process = "p1"): LaneSpec =>
    laneOf(LOCKS, requestName(process, "me"), [{ gate: `mutex:default/${name}`, slots: 1 }]);
  const request = (id: string, lane: LaneSpec): NewTask =>
    newTask(id, { lane, input: "null", options: optionsOfRequest() });
  const open = (bench: Pick<Bench, "session">, process: string, leaseMs = 30_000): Promise<void> =>
    bench.session(`s-${process}`, {
      name: processName(process),
      serves: JSON.stringify({ queues: [LOCKS], tasks: [requestsOf(process)] }),
      leaseMs,
    });
  const gates = async ({ store }: Desk): Promise<string[]> =>
    (await store.gates()).flatMap(({ key }) => (key.startsWith("mutex:") ? [key] : []));

  test("ends without a trace, and a stale end changes nothing", async () => {
    const bench = await fresh();
    await open(bench, "p1");
    const lane = laneAt("door");
    await bench.enqueue(request("a", lane));
    const claim = await bench.claimOne("a", { session: "s-p1" });
    expect(await bench.store.holders("mutex:default/door")).toMatchObject([{ id: "a", session: "s-p1" }]);
    const gone = { to: "gone" } as const;
    expect(await bench.report({ ...claim, epoch: claim.epoch + 1 }, gone)).toBe(false);
    expect(await bench.store.task("a")).toMatchObject({ state: "claimed" });
    expect(await bench.report(claim, gone)).toBe(true);
    expect(await bench.report(claim, gone)).toBe(false);
    expect(await bench.store.task("a")).toBeUndefined();
    expect(await bench.store.events("a")).toEqual([]);
    expect(await bench.store.holders("mutex:default/door")).toEqual([]);
  });

  test("is no task, and its process is no worker", async () => {
    const bench = await fresh();
    await open(bench, "p1");
    await bench.enqueue(request("a", laneAt("door")), "b");
    expect((await bench.store.tasks({ limit: 10 })).map(({ id }) => id)).toEqual(["b"]);
    expect(await bench.store.sessions()).toEqual([]);
  });

  test("is withdrawn while it waits, but not once it holds the lock, and no task is", async () => {
    const bench = await fresh();
    await open(bench, "p1");
    const lane = laneAt("door");
    await bench.enqueue(request("a", lane), request("b", lane), "task");
    await bench.claimOne("a", { session: "s-p1" });
    expect(await bench.store.withdraw(["a", "b", "task", "missing"])).toEqual(["b"]);
    expect(await bench.store.task("b")).toBeUndefined();
    expect(await bench.store.task("a")).toMatchObject({ state: "claimed" });
    expect(await bench.store.task("task")).toMatchObject({ state: "waiting" });
    expect(await bench.store.withdraw(["b"])).toEqual([]);
  });

  test("can be handed to the session of another process", async () => {
    const bench = await fresh();
    await open(bench, "p1");
    await open(bench, "p2");
    const lane = laneAt("door", "p2");
    await bench.enqueue(request("a", lane));
    await bench.intake();
    const passed = await bench.store.pass(scopeOf([lane], { session: "s-p1" }), () => ({
      ...NOTHING,
      claim: [{ id: "a", held: true, session: "s-p2" }],
    }));
    expect(passed.claimed).toMatchObject([{ id: "a" }]);
    expect(await bench.store.claimsOf("s-p1")).toEqual([]);
    const [claim] = await bench.store.claimsOf("s-p2");
    // It need not be started: it lasts as long as the session.
    bench.clock.advance(10 * 60_000);
    expect(claim).toMatchObject({ id: "a", held: true });
    expect(await bench.store.stale([{ id: "a", epoch: claim?.epoch ?? 0 }])).toEqual([]);
  });

  test("of a dead process leaves the line", async () => {
    const bench = await fresh();
    await open(bench, "p1", 1_000);
    await open(bench, "p2");
    await bench.enqueue(request("a", laneAt("door")), request("b", laneAt("door", "p2")));
    await bench.intake();
    expect(await bench.store.sweepRequests(IDLE_MS)).toBe(0);
    bench.clock.advance(1_001);
    expect(await bench.store.sweepRequests(IDLE_MS)).toBeGreaterThan(0);
    expect(await bench.store.task("a")).toBeUndefined();
    expect(await bench.store.task("b")).toMatchObject({ state: "waiting" });
    expect(await gates(bench)).toEqual(["mutex:default/door"]);
    expect(await bench.store.sweepRequests(IDLE_MS)).toBe(0);
  });

  test("leaves its lane and its gate for a while, and then nothing", async () => {
    const bench = await fresh();
    await open(bench, "p1", 10 * IDLE_MS);
    for (const name of ["one", "two", "held"]) await bench.enqueue(request(name, laneAt(name)));
    await bench.intake();
    for (const name of ["one", "two", "held"]) {
      const claim = await bench.claimOne(name, { session: "s-p1", claimLeaseMs: 10 * IDLE_MS });
      if (name !== "held") await bench.report(claim, { to: "gone" });
    }
    bench.clock.advance(IDLE_MS - 1);
    expect(await bench.store.sweepRequests(IDLE_MS)).toBe(0);
    bench.clock.advance(1);
    expect(await bench.store.sweepRequests(IDLE_MS)).toBe(4);
    expect(await gates(bench)).toEqual(["mutex:default/held"]);
    // A later request creates them again.
    await bench.enqueue(request("again", laneAt("one")));
    await bench.intake();
    expect(await bench.claimOne("again", { session: "s-p1" })).toMatchObject({ id: "again" });
    expect(await gates(bench)).toEqual(["mutex:default/held", "mutex:default/one"]);
  });

  test("leaves a gate that somebody has set, or that another unit asks for", async () => {
    const bench = await fresh();
    await open(bench, "p1", 10 * IDLE_MS);
    const shared = laneOf("mail", "send", [{ gate: "mutex:default/shared", slots: 1 }]);
    await bench.enqueue(
      request("a", laneAt("set")),
      request("b", laneAt("shared")),
      newTask("t", { lane: shared }),
    );
    await bench.intake();
    await bench.store.changeLimit({ key: "mutex:default/set", to: "value", limit: 2, by: "anna" });
    await bench.store.withdraw(["a", "b"]);
    bench.clock.advance(IDLE_MS);
    expect(await bench.store.sweepRequests(IDLE_MS)).toBe(2);
    expect(await gates(bench)).toEqual(["mutex:default/set", "mutex:default/shared"]);
  });

  test("of which the gate was swept at the wrong moment gets it back with the next pass", async () => {
    const bench = await fresh();
    await open(bench, "p1");
    const lane = laneAt("door");
    await bench.enqueue(request("a", lane));
    await bench.intake();
    await bench.store.withdraw(["a"]);
    await bench.store.deleteGate("mutex:default/door");
    await bench.enqueue(request("b", lane));
    await bench.store.pass(scopeOf([lane], { session: "s-p1", intake: false }), () => NOTHING);
    expect(await gates(bench)).toEqual(["mutex:default/door"]);
  });
}
