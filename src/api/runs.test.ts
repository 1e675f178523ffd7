import { afterEach, expect, test } from "vitest";
import { checkApp } from "../core/app/check.ts";
import { workflow } from "../core/workflow/definition.ts";
import { task } from "../index.ts";
import { openMemory } from "../store/memory/index.ts";
import { connect } from "./connect.ts";

let isBroken = true;
afterEach(() => {
  isBroken = true;
});

const say = task({ id: "say", run: ({ text }: { text: string }) => text });
const pay = task({
  id: "pay",
  run: () => {
    if (isBroken) throw new Error("no route to the bank");
    return "paid";
  },
});
const order = workflow({
  id: "order",
  steps: (s) => {
    const never = s.step(
      "never",
      say,
      { text: "never" },
      { after: [s.step("pack", say, { text: "box" }).failed] },
    );
    s.step("label", say, { text: "label" }, { after: [never.finished] });
    const paid = s.step("pay", pay);
    s.step("thank", say, { text: paid.output });
    s.step("alarm", say, { text: "alarm" }, { after: [paid.failed] });
    s.step("tidy", say, { text: "tidy" }, { after: [paid.finished] });
  },
});
const app = checkApp({ tasks: [say, pay], workflows: [order] });

test("a rerun takes over what succeeded, but nothing that came after a step that is run again", async () => {
  await using sluice = await connect({ store: openMemory(), app });
  await sluice.worker({ poll: "20ms", pollJitter: "0ms" });
  const first = await sluice.runs.ended((await sluice.submit(order, undefined)).id);
  isBroken = false;
  const second = await sluice.runs.ended((await sluice.runs.rerun(first.id)).id);
  const before = new Map(first.steps.map(({ name, unit }) => [name, unit]));
  const told = second.steps.map(({ name, state, unit }) => [
    name,
    state,
    unit === null ? "-" : unit === before.get(name) ? "taken over" : "run",
  ]);
  expect(told).toEqual([
    ["pack", "succeeded", "taken over"],
    ["never", "skipped", "-"],
    ["label", "succeeded", "taken over"],
    ["pay", "succeeded", "run"],
    ["thank", "succeeded", "run"],
    ["alarm", "skipped", "-"],
    ["tidy", "succeeded", "run"],
  ]);
});

test.each(["pause", "resume"] as const)("%s reaches a run that is admitted at that moment", async (verb) => {
  const memory = openMemory();
  await using sluice = await connect({ store: memory, app });
  const { id } = await sluice.submit(order, undefined);
  const asked: boolean[] = [];
  const store = {
    ...memory,
    // The first answer is from before the admission, and the look at the run from after it.
    pauseRun: async (_: string, paused: boolean) => asked.push(paused) > 1,
    run: async (run: string) => {
      const detail = await memory.run(run);
      return detail && { ...detail, run: { ...detail.run, state: "notStarted" as const } };
    },
  };
  await using late = await connect({ store, app });
  await late.runs[verb](id, "ann");
  expect(asked).toEqual([verb === "pause", verb === "pause"]);
});

test("a run that is queued or over can be neither paused nor resumed", async () => {
  await using sluice = await connect({ store: openMemory(), app });
  const { id } = await sluice.submit(order, undefined);
  const refused = (state: string) => ({
    code: "NOT_IN_PROGRESS",
    message: expect.stringContaining(`is ${state};`),
  });
  await expect(sluice.runs.pause(id)).rejects.toMatchObject(refused("queued"));
  await sluice.runs.cancel(id);
  await expect(sluice.runs.resume(id)).rejects.toMatchObject(refused("cancelled"));
});
