import { expect, test } from "vitest";
import { checkApp } from "../core/app/check.ts";
import type { WorkflowOptions } from "../core/workflow/definition.ts";
import { workflow } from "../core/workflow/definition.ts";
import { servesText } from "../engine/claiming/serving.ts";
import { schedule, task } from "../index.ts";
import { openMemory } from "../store/memory/index.ts";
import { connect } from "./connect.ts";
import { examine } from "./doctor/doctor.ts";

const nap = task({ id: "nap", run: () => "rested" });
const of = (id: string, more: Partial<WorkflowOptions> = {}) =>
  workflow({ id, ...more, steps: (s) => s.step("nap", nap) });
const [plain, alone, heavy] = [
  of("plain"),
  of("alone", { mutexes: ["books"] }),
  of("heavy", { pools: { disk: 1 } }),
];
const app = checkApp({
  tasks: [nap],
  workflows: [plain, alone, heavy],
  runs: { max: 1 },
  pools: { disk: { limit: 1 } },
});

test.each([alone, heavy])(
  "a workflow that holds something itself cannot be executed past it: $id",
  async (w) => {
    await using sluice = await connect({ store: openMemory(), app });
    await sluice.deploy();
    await expect(sluice.execute(w, undefined)).rejects.toMatchObject({ code: "NOT_DIRECT" });
    expect(await sluice.runs.list()).toEqual([]);
  },
);

test("direct runs above the run cap are no broken invariant, and a run behind them is served by any worker", async () => {
  await using sluice = await connect({ store: openMemory(), app });
  await sluice.deploy();
  await sluice.execute(plain, undefined);
  await sluice.execute(plain, undefined);
  await sluice.submit(plain, undefined);
  const serves = servesText(["default"], ["nap"]);
  await sluice.store.openSession({ id: "w", name: "w", slots: 1, leaseMs: 60_000, serves });
  const { checks } = await examine(sluice.store, { wall: Date.now, sleep: async () => {} });
  const verdicts = Object.fromEntries(checks.map(({ check, verdict }) => [check, verdict]));
  expect(verdicts).toMatchObject({ limits: "warn", workers: "ok" });
});

test("a schedule that is triggered by hand makes its input as at a fire time", async () => {
  const dated = workflow({ id: "dated", steps: (s) => s.step("nap", nap) });
  const daily = schedule({
    id: "daily",
    workflow: dated,
    cron: "@daily",
    input: ({ at }: { at: number }) => ({ at }),
  });
  const scheduled = checkApp({ tasks: [nap], workflows: [dated], schedules: [daily] });
  await using sluice = await connect({ store: openMemory({ now: () => 5_000 }), app: scheduled });
  const { id } = await sluice.schedules.trigger("daily");
  expect(await sluice.runs.get(id)).toMatchObject({
    input: { at: 5_000 },
    source: "schedule daily, by code",
  });
});

test("a direct run without a worker says that nobody moves it on, until somebody lives", async () => {
  await using sluice = await connect({ store: openMemory(), app });
  const { id } = await sluice.execute(plain, undefined);
  expect(await sluice.runs.reasons(id)).toEqual([{ kind: "noWorker", queue: "@runs", name: "plain" }]);
  const serves = servesText(["default"], ["nap"]);
  await sluice.store.openSession({ id: "w", name: "w", slots: 1, leaseMs: 60_000, serves });
  expect(await sluice.runs.reasons(id)).toEqual([]);
});
