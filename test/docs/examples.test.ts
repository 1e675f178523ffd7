// The manual shows parts of files that exist, and these files do what the manual says.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import client, { sent, welcome } from "../../examples/client/app.ts";
import failures, { alarms, bank, charge, order } from "../../examples/failures/app.ts";
import schedules, { remindDaily, remindNoMore } from "../../examples/schedules/app.ts";
import waiting, {
  gift,
  mails,
  paid,
  order as paidOrder,
  release,
  trial,
} from "../../examples/waiting/app.ts";
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

describe("docs/workflows.md, steps that wait", () => {
  async function untilWaiting(sluice: Sluice, id: string, step: string): Promise<void> {
    const stateOf = async () => (await sluice.runs.get(id))?.steps.find(({ name }) => name === step)?.state;
    await until(async () => (await stateOf()) === "waiting", `${step} waits`);
  }

  test("a trial sleeps and waits for a date", async () => {
    mails.length = 0;
    const sluice = await running(waiting);
    const { id } = await sluice.submit(trial, { email: "ann", ends: "2020-01-01" });
    await until(async () => mails.length > 0, "the trial ends");
    expect(mails).toEqual(["ann: Your trial has ended."]);
    const [settle, welcome, end] = (await sluice.runs.get(id))?.steps ?? [];
    expect([settle?.state, welcome?.state, end?.state]).toEqual(["waiting", "pending", "succeeded"]);
    expect((settle?.wait?.until ?? 0) - (settle?.wait?.since ?? 0)).toBe(7_200_000);
    const { waiting: waits } = await sluice.runs.why(id);
    expect(waits[0]?.sentences[0]?.text).toMatch(/^it sleeps until .* \(in (2h|1h59m\d+s)\)$/);
  });

  test("an order waits for its payment", async () => {
    mails.length = 0;
    const sluice = await running(waiting);
    const { id } = await sluice.submit(paidOrder, { id: "A-1", email: "ann" });
    await sluice.signal(paid, { orderId: "A-2", amount: 1 });
    await sluice.signal(paid, { orderId: "A-1", amount: 30 });
    expect((await sluice.runs.ended(id)).result).toEqual({ amount: 30 });
    expect(mails).toEqual(["ann: Thank you."]);
    const other = await sluice.submit(gift, "A-3");
    await untilWaiting(sluice, other.id, "payment");
    expect(await sluice.signal("paid", { orderId: "A-3", amount: 5 })).toMatchObject({ woken: 1 });
    expect((await sluice.runs.ended(other.id)).result).toEqual({ orderId: "A-3", amount: 5 });
  });

  test("a release asks a person", async () => {
    mails.length = 0;
    const sluice = await running(waiting);
    const [yes, no] = [
      await sluice.submit(release, { version: "2" }),
      await sluice.submit(release, { version: "3" }),
    ];
    for (const { id } of [yes, no]) await untilWaiting(sluice, id, "ask");
    await sluice.runs.approve(yes.id, "ask", { by: "ana", note: "go" });
    await sluice.runs.reject(no.id, "ask", { by: "bob", note: "not on a Friday" });
    expect((await sluice.runs.ended(yes.id)).result).toEqual({ by: "ana", note: "go" });
    const refused = await sluice.runs.ended(no.id);
    expect(refused.steps[0]?.error).toMatchObject({
      code: "REJECTED",
      message: 'bob rejected step "ask": not on a Friday',
    });
    expect(mails).toEqual(["all@example.com: 2"]);
  });
});
