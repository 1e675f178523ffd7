// `sluice signal` sends nothing that nobody has checked, unless it is told so.

import { expect, test } from "vitest";
import { newProject, says, sluice } from "./terminal.ts";

const APP = `
import { defineApp, event, task, workflow } from "sluice";
const note = task({ id: "note", run: (input) => input });
const checks = (validate) => ({ "~standard": { version: 1, vendor: "test", validate } });
const paid = event({ id: "paid", payload: checks((value) =>
  typeof value?.amount === "number" ? { value } : { issues: [{ message: "must be a number", path: ["amount"] }] },
) });
const done = event({ id: "done", payload: checks((value) =>
  value === undefined ? { value } : { issues: [{ message: "takes none" }] },
) });
const buying = workflow({ id: "buying", steps: (s, input) => {
  s.waitFor("payment", paid, { match: { orderId: input.orderId } });
  s.group("later", (g) => g.waitFor("end", done));
  return s.waitFor("go", "go");
} });
export default defineApp({ tasks: [note], workflows: [buying] });
`;
const SENT = /^signal \w+ of \w+ is sent\. No step waits for it now\.\n$/;
const project = (): string => newProject(APP);
const refused = async (...args: string[]) => {
  const { code, stderr, stdout } = await sluice(project(), ["signal", ...args]);
  expect(stdout).toBe("");
  return { code, stderr };
};

test("without an app, it must be told that nothing is checked", { timeout: 60_000 }, async () => {
  expect(await refused("paid", '{"amount":1}')).toEqual({
    code: 2,
    stderr: expect.stringContaining("name the app that waits for the event with --app, or send it as it is"),
  });
  expect(await refused("paid", "{}", "--app", "app.js", "--unchecked")).toMatchObject({ code: 2 });
  expect(await says(project(), "signal", "paid", '{"amount":"1"}', "--unchecked")).toMatch(SENT);
});

test("with an app, the event must be one of its own and the payload must match", {
  timeout: 60_000,
}, async () => {
  expect(await refused("paiid", "{}", "--app", "app.js")).toEqual({
    code: 1,
    stderr:
      'error UNKNOWN_EVENT: no workflow of this app waits for event "paiid". Did you mean "paid"? They wait for: paid, done, go.\n',
  });
  expect(await refused("paid", '{"orderId":"A-1"}', "--app", "app.js")).toEqual({
    code: 1,
    stderr:
      'error BAD_SIGNAL: event "paid": the payload does not match its schema: amount: must be a number\n',
  });
  expect(await says(project(), "signal", "paid", '{"amount":1}', "--app", "app.js")).toMatch(SENT);
});

test("a payload may be left out only if the schema of the event says so", { timeout: 60_000 }, async () => {
  expect(await refused("paid", "--app", "app.js")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("error BAD_SIGNAL"),
  });
  for (const how of [["--app", "app.js"], ["--unchecked"]])
    expect(await refused("go", ...how)).toEqual({
      code: 2,
      stderr: expect.stringContaining("the payload of event go is missing; write null if it has none"),
    });
  expect(await says(project(), "signal", "done", "--app", "app.js")).toMatch(SENT);
  expect(await says(project(), "signal", "go", "null", "--app", "app.js")).toMatch(SENT);
});
