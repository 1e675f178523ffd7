// A step over a list on the command line while a worker is processing it: its progress, and its items page by
// page.

import { beforeAll, describe, expect, test } from "vitest";
import { until } from "../e2e/support/until.ts";
import { openWorkshop } from "./workshop.ts";

const shop = openWorkshop();
/** Item 0 has succeeded, 1 has failed, 2 and 3 are in flight, 4 waits for the window. */
let open = "";
let failed = "";

const sheet = async (file: string): Promise<string> =>
  (await shop.data("submit", "app.js", "sheet", JSON.stringify({ file }))).id;

const statesAre = (run: string, ...wanted: string[]): Promise<unknown> =>
  until(
    async () =>
      (await shop.sluice.runs.items(run, "cells")).map(({ state }) => state).join() === wanted.join(),
    `the items of ${run} are ${wanted.join()}`,
  );

beforeAll(async () => {
  for (const n of [0, 1, 2, 3, 4]) shop.letGo(`whole${n}`);
  for (const n of [0, 1]) shop.letGo(`part${n}`);
  failed = await sheet("whole");
  open = await sheet("part");
  await shop.reaches(failed, "failed");
  await statesAre(open, "succeeded", "failed", "running", "running", "waiting");
}, 30_000);

describe("runs show", () => {
  test("has a bar for a step over a list, and an estimate", async () => {
    const text = await shop.table("runs", "show", open);
    expect(text).toMatch(/^cells +running +- +\w+ on the window of step "cells" +\w+ +5 items$/m);
    expect(text).toMatch(
      /^ITEMS OF +DONE +IN FLIGHT +WAITING +FAILED +CANCELLED +TIME LEFT\ncells +████░░░░░░ 2\/5 +2 +1 +1 +0 +~\w+$/m,
    );
  });

  test("of one that failed tells how many did, the first of them, and how to list them", async () => {
    const text = await shop.table("runs", "show", failed);
    expect(text).toMatch(
      /^cells +failed +- +\w+ on the window of step "cells" +\w+ +1 of 5 items failed; item 1: Error: cell 1 is empty$/m,
    );
    expect(text).toMatch(/^cells +██████████ 5\/5 +0 +0 +1 +0 +-$/m);
    expect(text).toMatch(
      new RegExp(`^Items that failed: npx sluice runs items ${failed} cells --failed$`, "m"),
    );
  });

  test("as data has the counts, and how each item ended", async () => {
    const counts = { total: 5, created: 5, since: expect.any(Number), until: expect.any(Number) };
    expect((await shop.data("runs", "show", open)).steps[0]).toMatchObject({
      state: "running",
      items: { ...counts, waiting: 1, running: 2, succeeded: 1, failed: 1, cancelled: 0 },
    });
    expect((await shop.data("runs", "show", failed)).steps[0].result).toMatchObject([
      { state: "succeeded", result: 0 },
      { state: "failed", error: { message: "cell 1 is empty" } },
      { state: "succeeded", result: 4 },
      { state: "succeeded", result: 9 },
      { state: "succeeded", result: 16 },
    ]);
  });
});

