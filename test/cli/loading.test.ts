// An app file that never finishes loading is reported in one sentence, and no command exits as if all were
// well.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newProject, sluice } from "./terminal.ts";

const APP =
  'import { defineApp, task } from "sluice"; export default defineApp({ tasks: [task({ id: "t", run: () => 1 })] });';

const project = newProject();
writeFileSync(join(project, "hangs.js"), `${APP} await new Promise(() => {});`);
writeFileSync(join(project, "waits.js"), `${APP} setInterval(() => {}, 1_000); await new Promise(() => {});`);
writeFileSync(join(project, "exits.js"), `${APP} process.exit(0);`);
writeFileSync(join(project, "fails.js"), `${APP} process.exit(7);`);
writeFileSync(join(project, "blocks.js"), `${APP} for (;;);`);
for (const [name, does] of [
  ["hangs", "await new Promise(() => {})"],
  ["exits", "process.exit(0)"],
  ["blocks", "for (;;)"],
])
  writeFileSync(join(project, `${name}-in-child.js`), `${APP} if (process.send) { ${does}; }`);

const run = (...args: string[]) => sluice(project, args);
/** For app files that only the load timeout stops. */
const runBriefly = (...args: string[]) => sluice(project, args, { env: { SLUICE_LOAD_TIMEOUT: "4s" } });

/** Any exit code but 0, as a shell reports it: a killed process is 137. */
const BLOCKED = expect.not.stringMatching(/^0$/);

describe("an app file that does not finish loading is told by", () => {
  test.each([
    ["check", ["check", "hangs.js"]],
    ["worker", ["worker", "hangs.js", "--processes=1"]],
    ["dev", ["dev", "hangs.js"]],
    ["tasks enqueue", ["tasks", "enqueue", "hangs.js", "t"]],
    ["submit", ["submit", "hangs.js", "w"]],
  ])("%s", async (_, args) => {
    expect(await run(...args)).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "error BAD_APP: hangs.js never finishes loading: its top-level code awaits something that never resolves.\n",
    });
  });
});

test("one that waits for too long is given up", async () => {
  const { code, stdout, stderr } = await runBriefly("check", "waits.js");
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(
    /^error BAD_APP: waits\.js did not finish loading within 4s: its top-level code awaits/,
  );
  expect(stderr).toContain("SLUICE_LOAD_TIMEOUT");
});

test.each([
  ["exits.js", 0, 1],
  ["fails.js", 7, 7],
])(
  "one that ends the process is named, and the end is not taken for a good one (%s)",
  async (file, said, code) => {
    for (const args of [
      ["check", file],
      ["worker", file],
      ["tasks", "enqueue", file, "t"],
    ]) {
      const ended = await run(...args);
      expect([ended.code, ended.stdout]).toEqual([code, ""]);
      expect(ended.stderr).toContain(
        `error BAD_APP: ${file} ended the process with exit code ${said} while it was being loaded.`,
      );
    }
  },
);

test("one that blocks the event loop is ended, with its name", async () => {
  const { code, stderr } = await runBriefly("check", "blocks.js");
  expect(String(code)).toEqual(BLOCKED);
  expect(stderr).toMatch(
    /^error BAD_APP: blocks\.js did not finish loading within 4s: its code keeps the event loop busy/,
  );
});

describe("a child process in which it", () => {
  test.each([
    ["hangs", "did not finish loading within 4s: its top-level code awaits"],
    ["exits", "ended the process with exit code 0 while it was being loaded"],
    ["blocks", "did not finish loading within 4s: its code keeps the event loop busy"],
  ])("%s says the same, through its parent", async (does, words) => {
    const file = `${does}-in-child.js`;
    const { code, stderr } = await runBriefly("worker", file, "--processes=1");
    expect(code).toBe(1);
    expect(stderr).toContain(`error PROCESS_NOT_STARTED: A child process could not start: ${file} ${words}`);
  });
});

test("a worker without queues is refused: --queues= is a slip", async () => {
  for (const queues of ["--queues=", "--queues= , "]) {
    const ended = await run("worker", "app.js", queues);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain("It is empty. Name at least one, or leave the option out.");
  }
});
