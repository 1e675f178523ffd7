// One vocabulary: a word with a table in src/core is spelled as the table spells it, and commands are spelled
// in one place.

import { describe, expect, test } from "vitest";
import { ERROR_CODES } from "../src/core/error-code.ts";
import { EVENTS, FEED_EVENTS } from "../src/core/event.ts";
import { HINTS } from "../src/core/hint.ts";
import { REMEDIES } from "../src/core/remedy.ts";
import { RUN_EVENTS } from "../src/core/run/event.ts";
import { filesOfSrc } from "./support/files-of-src.ts";
import { strayWords } from "./support/words.ts";

test("the words of src are those of its tables", () => {
  const stray = strayWords(filesOfSrc());
  expect(stray, `\n${stray.join("\n")}\n`).toEqual([]);
});

test("every word of the tables is used", () => {
  const used = filesOfSrc()
    .filter(({ path }) => !TABLES.has(path) && !path.endsWith(".test.ts"))
    .map(({ text }) => text)
    .join("\n");
  const words = [ERROR_CODES, EVENTS, FEED_EVENTS, RUN_EVENTS].flatMap((table) => Object.keys(table));
  expect(words.filter((word) => !new RegExp(`\\b${word}\\b`).test(used))).toEqual([]);
  const actions = Object.keys(REMEDIES).filter((action) => !used.includes(`action: "${action}"`));
  expect(actions).toEqual([]);
  expect(Object.keys(HINTS).filter((hint) => !used.includes(`"${hint}"`))).toEqual([]);
});

const TABLES: ReadonlySet<string> = new Set(
  [
    "error-code.ts",
    "pod-error-code.ts",
    "shared-error-code.ts",
    "event.ts",
    "change.ts",
    "run/event.ts",
    "remedy.ts",
    "hint.ts",
  ].map((file) => `src/core/${file}`),
);

describe("the vocabulary refuses", () => {
  test.each<[string, string, string]>([
    ["a command in a message", "src/api/a.ts", 'throw new Error("See: sluice tasks list");'],
    ["a command in a template", "src/core/a.ts", `const s = \`sluice limits set \${key}\`;`],
    ["a command in a comment", "src/engine/a.ts", "// `sluice doctor` prints it"],
    ["a command by its other name", "src/store/a.ts", 'const s = "Run: npx sluice migrate";'],
    ["a flag of a command", "src/api/a.ts", 'const s = "Name a store with --store";'],
    ["an unknown event", "src/engine/a.ts", 'note({ kind: "TaskLog" });'],
    ["an unknown event in SQL", "src/store/a.ts", "const q = `WHERE kind = 'TaskBegun'`;"],
    ["an unknown event of a run", "src/api/a.ts", 'tell("StepBegun");'],
    ["an unknown hint", "src/api/a.ts", 'store.hint("parked");'],
    ["listening for an unknown hint", "src/engine/a.ts", 'if (hint === "parked") wake();'],
    ["an unknown error code", "src/api/a.ts", 'throw new SluiceError("OOPS", "no");'],
    [
      "an unknown error code on its own line",
      "src/api/a.ts",
      'throw new SluiceError(\n  "OOPS_AGAIN",\n  "no");',
    ],
    [
      "an unknown code in a stored error",
      "src/engine/a.ts",
      'const e = { name: "Error", code: "LEASE_GONE" };',
    ],
    ["asking for an unknown code", "src/surface/cli/a.ts", 'if (error.code === "STORE_AWAY") retry();'],
    ["a message that is rewritten", "src/surface/cli/a.ts", 'say(error.message.replace(/^x/, ""));'],
    ["a text that was said and is rewritten", "src/surface/cli/a.ts", 'sayLeft(standing)?.replace("x", "~")'],
    ["data that is cut out of a text", "src/api/a.ts", 'const gate = ids[0]?.split(" on ")[1];'],
    ["a word that is replaced", "src/surface/cli/a.ts", 'left.replace("about ", "~")'],
    ["a sentence that is taken apart", "src/surface/cli/a.ts", "const [head] = sentence.split(/: /);"],
  ])("%s", (_, path, line) => {
    const text = `// a first line\n${line}\n`;
    expect(strayWords([{ path, text }])).toHaveLength(1);
    expect(strayWords([{ path, text }])[0]).toMatch(new RegExp(`^${path}:2: `));
  });
});

describe("the vocabulary allows", () => {
  test.each<[string, string, string]>([
    [
      "commands on the command line",
      "src/surface/cli/a.ts",
      "/** `sluice why ID` */ const s = 'sluice why';",
    ],
    ["calls in a message", "src/core/a.ts", 'const s = "sluice.limits.set(key, 3)";'],
    ["the name of the product", "src/core/a.ts", "// Sluice runs tasks; sluice: the package"],
    ["known events", "src/engine/a.ts", 'note({ kind: "TaskLogged" });'],
    ["known events of a run", "src/api/a.ts", 'tell("StepSlotWaiting");'],
    ["words of Kubernetes", "src/executor/kubernetes/a.ts", 'const reasons = ["RunContainerError"];'],
    ["known hints", "src/api/a.ts", 'store.hint("work"); if (hint === "later") look();'],
    ["known codes", "src/api/a.ts", 'throw new SluiceError("BAD_INPUT", "no");'],
    [
      "codes of drivers",
      "src/store/a.ts",
      'if (error.code === "SQLITE_BUSY" || code === "ER_LOCK_DEADLOCK") again();',
    ],
    ["a text that is no message", "src/executor/a.ts", 'const label = text.replace(/[^a-z]/g, "-");'],
    ["anything in tests", "src/core/a.test.ts", 'expect(say()).toBe("sluice oops");'],
  ])("%s", (_, path, text) => {
    expect(strayWords([{ path, text }])).toEqual([]);
  });
});
