/** Since when a unit is in line, and every stay it had there. */
import { expect, test } from "vitest";
import type { Stay } from "../../store/in-line.ts";
import type { Bench, BenchWith, Fresh } from "./bench.ts";
import { newTask } from "./bench.ts";
import { countsOf, laneOfItems, startedOver } from "./fan-bench.ts";
import { started } from "./run-bench.ts";

type Needs = "lines" | "runs" | "steering";

/** Ends a claim with a retry, and lets its delay pass. */
async function triedAgain(bench: Bench, id: string, delayMs: number): Promise<void> {
  await bench.report(await bench.claimOne(id), { to: "retry", body: '{"message":"no"}', delayMs });
  bench.clock.advance(delayMs);
  await bench.store.tend();
}

const staysOfItem = async (bench: BenchWith<Needs>, item: number): Promise<readonly Stay[] | undefined> =>
  (await bench.store.items("r", "each", { after: item - 1, limit: 1 }))[0]?.inLine;

export function inLineSinceSuite(fresh: Fresh): void {
  test("is told from when a unit stands there, also where it kept its place", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a", "never");
    const enqueued = bench.clock.now();
    const since = async (id = "a") => {
      const task = await bench.store.task(id);
      const listed = (await bench.store.tasks({ limit: 9 })).find((each) => each.id === id);
      expect(listed?.since).toBe(task?.since);
      return { at: task?.at, since: task?.since };
    };
    expect(await since()).toEqual({ at: enqueued, since: enqueued });
    const claimed = bench.clock.advance(100);
    const first = await bench.claimOne("a");
    expect(await since()).toEqual({ at: claimed, since: claimed });
    const returned = bench.clock.advance(100);
    await bench.report(first, { to: "returned" });
    bench.clock.advance(50);
    expect(await since()).toEqual({ at: enqueued, since: returned });
    expect(await since("never")).toEqual({ at: enqueued, since: enqueued });
    const due = bench.clock.now() + 30;
    await triedAgain(bench, "a", 30);
    bench.clock.advance(50);
    expect(await since()).toEqual({ at: due, since: due });
  });

  test("of a unit that was put off begins when it is due", async () => {
    const bench = await fresh();
    await bench.enqueue(newTask("a", { delayMs: 40 }));
    const due = bench.clock.advance(40);
    expect(await bench.store.task("a")).toMatchObject({ state: "later", at: due, since: due });
    await bench.store.tend();
    bench.clock.advance(5);
    expect(await bench.store.task("a")).toMatchObject({ state: "waiting", at: due, since: due });
  });
}

export function inLineSuite(fresh: Fresh<Needs>): void {
  test("is told of a wait, too", async () => {
    const bench = await fresh();
    await bench.session();
    await bench.enqueue("a");
    const at = bench.clock.now();
    const claim = await bench.claimOne("a");
    const returned = bench.clock.advance(100);
    await bench.report(claim, { to: "returned" });
    bench.clock.advance(50);
    expect((await bench.store.wait("a"))?.task).toMatchObject({ state: "waiting", at, since: returned });
  });

  test("is every time that an item stood there, not the time in between", async () => {
    const bench = await fresh();
    await bench.session();
    await startedOver(bench, "r", "each", [0, 1]);
    const enqueued = bench.clock.now();
    const claimed = bench.clock.advance(10);
    const claim = await bench.claimOne("r-each-0");
    const failed = bench.clock.advance(100);
    const first = { from: enqueued, until: claimed };
    await bench.report(claim, { to: "retry", body: "{}", delayMs: 30 });
    expect(await staysOfItem(bench, 0)).toEqual([first]);
    bench.clock.advance(30);
    await bench.store.tend();
    expect(await staysOfItem(bench, 0)).toEqual([first, { from: failed + 30, until: null }]);
    expect(await bench.store.task("r-each-0")).toMatchObject({ at: enqueued, since: failed + 30 });
    const again = bench.clock.advance(7);
    const second = { from: failed + 30, until: again };
    const next = await bench.claimOne("r-each-0");
    expect(await staysOfItem(bench, 0)).toEqual([first, second]);
    const returned = bench.clock.advance(5);
    await bench.report(next, { to: "returned" });
    const ended = bench.clock.advance(3);
    await bench.store.cancel("r-each-0", "ann");
    expect(await staysOfItem(bench, 0)).toEqual([first, second, { from: returned, until: ended }]);
    expect(await staysOfItem(bench, 1)).toEqual([{ from: enqueued, until: null }]);
  });

  test("is none for what ends before its delay is over", async () => {
    const bench = await fresh();
    await bench.session();
    await startedOver(bench, "r", "each", [0]);
    const at = bench.clock.now();
    await bench.report(await bench.claimOne("r-each-0"), { to: "retry", body: "{}", delayMs: 30 });
    bench.clock.advance(5);
    await bench.store.cancel("r-each-0", "ann");
    expect(await staysOfItem(bench, 0)).toEqual([{ from: at, until: at }]);
  });

  test("is told of a step as of an item", async () => {
    const bench = await fresh();
    await bench.session();
    await started(bench, "r", "fetch");
    const at = bench.clock.now();
    const claim = await bench.claimOne("r-fetch");
    const returned = bench.clock.advance(100);
    await bench.report(claim, { to: "returned" });
    const again = bench.clock.advance(20);
    const inLine = async () => (await bench.store.run("r"))?.steps[0]?.inLine;
    const first = { from: at, until: at };
    expect(await inLine()).toEqual([first, { from: returned, until: null }]);
    await bench.claim(["r-fetch"]);
    expect(await inLine()).toEqual([first, { from: returned, until: again }]);
  });

  test.each(["retry", "returned"] as const)(
    "leaves a list begun with its first claim, which a %s does not take back",
    async (to) => {
      const bench = await fresh();
      await bench.session();
      await startedOver(bench, "r", "each", [0, 1]);
      const key = { run: "r", step: "each" };
      const since = async () => (await countsOf(bench, key))?.since;
      const begun = bench.clock.advance(10);
      const claim = await bench.claimOne("r-each-0");
      bench.clock.advance(10);
      await bench.report(claim, { to, body: "{}", delayMs: to === "retry" ? 30 : 0 });
      expect(await since()).toBe(begun);
      bench.clock.advance(30);
      await bench.store.tend();
      expect(await since()).toBe(begun);
      await bench.claim(["r-each-1"]);
      await bench.report(await bench.claimOne("r-each-0"), { to: "succeeded" });
      expect(await since()).toBe(begun);
    },
  );

  test("counts anew for the list of an item that comes back, and from the claim that it had", async () => {
    const bench = await fresh();
    await bench.session();
    await startedOver(bench, "r", "each", [0, 1]);
    const enqueued = bench.clock.now();
    const claimedAt = bench.clock.advance(10);
    const claim = await bench.claimOne("r-each-0");
    const returned = bench.clock.advance(20);
    await bench.report(claim, { to: "returned" });
    expect(await bench.store.standstill(laneOfItems("r", "each").id)).toEqual({
      open: true,
      claimedAt,
      waiting: [
        { id: "r-each-0", at: returned },
        { id: "r-each-1", at: enqueued },
      ],
    });
  });
}
