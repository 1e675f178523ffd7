// The line of runs: every limit is reached and none is exceeded, blocked runs are passed over, and the
// reasons name the real obstacles. SQL beside the store counts them, and a witness counts the code that
// actually runs.

import { expect, onTestFinished, test } from "vitest";
import type { Reference, Sluice } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import type { Aside } from "../conformance/tables.ts";
import { deferred } from "../e2e/support/deferred.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn, storeOn } from "../e2e/support/places.ts";
import { until } from "../e2e/support/until.ts";
import { openWitness } from "../support/open-witness.ts";
import { prepareWorkers } from "../support/start-worker.ts";
import { appNamed } from "../support/worker-apps.ts";
import type { Errand } from "./support/apps.ts";
import { RunWatch, sampleRuns } from "./support/run-watch.ts";

const TENANTS = 20;
const LIMITS = { runs: 10, "tag:tenant=*": 1, "tag:env=prod": 2 } as const;
const POLL_MS = 1_000;
/** Allows for a busy machine. */
const MARGIN_MS = 1_500;

const SIZES = {
  PostgreSQL: { runs: 1_000, workers: ["a", "b", "c", "d"] },
  MariaDB: { runs: 200, workers: ["a", "b"] },
  SQLite: { runs: 200, workers: ["a", "b"] },
} as const;

describeOn(["postgres", "mariadb", "sqlite"], (place) => {
  const { runs, workers: names } = SIZES[place.name as keyof typeof SIZES];

  test(`${runs} runs of ${TENANTS} tenants: ${names.length} coordinators reach every limit, pass none, and let in whoever is free`, {
    timeout: 200_000,
  }, async () => {
    const witness = await openWitness();
    const store = (await place.open()) as string;
    await using sluice = await connect({ store, app: appNamed("queue"), migrate: true });
    const ids = await submitAll(sluice, runs);
    const aside = await beside(place, store);
    const queued = await sampleRuns(aside);
    expect(queued.running).toEqual([]);
    expect(queued.waiting).toHaveLength(runs);

    const order = { app: "queue", store, slots: 5, poll: `${POLL_MS}ms`, witnessPort: witness.port } as const;
    const workers = await prepareWorkers(names, order);
    await Promise.all(workers.map((worker) => worker.go()));
    // No run leaves yet: ten runs are in progress, and the waiting runs between them are blocked by a tag.
    await witness.until(
      (seen) => seen.sum("pool:runs") === LIMITS.runs && seen.sum("pool:env=prod") === LIMITS["tag:env=prod"],
      "the limits are reached",
    );
    const watch = new RunWatch(LIMITS);
    watch.see(await sampleRuns(aside));
    witness.letGo();
    await until(
      async () => {
        const sample = await sampleRuns(aside);
        watch.see(sample);
        if (watch.samples % 10 === 1) await expectQueuedHoldNothing(aside);
        return sample.running.length + sample.waiting.length === 0;
      },
      "every run has ended",
      150_000,
    );
    expect(await Promise.all(workers.map((worker) => worker.stop()))).toEqual(names.map(() => "code 0"));
    expect(workers.flatMap(({ events }) => events)).toEqual([]);

    console.log(
      `${place.name}: ${watch.samples} samples, peaks ${JSON.stringify(watch.peaks)}, ${watch.overtaken} with a blocked run in front of one let in, free for ${Math.round(watch.longestMs)}ms at most; ${witness}`,
    );
    expect(watch.samples).toBeGreaterThan(20);
    expect(watch.peaks).toEqual(LIMITS);
    expect(watch.overtaken).toBeGreaterThan(0);
    expect(watch.longestMs).toBeLessThan(POLL_MS + MARGIN_MS);
    // The witness saw what actually ran, whatever the rows say.
    expect(witness.peak("pool:runs")).toBe(LIMITS.runs);
    expect(witness.peak("pool:env=prod")).toBe(LIMITS["tag:env=prod"]);
    for (let tenant = 0; tenant < TENANTS; tenant += 1)
      expect(witness.peak(`pool:tenant=t${tenant}`)).toBe(1);

    expect(witness.starts).toHaveLength(runs);
    const ended = await sluice.runs.list({ state: "succeeded", limit: runs + 1 });
    expect(new Set(ended.map(({ id }) => id))).toEqual(new Set(ids));
    expect((await sluice.limits.list()).filter(({ held }) => held !== 0)).toEqual([]);
  });
});

