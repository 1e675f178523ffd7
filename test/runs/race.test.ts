// Cancels, dequeues and finishes a run at the same moment from two connections. One of them decides how the
// run ends, the others learn of it, and nothing of the run is left behind.

import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../src/index.ts";
import type { Advanced, RunState, Store } from "../../src/store/store.ts";
import type { Aside } from "../conformance/tables.ts";
import type { Place } from "../race/support.ts";
import { describeOn, limit, placeOf } from "../race/support.ts";
import {
  advance,
  claimsOfRuns,
  leaveNews,
  letIn,
  newRun,
  started,
  stepWorker,
  succeeded,
} from "./support/coordinating.ts";

const ROUNDS = { PostgreSQL: 1_000, MariaDB: 200, SQLite: 200 } as const;

/** The verb that the cancel races with. */
const MOMENTS = ["dequeue", "start", "finish"] as const;

for (const name of ["PostgreSQL", "MariaDB", "SQLite"] as const) {
  describeOn(name, () => {
    test(`cancel, dequeue and finish raced ${ROUNDS[name]} times have one winner each time, and nothing stays held`, {
      timeout: 240_000,
    }, async () => {
      const { left, right, aside } = await twoConnections(name);
      // There is room for one run, so anything left from a round would block the next one.
      for (const gate of ["runs", "tag:tenant=a"]) await limit(left, gate, 1);
      const claims = claimsOfRuns(left);
      const seen = new Map<string, number>();
      for (let round = 0; round < ROUNDS[name]; round += 1) {
        const id = `r${String(round).padStart(4, "0")}`;
        const moment = MOMENTS[round % MOMENTS.length] as (typeof MOMENTS)[number];
        await left.submit([newRun(id)]);
        // The cancel is sent before the other verb, with it, or one or two round trips later.
        const lag = Math.floor(round / MOMENTS.length) % 4;
        const cancel = once(async () => {
          for (let trip = 1; trip < lag; trip += 1) await right.now();
          return right.cancelRun(id, "test");
        });
        const beside = <T>(at: string, verb: () => Promise<T>): Promise<T> => {
          if (at !== moment) return verb();
          if (lag === 0) void cancel();
          const done = verb();
          void cancel();
          return done;
        };

        const entered = await beside("dequeue", () => letIn(claims));
        await beside("start", () => advance(left, () => started(id)));
        await leaveNews(left, id, round % 2 === 0);
        const ended = await beside("finish", () => advance(left, () => succeeded));
        const was = (await cancel())?.was as RunState;

        const tell = `${id}: cancelled beside ${moment}, when it was ${was}`;
        expect(didFinish(ended) !== didCancel(was), tell).toBe(true);
        expect(entered, tell).toEqual(was === "queued" ? [] : [id]);
        expect(await rowsOf(aside, id), tell).toEqual([didCancel(was) ? "cancelled" : "succeeded"]);
        // Ended runs are cleared away sometimes before their steps were taken in, sometimes after.
        if (round % 4 < 2) await clearAway(left);
        const result = `${moment}: ${was}`;
        seen.set(result, (seen.get(result) ?? 0) + 1);
      }
      console.log(`${name}: ${[...seen].map(([result, times]) => `${result} ${times}`).join(", ")}`);
      // Each side has won and lost.
      for (const result of ["dequeue: queued", "dequeue: notStarted", "finish: started", "finish: succeeded"])
        expect(seen.get(result) ?? 0, `${result} among ${[...seen.keys()]}`).toBeGreaterThan(0);
      await expectNothingLeft(left, aside, claims);
    });

    test("a step that moves at the moment in which its run is cancelled ends with it, wherever it went", {
      timeout: 60_000,
    }, async () => {
      const { left, right, aside } = await twoConnections(name);
      const claims = claimsOfRuns(left);
      const worker = await stepWorker(left, "w");
      const rounds = ROUNDS[name] / 5;
      for (let round = 0; round < rounds; round += 1) {
        const id = `r${String(round).padStart(4, "0")}`;
        await left.submit([newRun(id)]);
        expect(await letIn(claims)).toEqual([id]);
        await advance(left, (run) => (run.id === id ? started(id) : {}));
        const way = round % 4;
        const claimed = way === 0 ? [] : await worker.take();
        const [claim] = claimed;
        if (way > 0) expect(claim?.id).toBe(`${id}-step`);
        const moves = [
          () => worker.take(),
          () => worker.report(claim as never, "returned", 0),
          () => worker.report(claim as never, "retry", 0),
          () => worker.report(claim as never, "retry", 60_000),
        ];
        const verbs = [moves[way] as () => Promise<unknown>, () => right.cancelRun(id, "test")];
        await Promise.all((round % 8 < 4 ? verbs : verbs.reverse()).map((verb) => verb()));
        expect(await rowsOf(aside, id), `${id}, way ${way}`).toEqual(["cancelled"]);
        await worker.stop();
      }
      await expectNothingLeft(left, aside, claims);
    });

    test("a cancel in the queue leaves alone a run that was let in just before it", async () => {
      const { left, right } = await twoConnections(name);
      const claims = claimsOfRuns(left);
      await left.submit([newRun("r")]);
      const sluice = await connect({ store: between(right, "cancelRun", () => letIn(claims)) });
      await expect(sluice.queue.cancel("r")).rejects.toMatchObject({ code: "NOT_QUEUED" });
      expect((await left.run("r"))?.run.state).toBe("notStarted");
    });
  });
}

