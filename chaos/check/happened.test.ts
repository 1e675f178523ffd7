import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Done } from "../fault/scene.ts";
import type { Recorded } from "./happened.ts";
import { happened, missingIn } from "./happened.ts";
import {
  claim,
  effect,
  limit,
  outcomeRow,
  release,
  session,
  tables,
  task,
  visit,
  waiting,
} from "./planted.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-happened-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const nothing = (): Recorded => ({
  store: "postgres",
  folder,
  audit: [],
  tables: tables(),
  visits: [],
  effects: [],
  done: new Done(),
});

test("of a run in which nothing happened everything is missing", () => {
  const found = happened(nothing());
  expect(missingIn(found)).toEqual(Object.keys(found));
});

test("a file has no wire, so nothing of a wire is missing there", () => {
  const onlyOnAWire = missingIn(happened(nothing())).filter(
    (quota) => !missingIn(happened({ ...nothing(), store: "sqlite" })).includes(quota),
  );
  expect(onlyOnAWire).toEqual(["answers to a commit lost", "commits that never arrived"]);
});

test("a cap was full when a grant took its last slot, and only then", () => {
  const grants = (cap: number): Recorded => ({
    ...nothing(),
    tables: tables({ tasks: [task("t1"), task("t2")] }),
    audit: [
      limit(0, "cluster", cap),
      limit(0, "pool:a", 9),
      session(0, "s", 9_000),
      claim(1, 1),
      claim(2, 2),
    ],
  });
  expect(happened(grants(2))["full caps"]).toBe(1);
  expect(happened(grants(3))["full caps"]).toBe(0);
});

test("pools were full when the witness saw them full, one of them with a step inside", () => {
  const lanes = new Map([
    ["one", { "pool:database": 1 }],
    ["alone", { "pool:mutex": 1 }],
  ]);
  const inside = (pid: number, mark: string | null): Recorded => ({
    ...nothing(),
    tables: tables({ tasks: [task("t1"), task("t2"), task("t3")], lanes }),
    audit: [
      limit(0, "pool:database", 2),
      limit(0, "pool:mutex", 1),
      session(0, "s", 9_000, pid),
      claim(1, 1),
      claim(2, 2),
      claim(3, 3, { lane: "alone" }),
    ],
    visits: [
      visit(5, 90, 1, { gates: { "pool:database": 1 }, mark }),
      visit(6, 90, 2, { gates: { "pool:database": 1 } }),
      visit(7, 90, 3, { gates: { "pool:mutex": 1 } }),
    ],
  });
  const full = (recorded: Recorded) => happened(recorded)["full pools"];
  expect(full(inside(7, "k/left"))).toBe(1);
  expect(full(inside(7, null))).toBe(0);
  const { visits, ...rest } = inside(7, "k/left");
  expect(full({ ...rest, visits: visits.slice(1) })).toBe(0);
  expect(full({ ...rest, visits: visits.slice(0, 2) })).toBe(0);
});

test("a claim of a lost holder, an effect that came too late and a report that did are counted", () => {
  writeFileSync(join(folder, "worker-0.log"), "a report came too late\n");
  const found = happened({
    ...nothing(),
    tables: tables({
      tasks: [task("t"), task("u")],
      outcomes: [outcomeRow("u", { state: "quarantined" })],
    }),
    audit: [
      limit(0, "cluster", -1),
      limit(0, "pool:a", -1),
      session(0, "s", 9_000),
      claim(1, 1, { task: "t" }),
      release(2, 1, { task: "t" }),
      waiting(2, "t", 1, 1),
    ],
    effects: [effect(1, "task:t", 2), effect(2, "task:t", 1, false)],
  });
  expect(found).toMatchObject({ "stale writes refused": 2, reclaims: 1, quarantines: 1 });
});
