// Soft cap: claims ahead of their slots hold nothing, lapse, and never let code run twice. Hard cap: there
// are no such claims.

import { describe, expect, onTestFinished, test } from "vitest";
import type { Sluice } from "../../src/index.ts";
import { connect } from "../../src/index.ts";
import { openWitness } from "../support/open-witness.ts";
import type { WorkerProcess } from "../support/start-worker.ts";
import { prepareWorker, prepareWorkers } from "../support/start-worker.ts";
import type { Witness } from "../support/witness.ts";
import { Visitor } from "../support/witness.ts";
import { appNamed } from "../support/worker-apps.ts";
import type { Errand } from "./support/apps.ts";
import { describeOn } from "./support/places.ts";
import { until } from "./support/until.ts";

const PREFETCH = 4;
const CAP = 3;

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("a worker claims up to its prefetch beyond what runs, and runs no more than the cap", async () => {
    const witness = await openWitness();
    const visitor = await Visitor.connect(witness.port, "a");
    await using sluice = await connect({
      store: await place.open(),
      app: appNamed("soft", visitor),
      migrate: true,
    });
    const ids = await enqueue(sluice, "work", 20, { hold: true });
    const worker = await sluice.worker({ slots: 6, poll: "100ms", pollJitter: "0ms" });

    await witness.until((seen) => seen.sum("queue:work") === CAP, "the cap is reached");
    await until(async () => (await countClaimed(sluice)) === PREFETCH, "four more are claimed");
    expect((await sluice.explain(ids[CAP] as string)).state).toBe("claimed");
    const mine = await sluice.store.claimsOf(worker.session as string);
    expect(mine.filter(({ held }) => held)).toHaveLength(CAP);

    let most = 0;
    for (const id of ids) {
      witness.letGo(id);
      most = Math.max(most, await countClaimed(sluice));
    }
    await until(async () => (await finished(sluice)) === ids.length, "all are done");
    expect(most).toBeLessThanOrEqual(PREFETCH);
    expect(witness.peak("queue:work")).toBe(CAP);
    expect(witness.starts.map(({ id }) => id)).toEqual(ids);
  });

  test("a claim that lapses before it starts costs no attempt", async () => {
    const witness = await openWitness();
    const visitor = await Visitor.connect(witness.port, "a");
    await using sluice = await connect({
      store: await place.open(),
      app: appNamed("soft", visitor),
      migrate: true,
    });
    const ids = await enqueue(sluice, "work", CAP + 1, { hold: true });
    await sluice.worker({ slots: 6, poll: "100ms", pollJitter: "0ms" });
    const last = ids[CAP] as string;
    // The task is claimed ahead twice, and lapses once in between.
    await until(
      async () => (await kindsOf(sluice, last)).filter((kind) => kind === "TaskReturned").length >= 1,
      "it lapsed",
    );
    await until(async () => (await sluice.get(last))?.state === "claimed", "it is claimed again");
    witness.letGo();
    const done = await until(async () => {
      const seen = await sluice.get(last);
      return seen?.state === "succeeded" && seen;
    }, "it is done");
    expect(done).toMatchObject({ attempt: 1, losses: 0 });
    expect(witness.startsOf(last)).toHaveLength(1);
  });
});

