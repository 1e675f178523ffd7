// The bench judges others, so its own arithmetic is tested.

import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import type { Case, Setting } from "../bench/case.ts";
import { familyMs, processorMs } from "../bench/proc.ts";
import { measureAll } from "../bench/rounds.ts";
import type { Row } from "../bench/row.ts";
import type { Verb } from "../bench/sluice/verb-watch.ts";
import { watchVerbs } from "../bench/sluice/verb-watch.ts";
import { asMarkdown } from "../bench/table.ts";
import type { Target } from "../bench/targets.ts";
import { targets } from "../bench/targets.ts";
import { verdictTable } from "../bench/verdict.ts";
import type { Store } from "../src/store/index.ts";

const row = (name: string, value: number | null, more: Partial<Row> = {}): Row => ({
  name,
  value,
  unit: "tasks/s",
  ...more,
});

describe("a verdict", () => {
  const ratio: Target = { label: "ours", row: "a", over: "b", atLeast: { floor: 2, aim: 3 } };
  const judged = (target: Target, ...rows: Row[]): Record<string, unknown> | undefined => {
    const { head, lines } = verdictTable([target], rows);
    return lines[0] && Object.fromEntries(head.map((name, column) => [name, lines[0]?.[column]]));
  };

  test.each([
    [1.9, "MISSED"],
    [2, "KEPT"],
    [2.9, "KEPT"],
    [3, "KEPT, and its aim"],
  ])("of a ratio of %d, where 2 is the floor and 3 the aim, is %s", (value, verdict) => {
    expect(judged(ratio, row("a", value * 10), row("b", 10))?.verdict).toBe(verdict);
  });

  test.each([
    [2.5, "KEPT"],
    [2.6, "MISSED"],
  ])("of %d ms, where 2.5 is the most, is %s", (value, verdict) => {
    const target: Target = { label: "hand-over", row: "a", atMost: { floor: 2.5 } };
    expect(judged(target, row("a", value))?.verdict).toBe(verdict);
  });

  test("takes the ratio of each round, so that a slow round is slow for both", () => {
    const [a, b] = [row("a", 60, { runs: [100, 10, 60] }), row("b", 10, { runs: [10, 1, 20] })];
    expect(judged(ratio, a, b)).toMatchObject({ reached: "10 x", rounds: "3 to 10" });
  });

  test("compares medians if a round is missing", () => {
    const [a, b] = [row("a", 60, { runs: [100, 60] }), row("b", 20, { runs: [20] })];
    expect(judged(ratio, a, b)).toMatchObject({ reached: "3 x", rounds: "3 to 5" });
  });

  test("is not given without both figures, and left out without both rows", () => {
    expect(judged(ratio, row("a", 1), row("b", null))?.verdict).toBe("not measured");
    expect(judged(ratio, row("a", 1))).toBeUndefined();
  });

  test("says how much processor time the other one needs for a task", () => {
    const cost = (nodeUs: number, serverUs: number) => ({ cost: { nodeUs, serverUs, logBytes: null } });
    const [a, b] = [row("a", 1, cost(30, 20)), row("b", 1, cost(80, 45))];
    expect(judged(ratio, a, b)?.["by processor time"]).toBe("2.50 x");
  });
});

test("every target has a floor, or is reported", () => {
  for (const { label, atLeast, atMost } of targets)
    expect([label, atLeast && atMost]).toEqual([label, undefined]);
  expect(new Set(targets.map(({ label }) => label)).size).toBe(targets.length);
});

describe("rounds", () => {
  const setting = {} as Setting;
  const plan = (cases: readonly Case[], until = Number.POSITIVE_INFINITY) =>
    measureAll({ cases, rounds: 3, until, say: () => {} }, setting);

  test("give the median of the figures and of each part of the cost", async () => {
    const found = [
      row("a", 5, { cost: { nodeUs: 8, serverUs: 1, logBytes: null } }),
      row("a", 1, { cost: { nodeUs: 7, serverUs: 2, logBytes: null } }),
      row("a", 3, { cost: { nodeUs: 9, serverUs: 3, logBytes: null } }),
    ];
    expect(await plan([{ name: "a", run: async () => [found.shift() as Row] }])).toEqual([
      { ...row("a", 3), runs: [5, 1, 3], cost: { nodeUs: 8, serverUs: 2, logBytes: null } },
    ]);
  });

  test("keep the figures of the others, and of other rounds, if a case fails", async () => {
    let round = 0;
    const fails = async (): Promise<Row[]> => {
      round += 1;
      if (round === 2) throw new Error("gone");
      return [row("a", round)];
    };
    const rows = await plan([
      { name: "a", run: fails },
      { name: "b", rounds: 1, run: async () => [row("b", 7)] },
    ]);
    expect(rows.map(({ name, runs }) => [name, runs])).toEqual([
      ["a", [1, 3]],
      ["b", [7]],
    ]);
  });

  test("begin no case after their time, and say so", async () => {
    const [only] = await plan([{ name: "a", run: async () => [row("a", 1)] }], Date.now() - 1);
    expect(only).toMatchObject({ name: "a", value: null, note: "not measured: out of time" });
  });

  test("give up a case that is not done in time", async () => {
    const never = (): Promise<Row[]> => new Promise(() => {});
    const [only] = await plan([{ name: "a", rounds: 1, run: never }], Date.now() + 20);
    expect(only).toMatchObject({ name: "a", value: null, note: expect.stringContaining("not done after") });
  });
});

describe.skipIf(process.platform !== "linux")("processor time", () => {
  const BURN = "const end = process.cpuUsage().user + 300_000; while (process.cpuUsage().user < end);";

  test("of a family includes children that have ended", () => {
    const [family, own] = [familyMs(process.pid) as number, processorMs(process.pid) as number];
    execFileSync(process.execPath, ["-e", BURN]);
    expect((familyMs(process.pid) as number) - family).toBeGreaterThanOrEqual(250);
    expect((processorMs(process.pid) as number) - own).toBeLessThan(250);
  });

  test("of a process that is gone is unknown", () => {
    expect([familyMs(2 ** 30), processorMs(2 ** 30)]).toEqual([null, null]);
  });
});

describe("an exchange", () => {
  const ports = ["passes", "swaps"];
  const both = { capabilities: { ports }, pass: async () => {}, swap: async () => {} } as unknown as Store;

  test("counts as a swap only if it was nothing else", async () => {
    const { store, taken } = watchVerbs(both, "swap");
    const swap = (): unknown => Reflect.get(store, "swap")({} as never);
    await swap();
    expect(taken()).toBe("swap");
    await Promise.all([swap(), store.pass({} as never, () => ({}) as never)]);
    expect([taken(), taken()]).toEqual([undefined, undefined]);
  });

  test("knows of no swap while passes are timed", () => {
    const seen = (verb: Verb): readonly string[] => watchVerbs(both, verb).store.capabilities.ports;
    expect([seen("pass"), seen("swap")]).toEqual([["passes"], ports]);
  });
});

test("a table in Markdown has one row per line, and no cell ends early", () => {
  const text = asMarkdown({ head: ["a", "b"], lines: [["x | y", 1_234.5]] });
  expect(text.split("\n")).toEqual(["| a | b |", "|---|---:|", "| x \\| y | 1,235 |"]);
});
