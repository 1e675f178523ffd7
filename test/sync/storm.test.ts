// Three engines, each a process with its own SQLite store, share a semaphore of 2 and a mutex. They are killed
// at every point of the protocol, and the sync database goes away meanwhile. A witness outside of all of them
// sees who is inside.

import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../src/index.ts";
import { until } from "../e2e/support/until.ts";
import { freshSqlite } from "../support/databases.ts";
import { plainModule } from "../support/plain-module.ts";
import { Witness } from "../support/witness.ts";
import type { Death, EngineOrder } from "./support/engine-process.ts";
import { Outage } from "./support/outage.ts";
import type { SyncPlace } from "./support/places.ts";
import { describeSync } from "./support/places.ts";
import type { StormLock } from "./support/storm-app.ts";
import { LOCKS, stormApp } from "./support/storm-app.ts";

const MAIN = new URL("./support/engine-process.ts", import.meta.url);

/** The long form needs many minutes. */
const isLong = process.env.SLUICE_TEST_SYNC_STORM === "long";
const SIZE = isLong ? { runs: 500, kills: 100, outages: 10 } : { runs: 18, kills: 5, outages: 1 };
/** No promise: it only ends a test whose answer never comes, also on a busy machine. */
const WITHIN_MS = isLong ? 7_200_000 : 300_000;

const VERBS: readonly Death["verb"][] = ["intend", "openShared", "closeShared", "forgetShared", "sharing"];
/** Every point of the protocol in turn. */
const deathOf = (kill: number): Death => ({
  verb: VERBS[kill % VERBS.length] as Death["verb"],
  when: Math.floor(kill / VERBS.length) % 2 === 0 ? "after" : "before",
  n: 1 + (kill % 3),
});

class Storm {
  readonly witness: Witness;
  readonly errors: string[] = [];
  readonly #main: string;
  readonly #alive = new Map<string, ChildProcess>();
  kills = 0;

  constructor(main: string, witness: Witness) {
    this.#main = main;
    this.witness = witness;
  }

  /** Runs an engine until it dies, and then again, as often as there are kills. */
  async keep(order: Omit<EngineOrder, "death">, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const death = this.kills < SIZE.kills ? deathOf(this.kills) : null;
      this.kills += 1;
      const child = fork(this.#main, [JSON.stringify({ ...order, death })], { execArgv: [] });
      this.#alive.set(order.name, child);
      child.on("message", (said: { error?: string }) => void (said.error && this.errors.push(said.error)));
      await once(child, "exit");
    }
  }

  end(): void {
    for (const child of this.#alive.values()) child.kill("SIGKILL");
  }
}

async function storm(place: SyncPlace): Promise<void> {
  const sync = await place.open();
  await sync.setLimit("red/s", 2);
  const outage = await Outage.before(place.url);
  const witness = await Witness.open();
  const engines = await Promise.all(
    ["a", "b", "c"].map(async (name, index) => {
      const engine = { name, index: index + 1, url: outage.url, store: `file:${await freshSqlite()}` };
      const sluice = await connect({ store: engine.store, app: stormApp(engine) });
      return { engine, sluice };
    }),
  );
  let over = false;
  const run = new Storm(await plainModule(MAIN), witness);
  onTestFinished(async () => {
    over = true;
    run.end();
    await outage.close();
    await witness.close();
    for (const { sluice } of engines) await sluice.close();
  });
  const locks = Object.keys(LOCKS) as StormLock[];
  for (let number = 0; number < SIZE.runs; number += 1) {
    const lock = locks[number % locks.length] as StormLock;
    await engines[number % engines.length]?.sluice.submit(lock, 20, { priority: number % 4 });
  }
  const keeping = engines.map(({ engine }) => run.keep({ ...engine, witnessPort: witness.port }, () => over));
  const outages = (async () => {
    for (let count = 0; count < SIZE.outages; count += 1) {
      await sleep(2_000);
      outage.begin();
      await sleep(700);
      outage.end();
    }
  })();
  const ended = async (): Promise<number> => {
    const all = await Promise.all(engines.map(({ sluice }) => sluice.runs.list({ limit: 1_000 })));
    return all.flat().filter(({ state }) => !["queued", "notStarted", "started"].includes(state)).length;
  };
  await until(
    async () => {
      await sleep(200);
      return (await ended()) === SIZE.runs;
    },
    "every run has ended",
    WITHIN_MS,
  );
  await outages;
  await until(async () => (await sync.look()).rows.length === 0, "every shared lock is free", 30_000);
  over = true;
  run.end();
  await Promise.all(keeping);
  for (const [lock, limit] of Object.entries(LOCKS)) {
    expect(witness.peak(`pool:${lock}`), `${lock}: ${witness}`).toBeLessThanOrEqual(limit);
    expect(witness.peak(`pool:${lock}`), `${lock} was used`).toBeGreaterThan(0);
  }
  expect(run.kills).toBeGreaterThanOrEqual(SIZE.kills);
  // Nothing was released by hand, so no run was ended for that.
  const all = await Promise.all(engines.map(({ sluice }) => sluice.runs.list({ limit: 1_000 })));
  const failed = all.flat().filter(({ state }) => state === "failed");
  expect(failed.filter(({ error }) => JSON.stringify(error ?? "").includes("LOCK_RELEASED"))).toEqual([]);
}

describeSync(
  "three engines under kills and outages",
  (placed) => {
    test(
      `${SIZE.runs} runs, ${SIZE.kills} kills, ${SIZE.outages} outages: no lock is exceeded, and all of them end`,
      async () => storm(await placed()),
      WITHIN_MS + 60_000,
    );
  },
  ["PostgreSQL", "MariaDB"],
);
