// The two controls of a claimer, observed by triggers in the database: how much of one queue it claims in one
// transaction, and how much is claimed but not begun at any commit.

import { expect, test } from "vitest";
import type { App, AppDefinition, Sluice } from "../../src/index.ts";
import { connect, defineApp, task } from "../../src/index.ts";
import { besidePostgres } from "../conformance/tables.ts";
import type { Place } from "./support/places.ts";
import { describeOn } from "./support/places.ts";

const CUSTOM = { one: { rank: 1 }, two: { rank: 2, maxConcurrency: 6 } };
const SOFT = { prefetch: 8, claimLease: "20s" };
const MODES: Readonly<Record<string, Omit<AppDefinition, "tasks">>> = {
  "default queues, hard cap": {},
  "custom queues, hard cap": { queues: CUSTOM, clusterCap: 40 },
  "default queues, soft cap": SOFT,
  "custom queues, soft cap": { queues: CUSTOM, ...SOFT },
};

interface Seen {
  /** The most claims from one queue in one transaction. */
  readonly batch: number;
  /** The most claims that one session held without having begun them. */
  readonly unbegun: number;
}

const WATCH = `
CREATE TABLE seen (tx bigint, queue text, session text, unbegun int);
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO seen SELECT txid_current(), t.queue, n.session,
    (SELECT count(*) FROM sluice_running r WHERE r.session = n.session AND r.started_at IS NULL)
  FROM claimed n JOIN sluice_task t ON t.id = n.id; RETURN NULL; END $$;
CREATE TRIGGER see AFTER INSERT ON sluice_running REFERENCING NEW TABLE AS claimed FOR EACH STATEMENT EXECUTE FUNCTION see();`;

interface Bounds {
  readonly maxClaimBatch?: number;
  readonly maxClaimPerWorker?: number;
}

async function drained(place: Place, mode: string, workers: readonly Bounds[], tasks = 60) {
  const store = (await place.open()) as string;
  let left = 0;
  let done: () => void = () => {};
  const all = new Promise<void>((resolve) => {
    done = resolve;
  });
  const ran = new Map<string, number>();
  const appFor = (name: string): App => {
    const run = async () => {
      ran.set(name, (ran.get(name) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 3));
      left -= 1;
      if (left === 0) done();
    };
    const queues = MODES[mode]?.queues ? Object.keys(CUSTOM) : ["default"];
    return defineApp({ ...MODES[mode], tasks: queues.map((queue) => task({ id: queue, queue, run })) });
  };
  await using first = await connect({ store, app: appFor("0"), migrate: true });
  const aside = await besidePostgres(store);
  await aside.query(WATCH);
  const names = [...appFor("0").tasks.keys()];
  left = tasks * names.length;
  for (const name of names)
    await first.enqueueMany(
      Array.from({ length: tasks }, () => ({ task: name as never, input: {} as never })),
    );
  const others: Sluice[] = [];
  for (const index of workers.keys()) {
    const sluice = index === 0 ? first : await connect({ store, app: appFor(String(index)) });
    if (index > 0) others.push(sluice);
  }
  await Promise.all(
    workers.map((bounds, index) =>
      (index === 0 ? first : (others[index - 1] as Sluice)).worker({ slots: 8, ...bounds }),
    ),
  );
  await all;
  for (const sluice of others) await sluice.close();
  const batches = await aside.query("SELECT count(*)::int AS n FROM seen GROUP BY tx, queue, session");
  const [{ most } = { most: 0 }] = (await aside.query("SELECT max(unbegun) AS most FROM seen")) as {
    most: number;
  }[];
  await aside.close();
  const seen: Seen = { batch: Math.max(...batches.map(({ n }) => Number(n))), unbegun: Number(most) };
  return { seen, ran };
}

describeOn(["postgres"], (place) => {
  for (const mode of Object.keys(MODES)) {
    test(`${mode}: a batch bounds the claims of one queue in one pass`, async () => {
      const { seen } = await drained(place, mode, [{ maxClaimBatch: 2 }]);
      expect(seen.batch).toBe(2);
      // Without the bound the batch is larger, so the bound was the cause.
      const free = await drained(place, mode, [{}]);
      expect(free.seen.batch).toBeGreaterThan(2);
    });

    test(`${mode}: what is claimed and not begun is bounded`, async () => {
      const { seen } = await drained(place, mode, [{ maxClaimPerWorker: 3 }]);
      expect(seen.unbegun).toBe(3);
      const free = await drained(place, mode, [{}]);
      expect(free.seen.unbegun).toBeGreaterThan(3);
    });
  }

  test("two workers with a batch of 2 share the work", async () => {
    const { seen, ran } = await drained(
      place,
      "custom queues, hard cap",
      [{ maxClaimBatch: 2 }, { maxClaimBatch: 2 }],
      200,
    );
    expect(seen.batch).toBe(2);
    for (const name of ["0", "1"]) expect((ran.get(name) ?? 0) / 400).toBeGreaterThan(0.3);
  });
});
