// A store that two workers are using is healthy at every instant, and constantly lowered limits only make it
// drain.

import { expect, onTestFinished, test } from "vitest";
import type { Diagnosis } from "../../src/api/doctor/doctor.ts";
import { examine } from "../../src/api/doctor/doctor.ts";
import type { Sluice } from "../../src/index.ts";
import { connect } from "../../src/index.ts";
import type { Errand } from "../e2e/support/apps.ts";
import type { Place } from "../e2e/support/places.ts";
import { describeOn } from "../e2e/support/places.ts";
import { openWitness } from "../support/open-witness.ts";
import { prepareWorkers } from "../support/start-worker.ts";
import type { Witness } from "../support/witness.ts";
import type { AppName } from "../support/worker-apps.ts";
import { appNamed } from "../support/worker-apps.ts";

const TASKS = 450;

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("under load nothing is found, however often one looks", { timeout: 120_000 }, async () => {
    const { sluice, witness, stop } = await busy(place, "why", (n) => ({
      queue: n % 9 === 0 ? "narrow" : "wide",
      input: { ms: n % 4, pools: { [`tenant=${n % 150}`]: 1, ...(n % 5 === 0 ? { gpu: 1 } : {}) } },
    }));
    const seen = await looking(sluice, witness);
    expect(seen.flatMap(findings)).toEqual([]);
    expect(seen.length).toBeGreaterThan(20);
    // The store was not simply empty.
    expect(seen.some(({ checks }) => /[1-9]\d* waiting, .* [1-9]\d* running/.test(sizeOf(checks)))).toBe(
      true,
    );
    await stop();
    expect(findings(await examine(sluice.store))).toEqual([]);
  });

  test("with claims ahead of time nothing is found either", { timeout: 120_000 }, async () => {
    const { sluice, witness, stop } = await busy(place, "soft", (n) => ({
      queue: (["work", "free", "own"] as const)[n % 3] as string,
      input: { ms: n % 3 },
    }));
    const seen = await looking(sluice, witness);
    expect(seen.flatMap(findings)).toEqual([]);
    await stop();
  });

  test("limits that fall and rise make gates drain, and none is called broken", {
    timeout: 120_000,
  }, async () => {
    const { sluice, witness, stop } = await busy(place, "why", (n) => ({
      queue: "wide",
      input: { ms: 5 + (n % 20) },
    }));
    let limit = 0;
    const seen = await looking(sluice, witness, async () => {
      limit = (limit % 8) + 1;
      await sluice.limits.set("queue:wide", 9 - limit);
    });
    const found = seen.flatMap(findings);
    expect(
      found.filter((text) => !/^warn limits: queue "wide": \d+ of \d held, draining/.test(text)),
    ).toEqual([]);
    expect(found.length).toBeGreaterThan(0);
    await stop();
  });
});

/** Two workers in their own processes, with more to do than they have done at the first look. */
async function busy(
  place: Place,
  app: AppName,
  errand: (n: number) => { queue: string; input: Errand },
): Promise<{ sluice: Sluice; witness: Witness; stop(): Promise<void> }> {
  const witness = await openWitness();
  witness.letGo();
  const store = (await place.open()) as string;
  const sluice = await connect({ store, app: appNamed(app), migrate: true });
  onTestFinished(() => sluice.close());
  const order = { app, store, slots: 8, witnessPort: witness.port } as const;
  const workers = await prepareWorkers(["a", "b"], order);
  await Promise.all(workers.map((worker) => worker.go()));
  const { tasks } = appNamed(app);
  const calls = Array.from({ length: TASKS }, (_, n) => {
    const { queue, input } = errand(n);
    const options = n % 50 === 0 ? { delay: "300ms" } : n % 51 === 0 ? { goodUntil: "1h" } : {};
    return { task: tasks.get(queue) as never, input, options };
  });
  for (let n = 0; n < TASKS; n += 90) await sluice.enqueueMany(calls.slice(n, n + 90) as never);
  return {
    sluice,
    witness,
    stop: async () => {
      expect(await Promise.all(workers.map((worker) => worker.stop()))).toEqual(["code 0", "code 0"]);
    },
  };
}

/** Examines the store until all tasks are done, and returns every diagnosis. */
async function looking(
  sluice: Sluice,
  witness: Witness,
  between: () => Promise<void> = async () => {},
): Promise<Diagnosis[]> {
  const seen: Diagnosis[] = [];
  for (;;) {
    // Reading SQLite never yields, and the witness lives in this process.
    await new Promise((resolve) => setImmediate(resolve));
    // A second look at an unchanged store proves nothing and slows the workers down.
    const next = Math.min(TASKS, witness.starts.length + 1);
    await witness.until(({ starts }) => starts.length >= next, "another one starts");
    await between();
    const diagnosis = await examine(sluice.store);
    seen.push(diagnosis);
    if (sizeOf(diagnosis.checks).includes(` ${TASKS} outcomes`)) return seen;
  }
}

const sizeOf = (checks: Diagnosis["checks"]): string =>
  checks.find(({ check }) => check === "size")?.says ?? "";

const findings = ({ checks }: Diagnosis): string[] =>
  checks.flatMap(({ check, findings }) =>
    findings.map(({ verdict, text }) => `${verdict} ${check}: ${text}`),
  );
