// `sluice submit` on an embedded store that a worker is using: inputs, options, watching, and refusals.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openWorkshop } from "./workshop.ts";

const shop = openWorkshop();
const submit = (...args: string[]) => shop.data("submit", "app.js", ...args);

test("says where to look next", async () => {
  expect(await shop.table("submit", "app.js", "plain", '{"n":1}')).toMatch(
    /^plain (\w{22}) is queued\. See: npx sluice runs watch \1\n$/,
  );
});

test("takes its input as an argument, with --input, from a file, or from stdin", async () => {
  writeFileSync(join(shop.project, "input.json"), '{"n":3}');
  const stdin = await shop.ends(["submit", "app.js", "plain", "-", "--json"], { input: '{"n":4}' });
  const submitted = [
    await submit("plain", '{"n":1}'),
    await submit("plain", "--input", '{"n":2}'),
    await submit("plain", "--input", "@input.json"),
    JSON.parse(stdin.stdout),
  ];
  for (const [index, { id }] of submitted.entries())
    expect(await shop.sluice.runs.ended(id)).toMatchObject({ state: "succeeded", result: { n: index + 1 } });
});

test("keeps tags, priority, key and time", async () => {
  const { id, created } = await submit(
    ...["plain", '{"n":1}', "--tag", "tenant=acme", "--tag", "env=prod", "--priority", "-3"],
    ...["--delay", "1h", "--key", "once", "--by", "ann"],
  );
  expect(created).toBe(true);
  expect(await shop.sluice.runs.get(id)).toMatchObject({
    state: "queued",
    priority: -3,
    tags: { env: "prod", tenant: "acme" },
    idempotencyKey: "once",
    source: "cli by ann",
  });
  expect(await submit("plain", '{"n":1}', "--key", "once")).toEqual({ id, created: false });
  expect(await shop.table("queue", "list")).toMatch(
    new RegExp(`^-  ${id}  plain     -3 +in \\w+ +not before `, "m"),
  );
  await shop.table("queue", "cancel", id);
});

test("--direct goes past the limits of tags", async () => {
  const acme = ["--tag", "tenant=direct"];
  const first = await shop.diamond("direct", ...acme);
  await shop.reaches(first, "started");
  const { id } = await submit("plain", '{"n":1}', ...acme, "--direct");
  expect(await shop.sluice.runs.ended(id)).toMatchObject({ state: "succeeded" });
  shop.letGo("direct");
  await shop.reaches(first, "succeeded");
});

test("--watch writes what happens line by line, and ends with 0", async () => {
  const watching = shop.ends(["submit", "app.js", "diamond", '{"file":"watched"}', "--watch"]);
  const { id } = await waitsForPool();
  shop.letGo("watched");
  const { code, stdout, stderr } = await watching;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/^\d\d:\d\d:\d\d {2}/, ""));
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^first +succeeded in \w+$/),
      expect.stringMatching(/^left +started$/),
      expect.stringMatching(/^right +waits: pool "database" has no room for 3 slots: 3 of 5 held /),
      expect.stringMatching(/^right +succeeded in \w+$/),
    ]),
  );
  expect(lines.at(-1)).toMatch(new RegExp(`^diamond  ${id} succeeded after \\w+\\.$`));
});

test("--watch of a run that fails ends with 1, as lines and as data", async () => {
  const lines = await shop.ends(["submit", "app.js", "broken", "--watch"]);
  expect(lines).toMatchObject({ code: 1, stderr: "" });
  expect(lines.stdout).toMatch(
    / bad {5}failed after \w+: Error: no such table\n.* never {3}skipped: step bad failed\n.* failed after \w+: Step bad did not succeed\.\n$/,
  );
  const data = await shop.ends(["submit", "app.js", "broken", "--watch", "--json"]);
  expect(data).toMatchObject({ code: 1, stderr: "" });
  expect(JSON.parse(data.stdout)).toMatchObject({
    state: "failed",
    steps: [{ state: "succeeded" }, { state: "failed" }, { state: "skipped" }],
  });
});

test.each([
  [["nope"], 1, /^error UNKNOWN_WORKFLOW: workflow "nope" is not part of this app\./],
  [["plain", "{n:1}"], 2, /^error USAGE: the input is not JSON: .*\. Write it like /],
  [["plain", "@nowhere.json"], 2, /^error USAGE: the input cannot be read: ENOENT/],
  [["plain", "1", "--input", "2"], 2, /^error USAGE: the input is given twice/],
  [["plain", "--tag", "env"], 2, /^error USAGE: .*It must be a key and a value, like env=prod\./],
  [["plain", "--tag", "tenant=*"], 1, /^error BAD_TAG: /],
  [["plain", "--run-at", "noon"], 2, /^error USAGE: --run-at "noon" is not a time\./],
  [["plain", "--delay", "5"], 1, /^error BAD_DURATION: /],
  [
    ["plain", "--delay", "5s", "--run-at", "2030-01-01"],
    2,
    /^error USAGE: give either --delay or --run-at, not both\n/,
  ],
  [["plain", "--direct", "--delay", "5s"], 2, /^error USAGE: --direct starts now/],
])("refuses %j", async (args, code, sentence) => {
  expect(await shop.ends(["submit", "app.js", ...args])).toEqual({
    code,
    stdout: "",
    stderr: expect.stringMatching(sentence),
  });
});

/** The watched run of the diamond, once one of its steps waits for the pool. */
async function waitsForPool(): Promise<{ id: string }> {
  let id = "";
  await expect
    .poll(
      async () => {
        const [run] = await shop.sluice.runs.list({ workflow: "diamond", state: "started" });
        id = run?.id ?? "";
        return id === "" ? [] : Object.keys(await shop.sluice.runs.waits(id));
      },
      { timeout: 40_000 },
    )
    .toContain("right");
  // A watcher polls three times a second.
  await new Promise((resolve) => setTimeout(resolve, 700));
  return { id };
}
