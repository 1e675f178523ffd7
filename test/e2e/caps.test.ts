// Applies every kind of limit at once to two processes, while a witness counts outside the store.

import { expect, test } from "vitest";
import type { Sluice } from "../../src/index.ts";
import { connect } from "../../src/index.ts";
import { openWitness } from "../support/open-witness.ts";
import { prepareWorkers } from "../support/start-worker.ts";
import { appNamed } from "../support/worker-apps.ts";
import type { Errand } from "./support/apps.ts";
import { describeOn } from "./support/places.ts";

const TASKS = 2_000;
const BULK = 1_200;
const SLOTS = 16;
const LIMITS = {
  cluster: 20,
  "queue:stripe": 3,
  "queue:email": 10,
  "pool:database": 5,
  "pool:api": 5,
} as const;

describeOn(["postgres", "mariadb", "sqlite"], (place) => {
  test("two workers reach every limit, pass none, share the work, and serve the queues by rank", {
    timeout: 120_000,
  }, async () => {
    const witness = await openWitness();
    const store = (await place.open()) as string;
    await using sluice = await connect({ store, app: appNamed("caps"), migrate: true });
    const sent = await enqueueAll(sluice);

    const order = { app: "caps", store, slots: SLOTS, witnessPort: witness.port } as const;
    const workers = await prepareWorkers(["a", "b"], order);
    await Promise.all(workers.map((worker) => worker.go()));
    // No task leaves yet, so the limits fill completely. By rank, only one set of tasks can fill them all.
    await witness.until((seen) => seen.sum("cluster") >= LIMITS.cluster, "the cluster cap is reached");
    const sums = Object.fromEntries(
      [...Object.keys(LIMITS), "queue:bulk"].map((key) => [key, witness.sum(key)]),
    );
    expect(sums).toEqual({ ...LIMITS, "queue:bulk": 7 });
    witness.letGo();
    await witness.until(({ starts }) => starts.length >= TASKS, `${TASKS} tasks started`, 90_000);
    expect(await Promise.all(workers.map((worker) => worker.stop()))).toEqual(["code 0", "code 0"]);
    expect(workers.flatMap(({ events }) => events)).toEqual([]);

    const peaks = Object.fromEntries(Object.keys(LIMITS).map((key) => [key, witness.peak(key)]));
    expect(peaks).toEqual(LIMITS);
    for (const { name } of workers) expect(witness.peak(`worker:${name}`)).toBeLessThanOrEqual(SLOTS);

    const shares = workers.map(
      ({ name }) => witness.starts.filter(({ worker }) => worker === name).length / TASKS,
    );
    expect(Math.min(...shares), `the workers did ${shares.join(" and ")} of the work`).toBeGreaterThanOrEqual(
      0.3,
    );

    expect(new Set(witness.starts.map(({ id }) => id))).toEqual(new Set(sent.keys()));
    expect(witness.starts).toHaveLength(TASKS);
    const finished = await sluice.list({ limit: TASKS + 1 });
    expect(finished.filter(({ state, attempt }) => state === "succeeded" && attempt === 1)).toHaveLength(
      TASKS,
    );

    // By arrival alone, email would have waited for all of the bulk tasks that came before it.
    const last = witness.starts.findLastIndex(({ id }) => isPlain(sent.get(id), "email"));
    const overtaken = witness.starts.slice(0, last).filter(({ queue }) => queue === "bulk").length;
    expect(overtaken).toBeLessThan(BULK * 0.6);
    console.log(
      `${place.name}: ${witness}; ${overtaken} of bulk before the last of email; shares ${shares.map((share) => `${(share * 100).toFixed(1)} %`).join(", ")}`,
    );
  });
});

interface Sent {
  readonly queue: "stripe" | "email" | "bulk";
  /** It asks for no pool, so only its queue and the cluster can delay it. */
  readonly plain: boolean;
}

/** Enqueues the last queue by rank first, so that an order by arrival alone would reverse the ranks. */
async function enqueueAll(sluice: Sluice): Promise<Map<string, Sent>> {
  const sent = new Map<string, Sent>();
  const send = async (
    queue: Sent["queue"],
    count: number,
    asks: readonly Errand["pools"][],
  ): Promise<void> => {
    const errands = Array.from({ length: count }, (_, index): Errand => {
      const pools = asks[index % asks.length];
      return { hold: true, ms: 2 + Math.floor(Math.random() * 7), ...(pools ? { pools } : {}) };
    });
    const app = appNamed("caps");
    const task = app.tasks.get(queue) as NonNullable<ReturnType<typeof app.tasks.get>>;
    const enqueued = await sluice.enqueueMany(errands.map((input) => ({ task, input })));
    enqueued.forEach(
      ({ id }, index) => void sent.set(id, { queue, plain: errands[index]?.pools === undefined }),
    );
  };
  const none = undefined;
  const d1 = { database: 1 };
  const a1 = { api: 1 };
  const d3 = { database: 3 };
  const a3 = { api: 3 };
  const both = [
    { database: 1, api: 3 },
    { database: 3, api: 1 },
  ];
  await send("bulk", BULK, [
    none,
    a1,
    none,
    d1,
    a1,
    none,
    a1,
    none,
    d1,
    none,
    d3,
    none,
    a3,
    none,
    d1,
    none,
    ...both,
    none,
  ]);
  await send("email", 600, [none, none, d1, a1, none, d3, none, none, none, a1, none, none]);
  await send("stripe", TASKS - BULK - 600, [none, none, d1, none]);
  return sent;
}

const isPlain = (sent: Sent | undefined, queue: Sent["queue"]): boolean =>
  sent?.queue === queue && sent.plain;
