// The manual shows parts of files that exist, and these files do what the manual says.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import client, { sent, welcome } from "../../examples/client/app.ts";
import failures, { alarms, bank, charge, order } from "../../examples/failures/app.ts";
import schedules, { remindDaily, remindNoMore } from "../../examples/schedules/app.ts";
import type { App, Sluice } from "../../src/index.ts";
import { connect } from "../../src/index.ts";
import { openMemory } from "../../src/store/memory/index.ts";
import { until } from "../e2e/support/until.ts";
import { top } from "../support/built-cli.ts";

const pages = readdirSync(join(top, "docs")).filter((name) => name.endsWith(".md"));
const SHOWN = /<!-- from (\S+) -->\n```ts\n([\s\S]*?)```/g;
const shown = pages.flatMap((page) =>
  [...readFileSync(join(top, "docs", page), "utf8").matchAll(SHOWN)].map(([, file = "", text = ""]) => ({
    page,
    file,
    text,
  })),
);

test.each(shown)("$page shows $file as it is", ({ file, text }) => {
  expect(text.length).toBeGreaterThan(0);
  expect(readFileSync(join(top, file), "utf8")).toContain(text);
});

async function running(app: App): Promise<Sluice> {
  const sluice = await connect({ store: openMemory(), app });
  onTestFinished(() => sluice.close({ graceMs: 0 }));
  await sluice.worker();
  return sluice;
}

describe("docs/failures.md", () => {
  test.each([
    ["a card that is refused fails at once", { status: 402 }, "failed", "task charge failed: The card visa"],
    ["an error that is no use to repeat fails at once", { status: 500 }, "failed", "The bank answered 500"],
  ])("%s, and the handler is told", async (_, answer, state, told) => {
    alarms.length = 0;
    bank.answer = () => answer;
    const sluice = await running(failures);
    const { id } = await sluice.enqueue(charge, { card: "visa" });
    expect(await sluice.ended(id)).toMatchObject({ state, attempt: 1 });
    await until(async () => alarms.length > 0, "the handler was told");
    expect(alarms).toEqual([expect.stringContaining(told)]);
  });

  test("the bank decides when to try again", async () => {
    const answers = [{ status: 429, retryAfter: "10ms" }, { status: 503 }, { status: 200 }];
    bank.answer = () => answers.shift() ?? { status: 200 };
    const sluice = await running(failures);
    const { id } = await sluice.enqueue(charge, { card: "visa" });
    expect(await sluice.ended(id)).toMatchObject({ state: "succeeded", attempt: 3 });
    const events = await sluice.events(id);
    const [asked] = events.filter(({ kind }) => kind === "TaskRetried");
    expect(JSON.parse(asked?.data ?? "{}")).toMatchObject({ delayMs: 10 });
  });

  test("a run that fails is handled, and so is its step", async () => {
    alarms.length = 0;
    bank.answer = () => ({ status: 402 });
    const sluice = await running(failures);
    const { id } = await sluice.submit(order, undefined);
    expect((await sluice.runs.ended(id)).state).toBe("failed");
    await until(async () => alarms.length === 2, "both handlers were told");
    expect(alarms.sort()).toEqual([
      expect.stringContaining("task charge failed"),
      expect.stringContaining("workflow order failed: Step charge did not succeed."),
    ]);
  });
});

test("docs/tasks.md: what a task starts with a key is started once, in two attempts", async () => {
  const sluice = await running(client);
  const { id } = await sluice.enqueue(welcome, { user: "ann" });
  expect(await sluice.ended(id)).toMatchObject({ state: "succeeded", attempt: 2 });
  const mails = await sluice.list({ name: "mail" });
  await until(async () => sent.length > 0, "the first mail was sent");
  expect(sent).toEqual(["ann: Welcome!"]);
  expect(mails).toHaveLength(2);
  expect(await sluice.runs.list()).toMatchObject([{ workflow: "setUp", source: `task ${id}` }]);
});

test("docs/schedules.md: what was declared and what was set at run time is listed, and only the latter goes", async () => {
  const sluice = await running(schedules);
  await remindDaily(sluice, "ann", "the post", 8);
  const listed = async () => (await sluice.schedules.list()).map(({ name, task }) => [name, task]);
  const declared = [
    ["schedule copies", "backUp"],
    ["schedule standup", "remind"],
  ];
  expect(await listed()).toEqual([...declared, ["set-schedule remind-ann", "remind"]]);
  const { id } = await sluice.schedules.trigger("remind-ann");
  expect(await sluice.ended(id)).toMatchObject({
    input: { to: "ann", about: "the post" },
    state: "succeeded",
  });
  const copy = await sluice.schedules.trigger("copies");
  expect((await sluice.ended(copy.id)).result).toMatch(/^a copy of \d{4}-\d\d-\d\d$/);
  await sluice.deploy();
  await remindNoMore(sluice, "ann");
  expect(await listed()).toEqual(declared);
});
