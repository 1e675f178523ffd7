import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { appFile, toPaste } from "./settings.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-settings-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const hint = (...args: string[]): string => pasted(() => `worker ${appFile()} --queues=mail`, args);

const pasted = (command: () => string, args: readonly string[]): string => {
  const argv = process.argv;
  process.argv = ["node", "sluice", ...args];
  try {
    return toPaste({}, command()).replace(/^npx /, "");
  } finally {
    process.argv = argv;
  }
};

describe("a hint names the app file", () => {
  test("that was given, if it is one", () => {
    const file = join(folder, "jobs.mjs");
    writeFileSync(file, "");
    expect(hint("tasks", "enqueue", file, "mail")).toBe(`sluice worker ${file} --queues=mail`);
    expect(hint("tasks", "enqueue", join(folder, "other.mjs"), "mail")).not.toContain("other.mjs");
  });

  test.each([
    "submit sub/deep/app.ts sweep --watch",
    "submit /home/ann/app.ts sweep --watch",
    "submit 'my app.ts' sweep --watch",
    "limits set queue:app.ts 4",
    "queues resume app.ts.old",
  ])("and leaves a path or a name as it is: %s", (command) => {
    const file = join(folder, "app.ts");
    writeFileSync(file, "");
    expect(pasted(() => command, ["dev", file])).toBe(`sluice ${command}`);
  });

  test("of which nothing is known as app.ts", () => {
    expect(hint("why", "x")).toBe("sluice worker app.ts --queues=mail");
  });
});

test("a command to paste never shows a password, and needs none to be filled in", () => {
  const paste = (store: string): string => toPaste({ store }, "doctor").replace(/^npx /, "");
  expect(paste("mysql://app:secret@db/x")).toBe('sluice doctor --store "$SLUICE_STORE"');
  expect(paste("mysql://app@db/x")).toContain("--store mysql://app@db/x");
});