async function twoConnections(name: Place["name"]): Promise<{ left: Store; right: Store; aside: Aside }> {
  const place = await placeOf(name);
  onTestFinished(() => place.close());
  const left = await place.open();
  const right = await place.open();
  return { left, right, aside: await place.beside() };
}

function once<T>(verb: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= verb();
    return running;
  };
}

/** The same store, with something that happens just before a verb. */
function between(store: Store, verb: keyof Store, happens: () => Promise<unknown>): Store {
  return new Proxy(store, {
    get: (target, key: keyof Store) => {
      const own = target[key];
      if (typeof own !== "function") return own;
      const call = own.bind(target) as (...args: unknown[]) => unknown;
      if (key !== verb) return call;
      return async (...args: unknown[]) => {
        await happens();
        return call(...args);
      };
    },
  });
}

const didFinish = ({ freed }: Advanced): boolean => freed.length > 0;
const didCancel = (was: RunState): boolean => was === "queued" || was === "notStarted" || was === "started";

/** The places of the run and its step. Once the run has ended, only its outcome is there. */
async function rowsOf(aside: Aside, id: string): Promise<string[]> {
  const places = ["waiting", "later", "running"].map(
    (table) => `SELECT '${table}' AS place FROM sluice_${table} WHERE id IN ('${id}', '${id}-step')`,
  );
  const rows = await aside.query(
    [`SELECT state AS place FROM sluice_outcome WHERE id = '${id}'`, ...places].join(" UNION ALL "),
  );
  return rows.map(({ place }) => place as string);
}

/** Reads all news. The last look at a run clears away what only that run needed. */
async function clearAway(store: Store): Promise<void> {
  for (let news = 1; news > 0; ) news = (await advance(store, () => ({}))).news;
}

async function expectNothingLeft(
  store: Store,
  aside: Aside,
  claims: ReturnType<typeof claimsOfRuns>,
): Promise<void> {
  expect(await letIn(claims)).toEqual([]);
  await clearAway(store);
  // A late intake must not bring back what is gone.
  await leaveNews(store, "nobody", true);
  await advance(store, () => ({}));
  for (const table of ["waiting", "later", "running", "stopping", "news", "timer", "arrival"])
    expect(await aside.query(`SELECT * FROM sluice_${table}`), table).toEqual([]);
  expect((await store.gates()).filter(({ held }) => held !== 0)).toEqual([]);
  expect(await aside.query("SELECT name FROM sluice_gate WHERE name LIKE 'run:%'")).toEqual([]);
  expect(await aside.query("SELECT id, asks FROM sluice_lane WHERE asks LIKE '%run:%'")).toEqual([]);
}
