import { expect, test } from "vitest";
import { task } from "../task/definition.ts";
import { workflow } from "../workflow/definition.ts";
import type { Reference } from "../workflow/reference.ts";
import { automation, schedule, succeeded } from "./definition.ts";

const mail = task({ id: "mail", run: (_: { to: string }) => {} });
const report = workflow({ id: "report", steps: (_, input: Reference<{ day: string }>) => input.day });
const plain = workflow({ id: "plain", steps: () => null });
const daily = { id: "daily", cron: "0 3 * * *" };

test("what a trigger starts gets an input that it takes", () => {
  const made = [
    schedule({ ...daily, task: mail, input: { to: "ann" } }),
    schedule({ ...daily, workflow: report, input: { day: "today" } }),
    schedule({ ...daily, workflow: report, tags: { env: "test" }, input: ({ at }) => ({ day: `${at}` }) }),
    schedule({ ...daily, workflow: plain }),
    schedule({ ...daily, workflow: "report", input: { anything: "goes" } }),
    schedule({ ...daily, task: "mail", input: 3 }),
    automation({ workflow: report, when: succeeded(plain), input: { day: "today" } }),
    automation({ workflow: plain, when: succeeded(report) }),
    automation({ workflow: "report", when: succeeded(plain), input: 3 }),
  ];
  expect(made.every(Object.isFrozen)).toBe(true);
});

test("another input is refused, and a missing one", () => {
  // @ts-expect-error: the day is a text.
  schedule({ ...daily, workflow: report, input: { day: 3 } });
  // @ts-expect-error: the day is a text.
  schedule({ ...daily, workflow: report, input: ({ at }) => ({ day: at }) });
  // @ts-expect-error: the input is missing.
  schedule({ ...daily, workflow: report });
  // @ts-expect-error: the input is missing.
  schedule({ ...daily, task: mail });
  // @ts-expect-error: the day is a text.
  automation({ workflow: report, when: succeeded(plain), input: { day: 3 } });
  // @ts-expect-error: the input is missing.
  automation({ workflow: report, when: succeeded(plain) });
  expect(daily.id).toBe("daily");
});
