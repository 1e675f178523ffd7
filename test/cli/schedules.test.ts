// `sluice schedules` on an embedded store that a worker is using.

import { expect, test } from "vitest";
import { openWorkshop } from "./workshop.ts";

const shop = openWorkshop();

test("schedules list shows what starts runs by itself, when it is due next, and its last run", async () => {
  const text = await shop.table("schedules", "list");
  expect(text).toMatch(/^ID +KIND +STARTS +WHEN +NEXT +LAST RUN +NOTE\n/);
  expect(text).toMatch(/^yearly +schedule +plain +0 3 1 1 \* Europe\/Berlin +in \w+ +-$/m);
  expect(text).toMatch(/^follow +automation +plain +diamond succeeded +\S+ +-$/m);
  expect(await shop.data("schedules", "list")).toContainEqual(
    expect.objectContaining({
      id: "yearly",
      kind: "schedule",
      workflow: "plain",
      paused: false,
      nextAt: expect.any(Number),
      spec: expect.objectContaining({ cron: "0 3 1 1 *", timezone: "Europe/Berlin" }),
    }),
  );
});

test("schedules pause and resume", async () => {
  expect(await shop.table("schedules", "pause", "yearly")).toBe(
    "schedule yearly is paused. To resume: npx sluice schedules resume yearly\n",
  );
  expect(await shop.table("schedules", "list")).toMatch(/^yearly .* paused /m);
  expect(await shop.data("schedules", "resume", "yearly")).toMatchObject({
    id: "yearly",
    kind: "schedule",
    paused: false,
  });
  expect(await shop.ends(["schedules", "pause", "zzz"])).toEqual({
    code: 1,
    stdout: "",
    stderr:
      'error UNKNOWN_SCHEDULE: There is no schedule "zzz" in this store. See: npx sluice schedules list\n',
  });
});

test("schedules trigger says that an automation of the app is no schedule", async () => {
  expect(await shop.ends(["schedules", "trigger", "app.js", "follow"])).toEqual({
    code: 1,
    stdout: "",
    stderr:
      'error UNKNOWN_SCHEDULE: "follow" is an automation of this app, and only a schedule can be triggered. Submit its workflow "plain" instead.\n',
  });
});

test("schedules trigger makes a run now, as the schedule would", async () => {
  const { id } = await shop.data("schedules", "trigger", "app.js", "yearly", "--by", "ann");
  expect(await shop.sluice.runs.ended(id)).toMatchObject({
    workflow: "plain",
    state: "succeeded",
    source: "schedule yearly, by ann",
    result: { n: 7 },
  });
  const watched = await shop.ends(["schedules", "trigger", "app.js", "yearly", "--watch"]);
  expect(watched).toMatchObject({ code: 0, stderr: "" });
  expect(await shop.ends(["schedules", "trigger", "app.js", "zzz"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^error UNKNOWN_SCHEDULE: schedule "zzz" is not part of this app\./),
  });
});

test("schedules set creates and changes a schedule of a task, and remove takes it away", async () => {
  const set = (...more: string[]) => shop.ends(["schedules", "set", "app.js", "nags", ...more]);
  expect((await set("0 3 1 1 *", "--task", "quick", "--input", '{"n":1}', "--by", "ann")).stdout).toMatch(
    /^schedule nags is set, next .*\. To remove it: npx sluice schedules remove nags\n$/,
  );
  expect(await shop.table("schedules", "list")).toMatch(
    /^nags +schedule +quick +0 3 1 1 \* UTC .* set by ann$/m,
  );
  const { id } = await shop.data("schedules", "trigger", "app.js", "nags");
  expect(await shop.sluice.ended(id)).toMatchObject({ name: "quick", state: "succeeded", input: { n: 1 } });
  expect(
    await shop.data("schedules", "set", "app.js", "nags", "0 4 1 1 *", "--workflow", "plain"),
  ).toMatchObject({ id: "nags", created: false });
  expect(await set("at noon", "--task", "nobody")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^error BAD_SCHEDULE: schedule "nags": task: there is no task "nobody".*; cron: /,
    ),
  });
  expect(await set("0 3 * * *")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("either --task or --workflow"),
  });
  expect(await shop.table("schedules", "remove", "nags")).toBe(
    "schedule nags is removed. What it has started stays.\n",
  );
  expect(await shop.ends(["schedules", "remove", "yearly"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error DECLARED_SCHEDULE: The schedule yearly comes from app /),
  });
});
