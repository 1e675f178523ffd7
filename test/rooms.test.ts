// The imports between the rooms of src match the arrows in ARCHITECTURE.md, and words stay in their room.

import { describe, expect, test } from "vitest";
import { filesOfSrc } from "./support/files-of-src.ts";
import { brokenWalls } from "./support/rooms.ts";

test("the rooms of src keep their walls", () => {
  const broken = brokenWalls(filesOfSrc());
  expect(broken, `\n${broken.join("\n")}\n`).toEqual([]);
});

describe("the map refuses", () => {
  test.each<[string, string, string]>([
    ["core importing another room", "src/core/a.ts", 'import { b } from "../store/b.ts";'],
    ["core importing a package", "src/core/a.ts", 'import type { b } from "node:fs";'],
    ["core reading the clock", "src/core/a.ts", "const now = Date.now();"],
    ["core reading the clock inside a template", "src/core/a.ts", `const now = \`\${Date.now()}\`;`],
    ["core importing timers", "src/core/a.ts", 'import { after } from "../env/timers.ts";'],
    ["env importing a room", "src/env/a.ts", 'import type { b } from "../core/b.ts";'],
    ["a raw timer in the engine", "src/engine/a.ts", "setTimeout(() => {}, 5);"],
    ["a raw timer in a store", "src/store/mysql/a.ts", "const t = globalThis.setInterval(look, 5).unref();"],
    ["a raw timer in an executor", "src/executor/a.ts", "return new Promise((done) => setImmediate(done));"],
    ["a raw timer handed on", "src/api/a.ts", "const clock = { after: setTimeout };"],
    ["a raw timer by a signal", "src/executor/a.ts", "const signal = AbortSignal.timeout(5);"],
    ["Node's timers by import", "src/surface/cli/a.ts", 'import nap from "node:timers/promises";'],
    [
      "Node's timers by their old name",
      "src/store/a.ts",
      'const { sleep } = await import("timers/promises");',
    ],
    ["surface reading the store", "src/surface/cli/a.ts", "const now = await sluice.store.now();"],
    ["surface taking the store", "src/surface/cli/a.ts", "await examine(this.#sluice?.store);"],
    ["core reaching for the process", "src/core/a.ts", "export const home = process.env.HOME;"],
    ["a store that decides", "src/store/a.ts", 'import { admit } from "../core/gate/admit.ts";'],
    [
      "a store that decides by another door",
      "src/store/a.ts",
      'import { admit } from "../core/gate/all.ts";',
    ],
    ["a store that decides in SQL", "src/store/a.ts", "const q = `UPDATE g SET x = 1 WHERE held < limit`;"],
    ["a driver outside of its dialect", "src/store/a.ts", 'const pg = await import("pg");'],
    ["a driver in the engine", "src/engine/a.ts", 'import type { Pool } from "mysql2/promise";'],
    ["engine importing an executor", "src/engine/a.ts", 'import { run } from "../executor/process/run.ts";'],
    ["executor importing the engine", "src/executor/a.ts", 'export * from "../engine/a.ts";'],
    ["client importing more than types of api", "src/client/a.ts", 'import { verb } from "../api/verb.ts";'],
    ["anybody importing surface", "src/testing/a.ts", 'import "../surface/cli/main.ts";'],
    ["surface importing testing", "src/surface/cli/a.ts", 'import { clock } from "../../testing/clock.ts";'],
    ["a room importing the public face", "src/api/b/a.ts", 'import { task } from "../../index.ts";'],
    ["a room importing out of src", "src/api/a.ts", 'import { task } from "../../test/a.ts";'],
    ["an unknown room", "src/utils/a.ts", "export const a = 1;"],
    ["SQL outside of store", "src/api/a.ts", "const q = `\n  SELECT 1`;"],
    ["a limit decided elsewhere", "src/engine/a.ts", "const free = gate.held + asked <= gate.limit;"],
  ])("%s", (_, path, line) => {
    const text = `// a first line\n${line}\n`;
    expect(brokenWalls([{ path, text }])).toHaveLength(1);
    expect(brokenWalls([{ path, text }])[0]).toMatch(
      new RegExp(`^${path}:${path.includes("utils") ? 1 : 2}: `),
    );
  });
});

describe("the map allows", () => {
  test.each<[string, string, string]>([
    ["words in comments", "src/core/a.ts", "// Date.now() and held < limit\n/* import x from 'fs' */"],
    ["words in strings", "src/core/a.ts", 'const s = "Date.now() is never called";'],
    ["an import inside a string", "src/core/a.ts", 'const s = `import x from "fs"`;'],
    ["timers in their room", "src/env/timers.ts", "const timer = setTimeout(call, ms);"],
    ["real time in the kit", "src/testing/a.ts", "await new Promise((done) => setTimeout(done, 5));"],
    ["timers of env", "src/store/a.ts", 'import { after } from "../env/timers.ts";'],
    ["the option that names a store", "src/surface/cli/a.ts", "const url = options.store ?? DEFAULT;"],
    ["core types in the store", "src/store/a.ts", 'import type { Gate } from "../core/gate/gate.ts";'],
    ["a driver in its dialect", "src/store/postgres/a.ts", 'import pg from "pg";'],
    ["SQL in the store", "src/store/query/a.ts", "const q = `SELECT held, limit FROM gate`;"],
    ["the executor contract", "src/engine/a.ts", 'import type { Executor } from "../executor/executor.ts";'],
    ["types of api in the client", "src/client/a.ts", 'import type { Verb } from "../api/verb.ts";'],
    [
      "the public face",
      "src/index.ts",
      'export { task } from "./api/task.ts";\nexport type * from "./core/a.ts";',
    ],
    ["decisions at the gate", "src/core/gate/a.ts", "const free = held < limit;"],
    ["a function of held", "src/api/a.ts", "const f = (held: number) => limit;"],
    ["tests beside the code", "src/core/a.test.ts", 'import { test } from "vitest";'],
    ["a quote in a regular expression", "src/core/a.ts", "const r = /[\"'`]/; const s = 'Date.now()';"],
  ])("%s", (_, path, text) => {
    expect(brokenWalls([{ path, text }])).toEqual([]);
  });
});
