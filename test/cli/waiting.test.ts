// `sluice runs approve|reject`, `sluice signal`, and what the other commands say of steps that wait.

import { expect, test } from "vitest";
import { openWorkshop } from "./workshop.ts";

const shop = openWorkshop();

const ask = async (order: string): Promise<string> => {
  const { id } = await shop.data("submit", "app.js", "asking", JSON.stringify({ order }));
  await shop.stepIs(id, "paid", "waiting");
  return id;
};

test("a run tells what it waits for, and the commands that end it work", { timeout: 60_000 }, async () => {
  const id = await ask("A 1");
  const why = await shop.table("why", id);
  expect(why).toMatch(
    /^ {2}step paid does not go on, because\n {4}it waits for event "paid" with order "A 1", until \S+ \(in \w+\)\n {8}npx sluice signal paid '\{"order":"A 1", …\}' --app app\.js$/m,
  );
  expect(why).toMatch(/^ {2}step nap does not go on, because\n {4}it sleeps until \S+ \(in \w+\)$/m);
  expect(why).toMatch(/^ {2}step release comes after paid\.$/m);
  const shown = await shop.table("runs", "show", id);
  expect(shown).toMatch(/^paid +waiting +- +\w+ +- +it waits for event "paid" with order "A 1", until /m);
  const steps = (await shop.data("why", id)).steps as { name: string; reasons?: unknown }[];
  expect(steps.find(({ name }) => name === "paid")?.reasons).toEqual([
    {
      kind: "awaits",
      for: "event",
      run: id,
      step: "paid",
      event: "paid",
      match: { order: "A 1" },
      until: expect.any(Number),
    },
  ]);

  expect(await shop.table("signal", "paid", '{"order":"A 2"}', "--unchecked")).toMatch(
    /^signal \w+ of paid is sent\. No step waits for it now\.\n$/,
  );
  expect(await shop.data("signal", "paid", '{"order":"A 1"}', "--unchecked", "--key", "k")).toMatchObject({
    created: true,
    woken: 1,
  });
  expect(await shop.table("signal", "paid", '{"order":"A 1"}', "--unchecked", "--key", "k")).toMatch(
    /^signal \w+ of paid was already sent with this key\.\n$/,
  );
  await shop.stepIs(id, "release", "waiting");
  expect(await shop.table("why", id)).toMatch(
    new RegExp(
      `it waits for an answer of ana: Release it\\?\\n +npx sluice runs approve ${id} release --by ana$`,
      "m",
    ),
  );
  expect(await shop.ends(["runs", "approve", id, "release", "--by", "eve"])).toMatchObject({
    code: 1,
    stderr: `error NOT_ALLOWED: step "release" of run ${id} can be answered by ana, but not by "eve".\n`,
  });
  expect(await shop.table("runs", "approve", id, "release", "--by", "ana", "--note", "go")).toBe(
    `step release of run ${id} is approved. See: npx sluice runs show ${id}\n`,
  );
  await shop.stepIs(id, "release", "succeeded");
  const events = await shop.table("runs", "show", id, "--events");
  expect(events).toMatch(/StepWaiting +paid +for event, event paid, match \{"order":"A 1"\}/);
  expect(events).toMatch(/StepAnswered +release +how approved, by ana, note go/);
  await shop.ends(["runs", "cancel", id]);
});

test("a rejected step fails, and its answer cannot be changed", { timeout: 60_000 }, async () => {
  const id = await ask("B");
  expect(await shop.ends(["runs", "reject", id, "release", "--by", "ana"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`error NOT_WAITING: step "release" of run ${id} does not wait.`),
  });
  await shop.data("signal", "paid", '{"order":"B"}', "--app", "app.js");
  await shop.stepIs(id, "release", "waiting");
  expect(await shop.data("runs", "reject", id, "release", "--by", "ana", "--note", "no")).toEqual({
    run: id,
    step: "release",
    answer: "rejected",
    by: "ana",
    note: "no",
  });
  await shop.stepIs(id, "release", "failed");
  expect(await shop.table("runs", "show", id)).toMatch(
    /^release +failed +- +\w+ +- +ana rejected step "release": no$/m,
  );
  expect(await shop.ends(["runs", "approve", id, "release", "--by", "ana"])).toMatchObject({ code: 1 });
  await shop.ends(["runs", "cancel", id]);
});
