import { expect, test } from "vitest";
import type { LostRow, Moves, Recovery } from "../../store/store.ts";
import type { Bench, Fresh } from "./bench.ts";
import { BILL, NOTHING, newTask, scopeOf } from "./bench.ts";
import type { RunBench } from "./run-bench.ts";
import { move, newRun, started, unitOf } from "./run-bench.ts";

const ERROR = '{"code":"NO"}';
const handler = (id: string) => newTask(id, { lane: BILL, input: '{"of":"a"}' });

/** The tasks that were put in line to handle failures. */
const handling = async ({ store }: Bench): Promise<string[]> =>
  (await store.tasks({ name: BILL.task, limit: 10 })).map(({ id, state }) => `${id} ${state}`).sort();

/** Recovers all lost claims, as the pass of another session does. */
const recover = (bench: Bench, to: Recovery["to"], id: string): Promise<unknown> =>
  bench.store.pass(scopeOf([], { session: "s2" }), ({ lost }): Moves => {
    const recovered = (row: LostRow): Recovery => ({
      id: row.id,
      epoch: row.epoch,
      to,
      body: ERROR,
      handler: handler(id),
    });
    return { ...NOTHING, recover: lost.map(recovered) };
  });

export function handlerSuite(fresh: Fresh): void {
  const claimed = async () => {
    const bench = await fresh();
    await bench.session("s1", { leaseMs: 10_000 });
    await bench.session("s2", { leaseMs: 90_000 });
    await bench.enqueue("a");
    return { bench, claim: await bench.claimOne("a") };
  };

  test("is in line once the failure is recorded, and is claimed like any task", async () => {
    const { bench, claim } = await claimed();
    expect(await bench.report(claim, { to: "failed", body: ERROR, handler: handler("h") })).toBe(true);
    expect(await bench.state("a")).toBe("failed");
    expect(await handling(bench)).toEqual(["h waiting"]);
    expect(await bench.history("h")).toEqual(["1 TaskEnqueued"]);
    expect(await bench.claimOne("h")).toMatchObject({ name: "bill", input: '{"of":"a"}', attempt: 1 });
  });

  test("is put in line once, however often the failure is reported", async () => {
    const { bench, claim } = await claimed();
    for (const id of ["h", "h2"])
      await bench.report(claim, { to: "failed", body: ERROR, handler: handler(id) });
    expect(await handling(bench)).toEqual(["h waiting"]);
  });

  test("of a claim that was taken away is not put in line", async () => {
    const { bench, claim } = await claimed();
    bench.clock.advance(10_000);
    await recover(bench, "retry", "unused-0");
    await bench.store.pass(scopeOf([]), () => NOTHING);
    expect(await bench.report(claim, { to: "failed", body: ERROR, handler: handler("h") })).toBe(false);
    expect(await handling(bench)).toEqual(["unused-0 waiting"]);
  });

  test.each(["failed", "quarantined"] as const)(
    "is put in line once by passes that recover at the same time: %s",
    async (to) => {
      const { bench } = await claimed();
      bench.clock.advance(10_000);
      await Promise.all(["h1", "h2", "h3"].map((id) => recover(bench, to, id)));
      expect(await bench.state("a")).toBe(to);
      expect(await handling(bench)).toHaveLength(1);
    },
  );

  test("is not put in line by a pass that recovers what it has not seen", async () => {
    const { bench, claim } = await claimed();
    const stale: Recovery = { ...claim, to: "failed", body: ERROR, handler: handler("h") };
    await bench.store.pass(scopeOf([]), () => ({
      ...NOTHING,
      recover: [{ ...stale, epoch: claim.epoch + 1_000 }],
    }));
    expect(await handling(bench)).toEqual([]);
  });

  test("is told the input of a lost claim, which is read only for that", async () => {
    const bench = await fresh();
    await bench.session("s1", { leaseMs: 10_000 });
    await bench.enqueue("a", newTask("b", { options: '{"onFailure":{"task":"bill"}}', input: "[1]" }));
    await bench.claim(["a", "b"]);
    bench.clock.advance(10_000);
    const { lost } = await bench.look();
    expect(lost.map(({ id, input }) => [id, input])).toEqual([
      ["a", null],
      ["b", "[1]"],
    ]);
  });
}

export function runHandlerSuite(fresh: Fresh<"runs" | "steering">): void {
  const inProgress = async (): Promise<RunBench> => {
    const bench = await fresh();
    await bench.session();
    await started(bench, "r", "fetch");
    return bench;
  };
  const finish = { state: "failed", body: ERROR, handler: handler("h") } as const;

  test("of a run is in line once the run has failed", async () => {
    const bench = await inProgress();
    const claim = await bench.claimOne("r-fetch");
    const news = [{ run: "r", failed: "fetch" }];
    await bench.report(claim, { to: "failed", body: ERROR }, news);
    expect(await move(bench, "r", { finish })).toMatchObject({ news: 1 });
    expect((await bench.store.run("r"))?.run.state).toBe("failed");
    expect(await handling(bench)).toEqual(["h waiting"]);
  });

  test("of a run is not put in line by a decision about another claim of it", async () => {
    const bench = await inProgress();
    await bench.claim([], { news: [{ run: "r", failed: null }] });
    await move(bench, "r", { finish, epoch: 1_000_000 });
    expect((await bench.store.run("r"))?.run.state).toBe("started");
    expect(await handling(bench)).toEqual([]);
  });

  test("of a run that takes too long is put in line once, by one of many timers", async () => {
    const bench = await inProgress();
    const failed = await Promise.all(
      ["h1", "h2", "h3"].map((id) => bench.store.failRun("r", ERROR, handler(id))),
    );
    expect(failed.filter(Boolean)).toHaveLength(1);
    expect(await handling(bench)).toHaveLength(1);
  });

  test("of a run that was cancelled is not put in line", async () => {
    const bench = await inProgress();
    await bench.store.cancelRun("r", "ann");
    expect(await bench.store.failRun("r", ERROR, handler("h"))).toBe(false);
    expect(await handling(bench)).toEqual([]);
  });

  test("of a unit that waited too long is put in line once, and not if it waits no more", async () => {
    const bench = await inProgress();
    await move(bench, "r", { enqueue: [unitOf("r", "store")] });
    const verbs = ["h1", "h2"].map((id) => bench.store.failWaiting("r-fetch", ERROR, handler(id)));
    expect((await Promise.all(verbs)).filter(Boolean)).toHaveLength(1);
    expect(await handling(bench)).toHaveLength(1);
    expect(await bench.store.failWaiting("gone", ERROR, handler("h3"))).toBe(false);
    expect(await handling(bench)).toHaveLength(1);
  });

  test("finds what it needs in the options of the run", async () => {
    const bench = await fresh();
    const options = '{"startTimeoutMs":5000,"onFailure":{"task":"bill"}}';
    await bench.store.submit([newRun("r", { direct: true, options })]);
    let seen: string | undefined;
    await bench.store.advance((runs) => {
      seen = runs[0]?.options;
      return { moves: [] };
    });
    expect(JSON.parse(seen ?? "{}")).toEqual(JSON.parse(options));
  });
}
