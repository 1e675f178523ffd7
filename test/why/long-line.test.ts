// A line of thousands of runs: positions, tags, counts and reasons are right at its front, in its middle
// and at its end.

import { expect, test } from "vitest";
import type { Sluice } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import { laneOf } from "../../src/store/lane.ts";
import type { NewRun } from "../../src/store/store.ts";
import { RUNS } from "../../src/store/store.ts";
import { describeOn, storeOn } from "../e2e/support/places.ts";

/** MariaDB takes several times as long for it, so there the line is shorter. It is still read in parts. */
const LENGTH = { SQLite: 12_000, PostgreSQL: 12_000, MariaDB: 6_000 } as Readonly<Record<string, number>>;
const A_BATCH = 2_000;
const TENANTS = 600;

const work = task({ id: "work", run: async () => {} });
const job = workflow({ id: "job", steps: (s) => s.step("work", work) });
const app = defineApp({
  tasks: [work],
  workflows: [job],
  runs: { max: 3, tags: [{ key: "tenant", perValue: true, limit: 1 }] },
});

const idOf = (index: number): string => `run${String(index).padStart(6, "0")}`;
const tenantOf = (index: number): string => `t${index % TENANTS}`;

function run(index: number, direct = false): NewRun {
  const tenant = tenantOf(index);
  const asks = [
    { gate: "runs", slots: 1 },
    { gate: `tag:tenant=${tenant}`, slots: 1 },
  ];
  return {
    id: idOf(index),
    name: "job",
    priority: 0,
    lane: laneOf(RUNS, "job", asks),
    input: "{}",
    options: '{"startTimeoutMs":180000,"onStartTimeout":"requeue"}',
    key: null,
    runAt: null,
    delayMs: null,
    goodUntil: null,
    goodForMs: null,
    direct,
    graph: '{"steps":[]}',
    tags: JSON.stringify({ tenant }),
    source: "test",
    rerunOf: null,
    steps: [],
  };
}

async function longLine(sluice: Sluice, many: number): Promise<void> {
  for (let from = 0; from < many; from += A_BATCH)
    await sluice.store.submit(Array.from({ length: A_BATCH }, (_, index) => run(from + index)));
}

describeOn(["sqlite", "postgres", "mariadb"], (place) => {
  test("every place in a line of thousands of runs is told as it is", { timeout: 60_000 }, async () => {
    const many = LENGTH[place.name] as number;
    const sluice = await connect({ store: await storeOn(place), app });
    await sluice.deploy();
    await longLine(sluice, many);

    // There is no worker, and nothing is held.
    for (const index of [0, 1, 5_000, many - 1]) {
      const why = await sluice.queue.why(idOf(index));
      expect(why).toMatchObject({ position: index + 1, workflow: "job", tags: { tenant: tenantOf(index) } });
      const [cap, tag, worker] = kindsOf(why.reasons, index);
      expect([cap, tag, worker]).toEqual([
        index >= 3 ? ["behind", index, idOf(0)] : undefined,
        index >= TENANTS ? ["behind", Math.floor(index / TENANTS), idOf(index % TENANTS)] : undefined,
        ["noWorker"],
      ]);
    }

    const page = await sluice.queue.page({ limit: 5, after: many - 10 });
    expect([page.total, page.after, page.runs.map(({ position }) => position)]).toEqual([
      many,
      many - 10,
      [9, 8, 7, 6, 5].map((fromLast) => many - fromLast),
    ]);
    expect(page.runs.map(({ id, tags }) => [id, tags])).toEqual(
      [10, 9, 8, 7, 6]
        .map((fromLast) => many - fromLast)
        .map((index) => [idOf(index), { tenant: tenantOf(index) }]),
    );
    for (const { id, reasons } of page.runs) expect(reasons).toEqual((await sluice.queue.why(id)).reasons);
    const front = await sluice.queue.list({ limit: 3 });
    expect(front.map(({ id, tags }) => [id, tags])).toEqual(
      [0, 1, 2].map((index) => [idOf(index), { tenant: tenantOf(index) }]),
    );

    // Now the run cap is actually full, and a worker is there.
    await sluice.store.openSession({
      id: "s",
      name: "s",
      slots: 1,
      serves: '{"queues":["default"],"tasks":["any"]}',
      leaseMs: 600_000,
    });
    await sluice.store.submit([run(many, true), run(many + 1, true), run(many + 2, true)]);
    const last = await sluice.queue.why(idOf(many - 1));
    expect(last).toMatchObject({
      position: many,
      reasons: [
        { kind: "behind", gate: "tag:tenant=t599", held: 0, ahead: many / TENANTS - 1 },
        { kind: "full", gate: "runs", held: 3, limit: 3, ahead: many - 1 },
      ],
    });
    await sluice.close();
  });
});

type Told = Awaited<ReturnType<Sluice["queue"]["why"]>>["reasons"];

/** The reasons about the cap, the tag and workers. */
function kindsOf(reasons: Told, index: number) {
  const at = (gate: string) => {
    const found = reasons.find((reason) => "gate" in reason && reason.gate === gate);
    return found?.kind === "behind" ? [found.kind, found.ahead, found.front.unit] : found && [found.kind];
  };
  const other = reasons.find((reason) => !("gate" in reason));
  return [at("runs"), at(`tag:tenant=${tenantOf(index)}`), other && [other.kind]];
}
