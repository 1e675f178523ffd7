// `sluice queue` on an embedded store that a worker is using.

import { beforeAll, describe, expect, test } from "vitest";
import { openWorkshop } from "./workshop.ts";

const shop = openWorkshop();
const acme = ["--tag", "tenant=acme"];
let started = "";
let low = "";
let high = "";

beforeAll(async () => {
  started = await shop.diamond("go", ...acme);
  await shop.reaches(started, "started");
  low = await shop.diamond("go", ...acme);
  high = await shop.diamond("go", ...acme, "--priority", "7");
}, 30_000);

describe("queue list", () => {
  test("is in order of priority, then of time, and says why each waits", async () => {
    const why = 'tag "tenant=acme" is full: 1 of 1 slots held';
    expect(await shop.table("queue", "list")).toMatch(
      new RegExp(
        `^#  RUN +WORKFLOW  PRIORITY  QUEUED +WHY\\n1  ${high}  diamond   7 +\\w+ ago +${why}\\n2  ${low}  diamond   0 +\\w+ ago +${why}, 1 waiting ahead\\n$`,
      ),
    );
  });

  test("as data", async () => {
    expect(await shop.data("queue", "list")).toMatchObject([
      {
        id: high,
        workflow: "diamond",
        position: 1,
        priority: 7,
        tags: { env: "test", tenant: "acme" },
        queuedAt: expect.any(Number),
        reasons: [{ kind: "full", gate: "tag:tenant=acme", held: 1, limit: 1 }],
      },
      { id: low, position: 2, priority: 0 },
    ]);
    expect(await shop.data("queue", "list", "--limit", "1")).toHaveLength(1);
    expect(await shop.data("queue", "list", "--after", "1")).toMatchObject([{ id: low, position: 2 }]);
  });
});

test("a list that is not all of the line says so, and how to see the rest", async () => {
  expect(await shop.table("queue", "list", "--limit", "1")).toMatch(
    /\nShowing 1 to 1 of 2 queued runs\. Next page: npx sluice queue list --limit 1 --after 1/,
  );
  expect(await shop.table("queue", "list", "--after", "1")).toContain("Showing 2 to 2 of 2 queued runs.");
  expect(await shop.table("queue", "list", "--after", "9")).toBe("There are only 2 queued runs.\n");
});

describe("queue why", () => {
  test("says the reasons, the place, priority and tags", async () => {
    expect(await shop.table("queue", "why", low)).toMatch(
      new RegExp(
        `^diamond ${low} is number 2 in the line of runs, queued for \\w+, because\\n  tag "tenant=acme" is full: 1 of 1 slots held \\(by ${started} diamond for \\w+\\), 1 waiting ahead\\n      npx sluice limits set tag:tenant=acme 3\\n  Priority 0, tags: env=test, tenant=acme\\.\\n$`,
      ),
    );
    expect(await shop.data("queue", "why", low)).toMatchObject({ id: low, position: 2, priority: 0 });
  });

  test("is what `why` says of a queued run", async () => {
    const strip = (text: string): string => text.replace(/(queued|diamond) for \w+/g, "");
    expect(strip(await shop.table("why", low))).toBe(strip(await shop.table("queue", "why", low)));
    expect(await shop.data("why", low)).toMatchObject({ id: low, state: "queued", position: 2 });
  });

  test("of a run in progress fails and says so", async () => {
    expect(await shop.ends(["queue", "why", started])).toEqual(
      failure(
        `NOT_QUEUED: run ${started} is not queued: it is started. See what it waits for: npx sluice why ${started}`,
      ),
    );
  });
});

describe("queue priority", () => {
  test("changes the place in line, also below zero; a delayed run has no number and is not counted", async () => {
    const later = await shop.diamond("go", ...acme, "--delay", "1h");
    expect(await shop.table("queue", "priority", low, "9")).toBe(
      `run ${low}: priority 0 → 9, now number 1 of 2 queued runs.\n`,
    );
    expect(await shop.data("queue", "priority", low, "-9")).toEqual({
      id: low,
      from: 9,
      priority: -9,
      position: 2,
    });
    await shop.data("queue", "cancel", later);
  });

  test("refuses what is no whole number", async () => {
    expect(await shop.ends(["queue", "priority", low, "high"])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^error USAGE: .*It must be a whole number\./),
    });
  });
});

describe("queue cancel", () => {
  test("takes a queued run out of line", async () => {
    expect(await shop.table("queue", "cancel", high)).toBe(`run ${high} is cancelled; it was queued.\n`);
    expect(await shop.sluice.runs.get(high)).toMatchObject({ state: "cancelled" });
    expect(await shop.data("queue", "cancel", low)).toEqual({ id: low, was: "queued", state: "cancelled" });
    expect(await shop.table("queue", "list")).toBe("No run is queued.\n");
    expect(await shop.data("queue", "list")).toEqual([]);
  });

  test("of a run in progress fails, says what would cancel it, and leaves it alone", async () => {
    expect(await shop.ends(["queue", "cancel", started])).toEqual(
      failure(
        `NOT_QUEUED: run ${started} is not queued: it is started. Cancel it with: npx sluice runs cancel ${started}`,
      ),
    );
    expect(await shop.sluice.runs.get(started)).toMatchObject({ state: "started" });
  });

  test("of a finished run, of an unknown one and of a task fails", async () => {
    expect(await shop.ends(["queue", "cancel", high])).toEqual(
      failure(`NOT_QUEUED: run ${high} is not queued: it is cancelled.`),
    );
    expect(await shop.ends(["queue", "cancel", "zzz"])).toEqual(
      failure("UNKNOWN_ID: There is no run zzz in this store. See: npx sluice runs list"),
    );
    const { id } = await shop.data("tasks", "enqueue", "app.js", "quick", '{"n":1}', "--delay", "1h");
    expect(await shop.ends(["queue", "cancel", id])).toEqual(
      failure(`UNKNOWN_ID: ${id} is a task, not a run. See: npx sluice tasks show ${id}`),
    );
  });
});

const failure = (sentence: string): object => ({ code: 1, stdout: "", stderr: `error ${sentence}\n` });