describeOn(["memory", "postgres"], (place) => {
  test("a run that is kept in line says which gates keep it there, and nothing any more once it was let in", async () => {
    const holding = new Map(["first", "second"].map((name) => [name, deferred()]));
    onTestFinished(() => [...holding.values()].forEach(({ resolve }) => void resolve()));
    const work = task({ id: "work", run: async (name: string) => holding.get(name)?.promise });
    const job = workflow({ id: "job", steps: (s, name: Reference<string>) => s.step("work", work, name) });
    const app = defineApp({
      tasks: [work],
      workflows: [job],
      runs: { max: 2, tags: [{ key: "tenant", perValue: true, limit: 1 }] },
    });
    const sluice = await connect({ store: await storeOn(place), app });
    await sluice.worker({ poll: "50ms", pollJitter: "0ms" });
    const submit = async (name: string, tenant: string): Promise<string> =>
      (await sluice.submit(job, name, { tags: { tenant } })).id;
    const inProgress = (id: string) =>
      until(async () => (await sluice.runs.get(id))?.state === "started", `${id} has started`);
    const blocked = async (): Promise<Record<string, string[]>> =>
      Object.fromEntries(
        (await sluice.queue.list()).map(({ id, reasons }) => [
          id,
          reasons.map((reason) => `${reason.kind} ${"gate" in reason ? reason.gate : ""}`).sort(),
        ]),
      );

    const first = await submit("first", "a");
    await inProgress(first);
    const again = await submit("again", "a");
    expect(await blocked()).toEqual({ [again]: ["full tag:tenant=a"] });
    const second = await submit("second", "b");
    await inProgress(second);
    const third = await submit("third", "c");
    expect(await blocked()).toEqual({
      [again]: ["full runs", "full tag:tenant=a"],
      [third]: ["full runs"],
    });
    expect((await sluice.queue.why(third)).sentences).toEqual([
      {
        text: expect.stringMatching(
          /^the run cap is full: 2 of 2 slots held \(by \S+ \S+ for \S+, \S+ \S+ for \S+\)/,
        ),
        remedies: [{ action: "setLimit", gate: "runs", limit: 3 }],
      },
    ]);
    expect((await sluice.queue.why(again)).sentences.map(({ text }) => text)).toEqual([
      expect.stringContaining('tag "tenant=a" is full: 1 of 1'),
      expect.stringContaining("the run cap is full"),
    ]);

    // A run that is free passes the blocked run in front of it. That run still has a reason, and only that
    // one.
    holding.get("second")?.resolve();
    await sluice.runs.ended(third);
    await until(async () => (await blocked())[again]?.length === 1, "the cap has room again");
    expect(await blocked()).toEqual({ [again]: ["full tag:tenant=a"] });
    holding.get("first")?.resolve();
    expect(await sluice.runs.ended(again)).toMatchObject({ state: "succeeded" });
    expect(await blocked()).toEqual({});
    await expect(sluice.queue.why(again)).rejects.toMatchObject({ code: "NOT_QUEUED" });
    await sluice.close();
  });
});

/**
 * Submits all runs of one tenant after the other, so that a blocked tenant is always in front of the free
 * ones.
 */
async function submitAll(sluice: Sluice, runs: number): Promise<string[]> {
  const each = runs / TENANTS;
  const ids: string[] = [];
  for (let tenant = 0; tenant < TENANTS; tenant += 1) {
    const tags = { tenant: `t${tenant}`, env: tenant % 4 === 0 ? "prod" : "test" };
    const batch = Array.from({ length: each }, () => {
      const counts = { runs: 1, [`tenant=${tags.tenant}`]: 1, [`env=${tags.env}`]: 1 };
      const input: Errand = { counts, hold: true, ms: 10 };
      return sluice.submit("job", input as never, { tags });
    });
    ids.push(...(await Promise.all(batch)).map(({ id }) => id));
  }
  return ids;
}

/** A run in line has no claim, no steps and no gates of its own, so it cannot hold anything. */
async function expectQueuedHoldNothing(aside: Aside): Promise<void> {
  const [row] = await aside.query(
    `SELECT (SELECT count(*) FROM sluice_waiting w JOIN sluice_running r ON r.id = w.id) AS claims,
      (SELECT count(*) FROM sluice_waiting w JOIN sluice_task t ON t.run = w.id) AS steps`,
  );
  expect([Number(row?.claims), Number(row?.steps)]).toEqual([0, 0]);
}

async function beside(place: Place, url: string): Promise<Aside> {
  const aside = await place.beside(url);
  onTestFinished(() => aside.close());
  return aside;
}
