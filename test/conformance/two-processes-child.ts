// One of two processes on the same SQLite file. It enqueues its share, waits for the signal, then claims what
// it can.

import { setTimeout as sleep } from "node:timers/promises";
import type { Finished } from "../../src/engine/claiming/claims.ts";
import { StoreClaims } from "../../src/engine/claiming/store-claims.ts";
import { laneOf } from "../../src/store/lane.ts";
import { openSqlite } from "../../src/store/sqlite/index.ts";
import type { NewTask, Store } from "../../src/store/store.ts";

const [path = "", name = "", count = "0"] = process.argv.slice(2);
const BATCH = 50;
const lane = laneOf("work", "step", [{ gate: "queue:work", slots: 1 }]);

const newTask = (id: string): NewTask => ({
  id,
  name: "step",
  priority: 0,
  lane,
  input: "{}",
  options: "{}",
  key: null,
  runAt: null,
  delayMs: null,
  goodUntil: null,
  goodForMs: null,
});

const word = (): Promise<void> => new Promise((resolve) => process.once("message", () => resolve()));

try {
  const store = await openSqlite(path);
  await enqueueShare(store, Number(count));
  process.send?.({ ready: true });
  await word();
  const done = await drain(store);
  await store.close();
  process.send?.({ done });
  process.disconnect();
} catch (error) {
  process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  process.disconnect();
}

async function enqueueShare(store: Store, share: number): Promise<void> {
  for (let from = 0; from < share; from += BATCH) {
    const ids = Array.from(
      { length: Math.min(BATCH, share - from) },
      (_, index) => `${name}-${from + index}`,
    );
    await store.enqueue(ids.map(newTask));
  }
}

/** Works like a worker whose code takes no time: it reports and claims in turn. */
async function drain(store: Store): Promise<number> {
  const seat = { name, slots: 8, prefetch: 0, claimLeaseMs: 60_000, queues: ["work"], tasks: ["step"] };
  const claims = new StoreClaims(store, seat);
  await claims.open(`session-${name}`, 60_000);
  let finished: Finished[] = [];
  let done = 0;
  let ownTurn = false;
  for (let idle = 0; idle < 200; ) {
    const answer = await claims.exchange({
      finished,
      started: [],
      active: 0,
      appetite: 1_000,
      draining: false,
      hinted: true,
      ownTurn,
    });
    if (answer.refused.length > 0) throw new Error(`refused: ${answer.refused.join()}`);
    done += finished.length;
    ownTurn = answer.yielded && answer.claimed.length === 0;
    finished = answer.claimed.map(({ id, epoch }) => ({
      id,
      epoch,
      to: "succeeded",
      body: null,
      delayMs: 0,
    }));
    if (finished.length > 0) idle = 0;
    else if ((await store.queues()).every(({ waiting, running }) => waiting + running === 0)) break;
    else idle += 1;
    if (finished.length === 0) await sleep(1);
  }
  return done;
}
