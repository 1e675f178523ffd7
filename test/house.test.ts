// The shape of the source: short files and functions, no import cycles, few casts, no unused export, no type
// name with two meanings. If a rule is in the way, restructure the code; do not raise the limit.

import { describe, expect, test } from "vitest";
import { runtimeCycles, typeCycles } from "./support/house/cycles.ts";
import { entryFiles, filesOf } from "./support/house/files.ts";
import { Modules } from "./support/house/modules.ts";
import { ambiguousTypes, unusedExports } from "./support/house/names.ts";
import { casts, longFiles, longFunctions } from "./support/house/size.ts";

const MOST_CASTS_IN_STORE = 39;

describe("in src", () => {
  const modules = new Modules(
    filesOf("src", "test", "bench", "chaos", "mutants", "examples", "scripts", "ui"),
  );
  const none = (found: readonly string[]): void => expect(found.join("\n")).toBe("");

  // Tests too. No suite table of src/testing is so long that it would need an exception.
  test("no file is longer than 400 lines", () => none(longFiles(modules.inSrc())));

  test("no function is longer than 70 lines", () => none(longFunctions(modules.product())));

  test("no files load each other in a ring", () => none(runtimeCycles(modules)));

  test("no files take types from each other in a ring", () => none(typeCycles(modules)));

  test("the store has fewer than 40 casts", () => {
    const found = modules
      .product()
      .filter(({ path }) => path.startsWith("src/store/"))
      .flatMap(casts);
    expect(found.length, `\n${found.join("\n")}\n`).toBeLessThanOrEqual(MOST_CASTS_IN_STORE);
  });

  test("somebody imports each export", () => none(unusedExports(modules, entryFiles())));

  test("the name of an exported type means one thing", () => none(ambiguousTypes(modules)));
});

/** `lines` lines without content. */
const blank = (lines: number): string => "//\n".repeat(lines);
const house = (files: Record<string, string>): Modules =>
  new Modules(Object.entries(files).map(([path, text]) => ({ path, text })));

describe("too long is", () => {
  const files = (text: string): string[] => longFiles(house({ "src/a.ts": text }).inSrc());
  const functions = (text: string, path = "src/a.ts"): string[] =>
    longFunctions(house({ [path]: text }).product());

  test("a file of 401 lines, not of 400", () => {
    expect(files(blank(400))).toEqual([]);
    expect(files(blank(401))).toEqual(["src/a.ts: 401 lines, more than 400"]);
  });

  test("a test in src like any other file, but never a file outside of src", () => {
    const long = house({ "test/a.test.ts": blank(401), "src/a.test.ts": blank(401) });
    expect(longFiles(long.inSrc())).toEqual(["src/a.test.ts: 401 lines, more than 400"]);
  });

  test.each([
    ["a function", "function f() {\n", "}\n"],
    ["an arrow", "const f = () => {\n", "};\n"],
    ["a method", "class A { f() {\n", "} }\n"],
    ["a private method", "class A { #f() {\n", "} }\n"],
    ["a method of an object", "const a = { f() {\n", "} };\n"],
    ["a generator", "function* f() {\n", "}\n"],
    ["a function that is handed over", "g(function () {\n", "});\n"],
  ])("%s of 71 lines, not of 70", (_, head, end) => {
    expect(functions(`${head}${blank(68)}${end}`)).toEqual([]);
    expect(functions(`\n${head}${blank(69)}${end}`)).toEqual([
      `src/a.ts:2: 71 lines, more than 70: ${head.trim()}`,
    ]);
  });

  test("a test of src/testing, not the list it stands in", () => {
    const list = (lines: number): string =>
      `function suite() {\n test.each([1])("a", () => {});\n test("b", () => {\n${blank(lines)}});\n${blank(9)}}\n`;
    expect(functions(list(68), "src/testing/a.ts")).toEqual([]);
    expect(functions(list(69), "src/testing/a.ts")).toHaveLength(1);
    expect(functions(list(68), "src/api/a.ts")).toHaveLength(1);
  });
});

describe("a ring is", () => {
  const both = (files: Record<string, string>): [string[], string[]] => {
    const modules = house(files);
    return [runtimeCycles(modules), typeCycles(modules)];
  };
  const ring = ["src/a.ts > src/b.ts > src/a.ts"];

  test("two files that import each other, by any statement", () => {
    const a = 'import { b } from "./b.ts";';
    for (const b of [
      'import { a } from "./a.ts";',
      'import "./a.ts";',
      'export { a } from "./a.ts";',
      'export * from "./a.ts";',
      'import { type A } from "./a.ts";',
      'const a = await import("./a.ts");',
    ])
      expect(both({ "src/a.ts": a, "src/b.ts": b }), b).toEqual([ring, []]);
  });

  test("a way around three files, said once", () => {
    expect(
      both({
        "src/b.ts": 'import "./c.ts";',
        "src/a.ts": 'import "./b.ts";',
        "src/c.ts": 'import "./a.ts"; import "./d.ts";',
        "src/d.ts": "",
      }),
    ).toEqual([["src/a.ts > src/b.ts > src/c.ts > src/a.ts"], []]);
  });

  test("of types where one of the statements leaves nothing behind", () => {
    const a = 'import { b } from "./b.ts";';
    for (const b of [
      'import type { A } from "./a.ts";',
      'export type { A } from "./a.ts";',
      'export type * from "./a.ts";',
      'type A = import("./a.ts").A;',
    ])
      expect(both({ "src/a.ts": a, "src/b.ts": b }), b).toEqual([[], ring]);
  });

  test("not a file that two others import, nor one closed by a test", () => {
    expect(
      both({
        "src/a.ts": 'import "./b.ts"; import "./c.ts";',
        "src/b.ts": 'import "./c.ts";',
        "src/c.ts": "",
        "src/a.test.ts": 'import "./a.ts";',
      }),
    ).toEqual([[], []]);
  });
});