describeOn(["memory", "postgres"], (place) => {
  test("what runs keeps its claim past the claim lease, however seldom its worker polls", async () => {
    const witness = await openWitness();
    const visitor = await Visitor.connect(witness.port, "a");
    await using sluice = await connect({
      store: await place.open(),
      app: appNamed("soft", visitor),
      migrate: true,
    });
    await sluice.worker({ name: "seldom", slots: 2, queues: ["free"], poll: "1m" });
    // This worker would take over claims that look lost.
    await sluice.worker({ name: "often", slots: 2, queues: ["own"], poll: "50ms", pollJitter: "0ms" });
    const [id = ""] = await enqueue(sluice, "free", 1, { hold: true });
    const { at: claimedAt } = await until(async () => {
      const seen = await sluice.get(id);
      return seen?.state === "running" && seen;
    }, "it runs");
    await until(async () => (await sluice.store.now()) > claimedAt + 1_500, "its claim lease would be over");
    expect(await sluice.get(id)).toMatchObject({ state: "running", attempt: 1, losses: 0 });
    witness.letGo(id);
    await until(async () => (await sluice.get(id))?.state === "succeeded", "it is done");
  });
});

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("two workers with prefetch never burst above the cap", async () => {
    const witness = await openWitness();
    const store = (await place.open()) as string;
    await using sluice = await connect({ store, app: appNamed("soft"), migrate: true });
    const ids = await enqueue(sluice, "work", 300, { ms: 2 });
    const workers = await start(witness, store, ["a", "b"]);
    await witness.until(({ starts }) => starts.length >= ids.length, "all have started", 40_000);
    expect(await Promise.all(workers.map((worker) => worker.stop()))).toEqual(["code 0", "code 0"]);
    expect(witness.peak("queue:work")).toBe(CAP);
    expect(new Set(witness.starts.map(({ id }) => id))).toEqual(new Set(ids));
    expect(witness.starts).toHaveLength(ids.length);
    expect(await finished(sluice)).toBe(ids.length);
  });

  describe("a worker that is frozen while it has claims ahead", () => {
    test("never runs what another took over meanwhile, when it wakes within its session", async () => {
      const { witness, sluice, taken, frozen, running } = await takeOver("soft");
      frozen.thaw();
      expect(await sluice.store.sessions().then((all) => all.map(({ name }) => name))).toContain("frozen");
      // The worker is back once it has finished what it held and has begun something new.
      witness.letGo(running);
      const [own] = await enqueue(sluice, "own", 1, {});
      await witness.until((seen) => seen.startsOf(own as string).length > 0, "it works again");
      expect(await frozen.stop()).toBe("code 0");
      expect((await sluice.get(running))?.state).toBe("succeeded");
      // By now a heartbeat has told it which claims had lapsed. What it gave back on its way out was refused.
      expect(frozen.events.filter(({ event }) => event === "sessionEnded")).toEqual([]);
      const refused = frozen.events.filter(({ event }) => event === "refused");
      expect(refused.filter(({ id }) => !taken.has(id as string))).toEqual([]);
      expectTakenOver(witness, taken);
    });

    test("never runs what another took over meanwhile, when it wakes after its session", async () => {
      const { witness, sluice, taken, frozen, running } = await takeOver("softBrief");
      await until(
        async () => (await sluice.store.sessions()).every(({ name }) => name !== "frozen"),
        "its session ended",
      );
      frozen.thaw();
      witness.letGo(running);
      const [own] = await enqueue(sluice, "own", 1, {});
      await witness.until((seen) => seen.startsOf(own as string).length > 0, "it works again");
      expect(await frozen.stop()).toBe("code 0");
      expect(frozen.events.map(({ event }) => event)).toContain("sessionEnded");
      expectTakenOver(witness, taken);
    });

    /**
     * The worker freezes with one task running and four claimed ahead. Then another worker starts and does
     * those four.
     */
    async function takeOver(app: "soft" | "softBrief") {
      const witness = await openWitness();
      const store = (await place.open()) as string;
      const sluice = await connect({ store, app: appNamed(app), migrate: true });
      onTestFinished(() => sluice.close());
      const [running = ""] = await enqueue(sluice, "free", 1, { hold: true });
      const order = { app, store, witnessPort: witness.port, poll: "100ms" } as const;
      const [frozen, other] = await Promise.all([
        prepareWorker({ ...order, name: "frozen", slots: 1, queues: ["free", "own"] }),
        prepareWorker({ ...order, name: "other", slots: PREFETCH, queues: ["free"] }),
      ]);
      const session = await frozen.go();
      await witness.until((seen) => seen.startsOf(running).length > 0, "the first runs");
      // With these claims the store also learns that the first task has begun.
      const ids = await enqueue(sluice, "free", PREFETCH, {});
      const claims = await until(async () => {
        const all = (await sluice.store.claimsOf(session)).filter(({ held }) => !held);
        return all.length === PREFETCH && all;
      }, "four are claimed ahead");
      await freezeBetweenWrites(frozen, sluice);
      await other.go();
      const taken = new Map(claims.map(({ id, epoch }) => [id, epoch]));
      expect(new Set(taken.keys())).toEqual(new Set(ids));
      await witness.until(
        (seen) => ids.every((id) => seen.startsOf(id).length > 0),
        "the other did the four",
      );
      return { witness, sluice, taken, frozen, running };
    }
  });

  test("a slow worker in hard mode keeps nothing from a fast one", async () => {
    const witness = await openWitness();
    const store = (await place.open()) as string;
    await using sluice = await connect({ store, app: appNamed("hard"), migrate: true });
    const slots = 4;
    // On the slow worker they take until the end of the test, on the fast one no time.
    const ids = await enqueue(sluice, "work", 200, { holdOn: "slow" });
    const order = { app: "hard", store, witnessPort: witness.port, slots } as const;
    const [slow, fast] = await prepareWorkers(["slow", "fast"], order);
    await slow?.go();
    await witness.until((seen) => seen.sum("worker:slow") === slots, "the slow one is full");
    await fast?.go();
    let claimed = 0;
    await until(async () => {
      claimed = Math.max(claimed, await countClaimed(sluice));
      return (await finished(sluice)) === ids.length - slots;
    }, "the fast one has done all but those");
    expect(claimed).toBe(0);
    expect(witness.starts.filter(({ worker }) => worker === "slow")).toHaveLength(slots);
    expect(witness.sum("worker:slow")).toBe(slots);
    witness.letGo();
    await until(async () => (await finished(sluice)) === ids.length, "the slow one is done too");
  });
});

