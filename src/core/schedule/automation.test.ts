import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Acted, Success } from "./automation.ts";
import { toActOn } from "./automation.ts";
import { newer, succeeded } from "./definition.ts";

const UNBORN: Acted = { since: 0, seen: {}, run: null };

const list = (...entries: readonly [string, string, number][]): ReadonlyMap<string, Success> =>
  new Map(entries.map(([workflow, run, at]) => [workflow, { workflow, run, at }]));

const runs = (found: readonly Success[]): string[] => found.map(({ run }) => run);

describe("succeeded", () => {
  const when = succeeded("a", { id: "b" });

  test("waits until all have succeeded", () => {
    expect(toActOn("c", when, list(["a", "a1", 5]), UNBORN)).toEqual([]);
    expect(runs(toActOn("c", when, list(["a", "a1", 5], ["b", "b1", 6]), UNBORN))).toEqual(["a1", "b1"]);
  });

  test("waits for all of them again after it was submitted", () => {
    const acted = { ...UNBORN, seen: { a: "a1", b: "b1" } };
    expect(toActOn("c", when, list(["a", "a2", 7], ["b", "b1", 6]), acted)).toEqual([]);
    expect(runs(toActOn("c", when, list(["a", "a2", 7], ["b", "b2", 8]), acted))).toEqual(["a2", "b2"]);
  });

  test("does not count what was before its time", () => {
    const acted = { ...UNBORN, since: 6 };
    expect(toActOn("c", when, list(["a", "a1", 5], ["b", "b1", 6]), acted)).toEqual([]);
    expect(toActOn("c", when, list(["a", "a2", 6], ["b", "b1", 6]), acted)).toHaveLength(2);
  });
});

describe("newer", () => {
  const when = newer("a", "b");

  test("acts when one of them is newer than its own last success", () => {
    expect(toActOn("c", when, list(["a", "a1", 5], ["c", "c1", 6]), UNBORN)).toEqual([]);
    expect(runs(toActOn("c", when, list(["a", "a1", 7], ["c", "c1", 6]), UNBORN))).toEqual(["a1"]);
  });

  test("acts when it has never succeeded and one of them has", () => {
    expect(toActOn("c", when, list(), UNBORN)).toEqual([]);
    expect(runs(toActOn("c", when, list(["b", "b1", 1]), UNBORN))).toEqual(["b1"]);
  });

  test("does not act on one success twice, even when its run failed", () => {
    const acted = { since: 0, seen: { a: "a1" }, run: "c1" };
    expect(toActOn("c", when, list(["a", "a1", 5]), acted)).toEqual([]);
    expect(runs(toActOn("c", when, list(["a", "a2", 7]), acted))).toEqual(["a2"]);
  });

  test("acts again on what came while its own run was on the way, although that ended later", () => {
    const acted = { since: 0, seen: { a: "a1" }, run: "c1" };
    const during = list(["a", "a2", 7], ["c", "c1", 9]);
    expect(runs(toActOn("c", when, during, acted))).toEqual(["a2"]);
    expect(toActOn("c", when, list(["a", "a2", 7], ["c", "by hand", 9]), acted)).toEqual([]);
  });
});

describe("for any history of successes", () => {
  const names = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 60 });

  test("succeeded(a, b) is submitted as often as both have happened since, looked at after each", () => {
    fc.assert(
      fc.property(names, (history) => {
        const now = new Map<string, Success>();
        let acted = UNBORN;
        let submitted = 0;
        let since = new Set<string>();
        let expected = 0;
        for (const [index, workflow] of history.entries()) {
          now.set(workflow, { workflow, run: `r${index}`, at: index });
          if (workflow !== "c") since.add(workflow);
          if (since.size === 2) {
            expected += 1;
            since = new Set();
          }
          const found = toActOn("d", succeeded("a", "b"), now, acted);
          if (found.length === 0) continue;
          submitted += 1;
          acted = { ...acted, seen: Object.fromEntries(found.map((each) => [each.workflow, each.run])) };
        }
        expect(submitted).toBe(expected);
      }),
    );
  });

  test("after newer(a, b) has acted, nothing is left to act on until the next success", () => {
    fc.assert(
      fc.property(names, (history) => {
        const now = new Map<string, Success>();
        let acted = UNBORN;
        for (const [index, workflow] of history.entries()) {
          now.set(workflow, { workflow, run: `r${index}`, at: index });
          const found = toActOn("c", newer("a", "b"), now, acted);
          expect(found.length > 0).toBe(workflow !== "c");
          if (found.length === 0) continue;
          const seen = {
            ...acted.seen,
            ...Object.fromEntries(found.map((each) => [each.workflow, each.run])),
          };
          acted = { since: 0, seen, run: `mine${index}` };
          expect(toActOn("c", newer("a", "b"), now, acted)).toEqual([]);
        }
      }),
    );
  });
});