test("a cast is each `as` that names a type, and not another word", () => {
  const text = [
    'import { a as b } from "./b.ts";',
    "const c = a as unknown as string;",
    "const d = [1] as const;",
    'const e = "as string"; // as number',
    "const f = <A>g;",
    "const h = i satisfies string;",
    "export { c as d };",
  ].join("\n");
  expect(house({ "src/a.ts": text }).product().flatMap(casts)).toEqual([
    "src/a.ts:2: as string",
    "src/a.ts:2: as unknown",
    "src/a.ts:5: as A",
  ]);
});

describe("an export is used", () => {
  const unused = (files: Record<string, string>): string[] =>
    unusedExports(house({ "src/index.ts": "", ...files }), ["src/index.ts"]);
  const a = "export const a = 1;\nexport interface B {}\n";

  test("by no mention in its own file", () => {
    expect(unused({ "src/a.ts": `${a}const c: B = a;` })).toEqual([
      "src/a.ts:1: nobody imports a",
      "src/a.ts:2: nobody imports B",
    ]);
  });

  test.each([
    ['import { a } from "../src/a.ts";', ["B"]],
    ['import type { B } from "../src/a.ts";', ["a"]],
    ['import { a as b, type B as C } from "../src/a.ts";', []],
    ['import * as all from "../src/a.ts"; all.a;', ["B"]],
    ['import type * as All from "../src/a.ts"; type B = All.B;', ["a"]],
    ['import * as all from "../src/a.ts"; use(all);', []],
    ['(await import("../src/a.ts")).a;', ["B"]],
    ['const all = await import("../src/a.ts");', []],
    ['type B = import("../src/a.ts").B;', ["a"]],
    ['// import { a, B } from "../src/a.ts";', ["a", "B"]],
    ['import { a } from "../src/b.ts";', ["a", "B"]],
  ])("by %s in another", (line, left) => {
    const found = unused({ "src/a.ts": a, "test/b.ts": line });
    expect(found.map((text) => text.split(" ").at(-1))).toEqual(left);
  });

  test("by passing it on to users, not by passing it on to nobody", () => {
    const files = { "src/a.ts": a, "src/b.ts": 'export { a, type B } from "./a.ts";' };
    expect(unused(files)).toHaveLength(4);
    expect(unused({ ...files, "src/index.ts": 'export { a } from "./b.ts";' })).toEqual([
      "src/a.ts:2: nobody imports B",
      "src/b.ts:1: nobody imports B",
    ]);
    expect(unused({ ...files, "src/index.ts": 'export * from "./b.ts";' })).toEqual([]);
  });

  test("under each of the ways to declare it", () => {
    const text = [
      "export const { b, c: [d] } = e;",
      "export function f() {}",
      "export class G {}",
      "export type H = 1;",
      "const i = 1; export { i as j };",
      "export default i;",
    ].join("\n");
    const names = unused({ "src/a.ts": text }).map((found) => found.split(" ").at(-1));
    expect(names).toEqual(["b", "d", "f", "G", "H", "j", "default"]);
  });
});

describe("a name means two things", () => {
  const twice = (files: Record<string, string>): string[] => ambiguousTypes(house(files));

  test.each([
    "export interface A {}",
    "export type A = 1;",
    "export class A {}",
    "interface B {} export type { B as A };",
  ])("where two files declare it: %s", (line) => {
    const found = twice({ "src/a.ts": line, "src/b.ts": "export interface A {}" });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^A is A of src\/[ab]\.ts and [AB] of src\/[ab]\.ts$/);
  });

  test("not where one passes it on, or where it is a value", () => {
    expect(
      twice({
        "src/a.ts": "export interface A {} export const b = 1;",
        "src/b.ts": 'export type { A } from "./a.ts"; export const b = 2;',
        "src/c.ts": 'import type { A } from "./b.ts"; export type { A };',
        "src/d.ts": 'export * from "./a.ts"; interface A {}',
        "src/a.test.ts": "export interface A {}",
        "test/a.ts": "export interface A {}",
      }),
    ).toEqual([]);
  });
});