async function start(witness: Witness, store: string, names: readonly string[]): Promise<WorkerProcess[]> {
  const order = { app: "soft", store, slots: 6, witnessPort: witness.port } as const;
  const workers = await prepareWorkers(names, order);
  await Promise.all(workers.map((worker) => worker.go()));
  return workers;
}

async function enqueue(sluice: Sluice, queue: string, count: number, input: Errand): Promise<string[]> {
  const calls = Array.from({ length: count }, () => ({ task: { id: queue } as never, input }));
  return (await sluice.enqueueMany(calls)).map(({ id }) => id);
}

/**
 * A worker frozen inside a transaction would block everyone by SQLite's single lock. If so, this lets it run
 * a little and tries again.
 */
async function freezeBetweenWrites(worker: WorkerProcess, sluice: Sluice): Promise<void> {
  for (;;) {
    worker.freeze();
    const written = sluice.store.tend().then(() => true);
    const free = await Promise.race([
      written,
      new Promise<false>((resolve) => setTimeout(resolve, 250, false)),
    ]);
    if (free) return;
    worker.thaw();
    await written;
  }
}

/** Each task ran once, on the other worker, under a later epoch than the claim that lapsed. */
function expectTakenOver(witness: Witness, taken: ReadonlyMap<string, number>): void {
  for (const [id, epoch] of taken) {
    const starts = witness.startsOf(id);
    expect(starts.map(({ worker }) => worker)).toEqual(["other"]);
    expect(starts[0]?.epoch).toBeGreaterThan(epoch);
  }
}

/** Tasks claimed ahead, which hold nothing yet. */
const countClaimed = async (sluice: Sluice): Promise<number> =>
  (await sluice.store.tasks({ state: "claimed", limit: 500 })).filter(({ holds }) => !holds).length;
const finished = async (sluice: Sluice): Promise<number> =>
  (await sluice.list({ state: "succeeded", limit: 500 })).length;
const kindsOf = async (sluice: Sluice, id: string): Promise<string[]> =>
  (await sluice.events(id)).map(({ kind }) => kind);
