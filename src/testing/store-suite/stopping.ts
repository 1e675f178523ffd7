import { expect, test } from "vitest";
import type { Claimed } from "../../store/store.ts";
import { RUNS } from "../../store/store.ts";
import type { Bench, BenchWith, Fresh } from "./bench.ts";
import { MAIL, NOTHING, newTask, scopeOf } from "./bench.ts";
import { moveOn, startedOver, windowOf } from "./fan-bench.ts";
import { gateOf, leaveNews, look, move, NIGHTLY, started, stateOf } from "./run-bench.ts";

export function stoppingSuite(
  fresh: Fresh<"holdings" | "steering" | "runs" | "inspection" | "lines" | "triggers">,
): void {
  const working = async (...ids: string[]) => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue(...ids);
    return { bench, claims: await bench.claim(ids) };
  };
  const usedBy = async (bench: Bench, session: string): Promise<number> =>
    (await bench.look()).usage
      .filter((row) => row.session === session && row.held && !row.lost)
      .reduce((sum, { units }) => sum + units, 0);
  const broken = async (bench: BenchWith<"inspection">): Promise<string[]> =>
    Object.values((await bench.store.inspect()).broken).flatMap(({ ids }) => ids);

  test("has its outcome at once, and holds its gates and its worker's slot until it has ended", async () => {
    const { bench, claims } = await working("a");
    bench.clock.advance(7);
    await bench.store.cancel("a", "ann");
    expect(await bench.state("a")).toBe("cancelled");
    expect([await bench.heldAt("pool:smtp"), await usedBy(bench, "s1")]).toEqual([1, 1]);
    expect(await broken(bench)).toEqual([]);
    await bench.stopped(claims[0] as Claimed);
    expect([await bench.heldAt("pool:smtp"), await usedBy(bench, "s1")]).toEqual([0, 0]);
    expect(await bench.store.stopping()).toEqual([]);
  });

  test("frees its slots for the pass that says so", async () => {
    const { bench, claims } = await working("a");
    await bench.enqueue("b");
    await bench.store.cancel("a", "ann");
    const held = async (finished: readonly { id: string; epoch: number; to: "stopped" }[]) =>
      (await bench.look([MAIL], { finished })).usage.reduce((sum, { units }) => sum + units, 0);
    expect(await held([])).toBe(1);
    expect(await held([{ id: "a", epoch: claims[0]?.epoch ?? 0, to: "stopped" }])).toBe(0);
  });

  test("is told of once: a second word, a wrong one and a word of a claim that is current change nothing", async () => {
    const { bench, claims } = await working("a", "b");
    const [a, b] = claims as [Claimed, Claimed];
    await bench.store.cancel("a", "ann");
    await bench.stopped({ id: "a", epoch: b.epoch + 1_000 });
    await bench.stopped(b);
    expect([await bench.state("b"), await bench.heldAt("pool:smtp")]).toEqual(["claimed", 2]);
    await bench.stopped(a);
    await bench.stopped(a);
    expect([await bench.state("b"), await bench.heldAt("pool:smtp")]).toEqual(["claimed", 1]);
  });

  test.each(["failed", "retry"] as const)("over its time has %s at once, and holds on", async (to) => {
    const { bench, claims } = await working("a");
    const [claim] = claims as [Claimed];
    const body = '{"code":"TIMEOUT"}';
    expect(await bench.report(claim, { to, body, stopping: true })).toBe(true);
    expect(await bench.state("a")).toBe(to === "failed" ? "failed" : "waiting");
    expect(await bench.heldAt("pool:smtp")).toBe(1);
    expect(await bench.store.stopping()).toMatchObject([{ id: "a", because: "timeout" }]);
    expect(await broken(bench)).toEqual([]);
    await bench.stopped(claim);
    expect(await bench.heldAt("pool:smtp")).toBe(0);
  });

  test("can be over its time, and have ended, in one breath", async () => {
    const { bench, claims } = await working("a");
    const [{ id, epoch }] = claims as [Claimed];
    const over = { id, epoch, to: "retry", body: null, delayMs: 9, stopping: true } as const;
    await bench.look([MAIL], { finished: [{ id, epoch, to: "stopped" }, over] });
    expect([await bench.state("a"), await bench.heldAt("pool:smtp")]).toEqual(["later", 0]);
  });

  test("whose report is stale holds on: the code of another claim may still run", async () => {
    const { bench, claims } = await working("a");
    const [claim] = claims as [Claimed];
    await bench.store.cancel("a", "ann");
    expect(await bench.report(claim, { to: "retry", stopping: true })).toBe(false);
    expect(await bench.store.stopping()).toMatchObject([{ epoch: claim.epoch, because: "cancelled" }]);
  });

  test("of a task that runs again holds beside the new claim, each until its own code has ended", async () => {
    const { bench, claims } = await working("a");
    await bench.store.cancel("a", "ann");
    await bench.store.retry("a", "bob");
    const second = await bench.claimOne("a");
    expect(await bench.heldAt("pool:smtp")).toBe(2);
    expect(await broken(bench)).toEqual([]);
    expect(await bench.report(second, { to: "succeeded", body: "1" })).toBe(true);
    expect(await bench.heldAt("pool:smtp")).toBe(1);
    await bench.stopped(claims[0] as Claimed);
    expect(await bench.heldAt("pool:smtp")).toBe(0);
    expect(await bench.state("a")).toBe("succeeded");
  });

  test("was claimed ahead of time, so it never had slots, and holds nothing", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    await bench.claimOne("a", { held: false });
    await bench.store.cancel("a", "ann");
    expect([await bench.heldAt("pool:smtp"), await bench.store.stopping()]).toEqual([0, []]);
  });

  test("does not stop at the end of its claim lease, only at that of its session", async () => {
    const bench = await fresh();
    await bench.session("s1", { leaseMs: 10_000 });
    await bench.enqueue("a");
    await bench.claimOne("a", { claimLeaseMs: 100 });
    await bench.store.cancel("a", "ann");
    bench.clock.advance(9_999);
    expect(await bench.heldAt("pool:smtp")).toBe(1);
    bench.clock.advance(1);
    expect(await bench.heldAt("pool:smtp")).toBe(0);
  });

  test("counts nowhere for the pass that finds its lease lapsed, and is gone then", async () => {
    const { bench } = await working("a", "b");
    await bench.store.cancel("a", "ann");
    await bench.store.closeSession("s1");
    await bench.session("s2");
    const { usage, lost } = await bench.look();
    expect(usage.filter((row) => !row.lost)).toEqual([]);
    expect(lost.map(({ id }) => id)).toEqual(["b"]);
    expect(await bench.store.stopping()).toEqual([]);
    expect(await bench.state("a")).toBe("cancelled");
  });

  test("with a lease of its own keeps it as long as it is renewed", async () => {
    const bench = await fresh();
    await bench.session("s1", { leaseMs: 900_000 });
    await bench.enqueue("a", "b");
    const [a, b] = (await bench.claim(["a", "b"], { leaseMs: 1_000 })) as [Claimed, Claimed];
    await bench.store.pass(scopeOf([], { started: [a, b] }), () => NOTHING);
    bench.clock.advance(900);
    await bench.store.cancel("a", "ann");
    bench.clock.advance(99);
    expect(await bench.store.renewClaims("s1")).toEqual([a.epoch, b.epoch]);
    bench.clock.advance(999);
    expect([await bench.heldAt("pool:smtp"), await bench.history("a")]).toEqual([
      2,
      ["1 TaskEnqueued", "2 TaskClaimed", "3 TaskCancelled"],
    ]);
    bench.clock.advance(1);
    expect(await bench.store.renewClaims("s1")).toEqual([]);
    expect(await bench.heldAt("pool:smtp")).toBe(0);
  });

  test("is told with its worker, since when and why; the other holders as ever", async () => {
    const { bench, claims } = await working("a", "b");
    await bench.enqueue(newTask("c"));
    const at = bench.clock.now();
    bench.clock.advance(3_000);
    await bench.store.cancel("a", "ann");
    const stopping = { since: at + 3_000, because: "cancelled" };
    const told = {
      id: "a",
      name: "send",
      session: "s1",
      worker: "worker s1",
      run: null,
      step: null,
      item: null,
    };
    const row = { epoch: claims[0]?.epoch, asks: MAIL.asks, ...told, ...stopping };
    expect(await bench.store.stopping()).toEqual([row]);
    expect(await bench.store.stopping("s1")).toEqual([row]);
    expect(await bench.store.stopping("s2")).toEqual([]);
    expect((await bench.store.inspect()).stopping).toEqual([row]);
    const holders = await bench.store.holders("pool:smtp");
    expect(holders.map(({ id, stopping: told }) => [id, told])).toEqual([
      ["a", stopping],
      ["b", undefined],
    ]);
    expect((await bench.store.wait("c"))?.holders).toMatchObject([{ id: "a", stopping }, { id: "b" }]);
  });

  test("of a step keeps the slots, the gates and the lanes of its run when that is over, until the last has stopped", async () => {
    const bench = await fresh();
    await bench.session();
    await started(bench, "r", "one", "two");
    const [one, two] = (await bench.claim(["r-one", "r-two"])) as [Claimed, Claimed];
    await bench.store.cancelRun("r", "ann");
    expect(await stateOf(bench, "r")).toBe("cancelled");
    const held = async () => [
      await bench.heldAt("runs"),
      await bench.heldAt("tag:tenant=acme"),
      await bench.heldAt(gateOf("r")),
      await bench.heldAt("pool:smtp"),
    ];
    const looked = async () => (await bench.store.advance(() => ({ moves: [] }))).freed;
    expect([await looked(), await held()]).toEqual([[], [1, 1, 2, 2]]);
    await bench.stopped(one);
    expect([await looked(), await held()]).toEqual([[], [1, 1, 1, 1]]);
    expect(await broken(bench)).toEqual([]);
    await bench.stopped(two);
    expect(await bench.store.stirring()).toMatchObject({ news: true });
    expect(await looked()).toEqual([NIGHTLY]);
    expect(await held()).toEqual([0, 0, undefined, 0]);
    expect(await bench.store.stopping()).toEqual([]);
    expect(await broken(bench)).toEqual([]);
  });

  test.each(["succeeded", "failed"] as const)("outlives a run that has %s too", async (state) => {
    const bench = await fresh();
    await bench.session();
    await started(bench, "r", "one");
    const claim = await bench.claimOne("r-one");
    expect(await bench.report(claim, { to: "failed", body: "{}", stopping: true })).toBe(true);
    await leaveNews(bench, "r");
    await move(bench, "r", { finish: { state, body: null } });
    expect([await stateOf(bench, "r"), await bench.heldAt("runs")]).toEqual([state, 1]);
    expect(await bench.store.stopping(RUNS)).toMatchObject([{ id: "r", because: state }]);
    await bench.stopped(claim);
    await look(bench);
    expect(await bench.heldAt("runs")).toBe(0);
  });

  test("of a run fails with its worker too: its lapsed lease is news of the run", async () => {
    const bench = await fresh();
    await bench.session();
    await started(bench, "r", "one");
    await bench.claimOne("r-one");
    await bench.store.failRun("r", '{"code":"RUN_TIMEOUT"}');
    await look(bench);
    await bench.store.closeSession("s1");
    expect(await bench.heldAt("runs")).toBe(1);
    await bench.look([]);
    await look(bench);
    expect(await bench.heldAt("runs")).toBe(0);
    expect((await bench.store.gates()).map(({ key }) => key)).not.toContain(gateOf("r"));
  });

  test("of a run keeps a schedule from taking it for over", async () => {
    const bench = await fresh();
    await bench.session();
    await started(bench, "r", "one");
    const claim = await bench.claimOne("r-one");
    await bench.store.cancelRun("r", "ann");
    const active = () => bench.store.activeRuns({ source: "code" });
    expect(await active()).toEqual({ queued: false, inProgress: true });
    await bench.stopped(claim);
    await look(bench);
    expect(await active()).toEqual({ queued: false, inProgress: false });
  });

  test("of an item holds its place in the window, while its step goes on", async () => {
    const bench = await fresh();
    await bench.session();
    await startedOver(bench, "r", "each", [0, 1, 2]);
    const [first, second] = (await bench.claim(["r-each-0", "r-each-1"])) as [Claimed, Claimed];
    await bench.store.cancel("r-each-0", "ann");
    expect(await bench.heldAt(windowOf("r", "each"))).toBe(2);
    await moveOn(bench, "r", { endItems: [{ step: "each", inFlight: true }] });
    expect(await bench.heldAt(windowOf("r", "each"))).toBe(2);
    await bench.stopped(second);
    expect(await bench.heldAt(windowOf("r", "each"))).toBe(1);
    await bench.stopped(first);
    expect(await bench.heldAt(windowOf("r", "each"))).toBe(0);
  });
}
