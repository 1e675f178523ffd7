import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Listed } from "./list.ts";
import { allDefects, chosen } from "./list.ts";
import { optionsOf } from "./options.ts";
import { plant } from "./plant.ts";
import type { Judged } from "./table.ts";
import { isFine, line, summary, tableOf } from "./table.ts";
import { mayBeNamed, TestFiles, textOf } from "./titles.ts";
import type { Report, Verdict } from "./verdict.ts";
import { verdictOf } from "./verdict.ts";

const inTree = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

describe("the lists", () => {
  test("name texts that stand in their file exactly once, and test files that exist", async () => {
    const defects = await allDefects();
    const wrong = defects.flatMap((defect) => {
      if (!existsSync(inTree(defect.noticedBy.file)))
        return [`${defect.id}: there is no ${defect.noticedBy.file}`];
      try {
        plant(defect, readFileSync(inTree(defect.file), "utf8"));
        return [];
      } catch (error) {
        return [(error as Error).message];
      }
    });
    expect(wrong).toEqual([]);
    expect(defects.length).toBeGreaterThanOrEqual(60);
  });

  test("name tests that stand in their file", async () => {
    const files = new TestFiles(inTree);
    const stale = (await allDefects()).flatMap(({ id, noticedBy: { file, test } }) =>
      test === undefined || files.mayHave(file, test) ? [] : [`${id}: ${file} has no test "${test}"`],
    );
    expect(stale).toEqual([]);
  });

  test("are searched by id, list, file and test", () => {
    const one = defect({ id: "off-by-one", area: "core", file: "src/core/a.ts" });
    const two = defect({ id: "no-lock", area: "races", file: "src/store/b.ts" });
    const ids = (...words: string[]) => chosen([one, two], words).map(({ id }) => id);
    expect(ids()).toEqual(["off-by-one", "no-lock"]);
    expect([ids("off"), ids("races"), ids("src/store"), ids("core", "lock"), ids("nothing")]).toEqual([
      ["off-by-one"],
      ["no-lock"],
      ["no-lock"],
      ["off-by-one", "no-lock"],
      [],
    ]);
  });
});

describe("the name of a test", () => {
  const text = `
    describeOn(["SQLite"], (place) => {
      describe("a list", () => {
        test("is told once", () => {});
        test.each([["a value", 7]])("that holds %s is told %i times", () => {});
        test(\`of \${place} is long\`, () => {});
      });
    });`;

  test.each([
    "list is told",
    "told once",
    "on SQLite a list is told",
    "holds a value is told 7 times",
    "a list of SQLite is",
  ])("may have the part: %s", (part) => {
    const on = 'describe("on", () => {});';
    expect(mayBeNamed(textOf("a.test.ts", text + on).pieces, part)).toBe(true);
  });

  test.each(["list is told twice", "a list holds", "list once", "holds a value 8", "told is a list"])(
    "does not have the part: %s",
    (part) => {
      expect(mayBeNamed(textOf("a.test.ts", text).pieces, part)).toBe(false);
    },
  );
});

describe("a defect", () => {
  test("is planted where its text stands once, and nowhere else", () => {
    const it = { id: "x", file: "a.ts", from: "<=", to: "<" };
    expect(plant(it, "a <= b")).toBe("a < b");
    expect(() => plant(it, "a == b")).toThrow("is 0 times in a.ts");
    expect(() => plant(it, "a <= b && b <= c")).toThrow("is 2 times in a.ts");
    expect(() => plant({ ...it, from: "" }, "a")).toThrow("is 0 times in a.ts");
    expect(() => plant({ ...it, to: "<=" }, "a <= b")).toThrow("stands there already");
  });

  test("may take several places of a file, and is not planted by halves", () => {
    const it = { id: "x", file: "a.ts", from: "a", to: "A", also: [{ from: "c", to: "C" }] };
    expect(plant(it, "abc")).toBe("AbC");
    expect(() => plant(it, "ab")).toThrow("is 0 times in a.ts");
  });

  test("is planted letter by letter, whatever a dollar sign means to a replacement", () => {
    expect(plant({ id: "x", file: "a.ts", from: "b", to: "$&$1" }, "abc")).toBe("a$&$1c");
  });
});