describe("runs items", () => {
  test("lists them in their order, with state, attempt, input and result", async () => {
    const text = await shop.table("runs", "items", open, "cells");
    expect(text).toMatch(
      /^# +TASK +STATE +ATTEMPT +WAITED +INPUT +RESULT\n0 +\w{22} +succeeded +1 +- +\{"n":0,"file":"part"\} +0\n1 +\w{22} +failed +1 +- +\{"n":1,"file":"part"\} +Error: cell 1 is empty\n2 +\w{22} +running +1 /,
    );
    expect(text).toMatch(
      /^4 +\w{22} +waiting +- +\w+ on the window of step "cells" +\{"n":4,"file":"part"\}$/m,
    );
  });

  test("tells what happened to each item of a page", async () => {
    const text = await shop.table("runs", "items", open, "cells", "--events", "--limit", "2");
    expect(text).toMatch(/StepReady +cells\[0\]/);
    expect(text).toMatch(/StepFailed +cells\[1\] +Error: cell 1 is empty$/m);
    expect(text).not.toContain("cells[2]");
  });

  test("as data, page by page, and only those that failed", async () => {
    const places = async (...args: string[]): Promise<number[]> =>
      (await shop.data("runs", "items", open, "cells", ...args)).map(({ index }: { index: number }) => index);
    expect(await places()).toEqual([0, 1, 2, 3, 4]);
    expect(await places("--limit", "2")).toEqual([0, 1]);
    expect(await places("--after", "1", "--limit", "2")).toEqual([2, 3]);
    expect(await places("--after", "4")).toEqual([]);
    expect(await places("--failed")).toEqual([1]);
    expect(await places("--failed", "--after", "1")).toEqual([]);
    expect(await shop.table("runs", "items", open, "cells", "--limit", "2")).toMatch(/\nMore: --after 1\n$/);
    expect(await shop.table("runs", "items", open, "cells", "--failed", "--after", "1")).toBe(
      "No failed items.\n",
    );
  });

  test("refuses a step that there is not, and one that is no list", async () => {
    const says = (sentence: string) => ({ code: 1, stdout: "", stderr: `error ${sentence}\n` });
    expect(await shop.ends(["runs", "items", open, "rows"])).toEqual(
      says(`UNKNOWN_STEP: run ${open} has no step "rows". It has: cells, sum`),
    );
    expect(await shop.ends(["runs", "items", open, "sum"])).toEqual(
      says(`NO_ITEMS: step "sum" has not started, so it has no items yet. See: npx sluice runs show ${open}`),
    );
    expect(await shop.ends(["runs", "items", failed, "sum"])).toEqual(
      says(`NO_ITEMS: step "sum" was skipped, so it has no items. See: npx sluice runs show ${failed}`),
    );
  });
});

describe("why", () => {
  test("of an item names the window in words, and what would change it", async () => {
    const [waiting] = await shop.data("runs", "items", open, "cells", "--after", "3");
    const full = `the window of step "cells" is full: 2 of 2 slots held \\(by .*\\)\\n {6}npx sluice limits set run:${open}/items/cells 3\\n`;
    expect(await shop.table("why", waiting.unit)).toMatch(
      new RegExp(`^cell ${waiting.unit} has been waiting in queue "default" for \\w+, because\\n  ${full}`),
    );
    expect(await shop.table("why", open)).toMatch(
      new RegExp(
        `^  step cells  ████░░░░░░ 2/5 done, 2 in flight, 1 waiting, 1 failed, about \\w+ left\\n    item 4 ${waiting.unit} comes next, and waits because\\n      the window of step "cells" is full`,
        "m",
      ),
    );
    expect((await shop.data("why", open)).steps[0]).toMatchObject({
      name: "cells",
      items: { waiting: 1 },
      next: { index: 4, unit: waiting.unit },
      reasons: [{ kind: "full", gate: `run:${open}/items/cells` }],
    });
  });
});

test("a window is made wider while it is in use, and a watch tells what the items came to", async () => {
  expect(await shop.table("limits", "set", `run:${open}/items/cells`, "3")).toMatch(/: 2 → 3/);
  await statesAre(open, "succeeded", "failed", "running", "running", "running");
  const watching = shop.ends(["runs", "watch", open]);
  for (const n of [2, 3, 4]) shop.letGo(`part${n}`);
  const { code, stdout } = await watching;
  expect(code).toBe(1);
  expect(stdout).toMatch(/ cells +failed after \w+: 1 of 5 items failed; item 1: Error: cell 1 is empty\n/);
});

test("a list whose run was cancelled is cancelled, too", async () => {
  const id = await sheet("nothing");
  await statesAre(id, "running", "running", "waiting", "waiting", "waiting");
  await shop.table("runs", "cancel", id);
  const text = await shop.table("runs", "show", id);
  expect(text).toMatch(/^cells +cancelled /m);
  expect(text).toMatch(/^cells +░░░░░░░░░░ 0\/5 +0 +0 +0 +5 +-$/m);
});
