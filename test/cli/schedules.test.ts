// `sluice schedules` on an embedded store that a worker is using.

import { expect, test } from "vitest";
import { openWorkshop } from "./workshop.ts";

const shop = openWorkshop();

test("schedules list shows what starts runs by itself, when it is due next, and its last run", async () => {
  const text = await shop.table("schedules", "list");
  expect(text).toMatch(/^ID +KIND +WORKFLOW +WHEN +NEXT +LAST RUN +NOTE\n/);
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