describe("a report", () => {
  const any = (): boolean => true;

  test("with a failed test says who noticed, and how", () => {
    const report = reportOf(["passed", "a"], ["failed", "b", "AssertionError: expected 1 to be 2\n  at x"]);
    expect(verdictOf(report, any)).toEqual({
      kind: "noticed",
      by: "b",
      how: "AssertionError: expected 1 to be 2",
    });
    expect(verdictOf(reportOf(["failed", "b", "Error: Test timed out in 60000ms."]), any).kind).toBe(
      "noticed",
    );
  });

  test("counts only the tests that were named", () => {
    const report = reportOf(["passed", "a"], ["failed", "b", "AssertionError: no"], ["skipped", "c"]);
    expect(verdictOf(report, (name) => name === "a")).toEqual({ kind: "escaped" });
    expect(verdictOf(report, (name) => name === "c")).toEqual({ kind: "skipped" });
    expect(verdictOf(report, (name) => name === "d").kind).toBe("broken");
  });

  test("of code that does not even run proves nothing", () => {
    const file = { status: "failed", message: "Failed to load url x\nat y", assertionResults: [] };
    expect(verdictOf({ testResults: [file] }, any)).toEqual({
      kind: "broken",
      why: "the test file cannot start: Failed to load url x",
    });
    expect(verdictOf({ testResults: [] }, any).kind).toBe("broken");
    for (const message of [
      "ReferenceError: x is not defined",
      "SyntaxError: Unexpected token",
      "Error: a\nerror TS2304: x",
    ])
      expect(verdictOf(reportOf(["failed", "a", message]), any).kind).toBe("broken");
  });
});

describe("what is said", () => {
  test("has a line for each, and what an escaped one would mean", () => {
    const said = [
      judged("a", { kind: "noticed", by: "a test", how: "AssertionError: 1" }),
      judged("bb", { kind: "escaped" }),
      judged("c", { kind: "broken", why: "no such test" }),
    ];
    expect(tableOf(said.map(line)).split("\n")).toEqual([
      "noticed  2 s  core  a   t.test.ts > a test: AssertionError: 1",
      "ESCAPED  2 s  core  bb  nobody noticed: t.test.ts > a test; planted in f.ts: harm",
      "BROKEN   2 s  core  c   no such test",
    ]);
    expect(summary(said)).toBe("3 defects: 1 noticed, 1 escaped, 1 broken");
    expect(said.map(isFine)).toEqual([true, false, false]);
  });

  test("is nothing to fail for where a server is missing", () => {
    const skipped = judged("a", { kind: "skipped" });
    expect([isFine(skipped), summary([skipped])]).toEqual([true, "1 defects: 0 noticed, 1 skipped"]);
  });

  test("follows the options", () => {
    expect(optionsOf(["--list", "--jobs", "3", "core"])).toEqual({ words: ["core"], list: true, jobs: 3 });
    expect(() => optionsOf(["--jobs", "0"])).toThrow("--jobs must be a whole number from 1 on, but is 0");
  });
});

function defect(more: Partial<Listed>): Listed {
  return {
    id: "a",
    area: "core",
    means: "harm",
    file: "f.ts",
    from: "a",
    to: "b",
    noticedBy: { file: "t.test.ts", test: "a test" },
    ...more,
  };
}

const judged = (id: string, verdict: Verdict): Judged => ({ defect: defect({ id }), verdict, ms: 2_100 });

function reportOf(...tests: readonly [status: string, name: string, failure?: string][]): Report {
  const isBad = tests.some(([status]) => status === "failed");
  return {
    testResults: [
      {
        status: isBad ? "failed" : "passed",
        message: "",
        assertionResults: tests.map(([status, fullName, failure]) => ({
          status,
          fullName,
          failureMessages: failure === undefined ? [] : [failure],
        })),
      },
    ],
  };
}
