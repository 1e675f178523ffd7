/** The bench, which judges others. */
import type { Defect } from "../defect.ts";

const noticedBy = { file: "test/bench.test.ts" };

export const defects: readonly Defect[] = [
  {
    id: "ratio-of-medians",
    means: "a round in which the machine was slow counts for one of the two only",
    file: "bench/verdict.ts",
    from: "over.length === runs.length ? over[round] : theirs.value",
    to: "theirs.value",
    noticedBy,
  },
  {
    id: "less-is-kept",
    means: "a floor counts as kept by whatever is slower",
    file: "bench/verdict.ts",
    from: "target.atMost ? reached.value <= wanted : reached.value >= wanted",
    to: "reached.value <= wanted",
    noticedBy,
  },
  {
    id: "aim-for-floor",
    means: "a floor is kept without being reached",
    file: "bench/verdict.ts",
    from: 'if (!kept) return "MISSED";',
    to: "",
    noticedBy,
  },
  {
    id: "ended-backends-are-free",
    means: "connections that were closed during a measurement have cost nothing",
    file: "bench/proc.ts",
    from: "sum + ownMs + endedMs",
    to: "sum + ownMs",
    noticedBy,
  },
  {
    id: "cost-of-the-last-round",
    means: "one busy round decides what a task costs",
    file: "bench/rounds.ts",
    from: "percentile(known, 0.5)",
    to: "(known.at(-1) as number)",
    noticedBy,
  },
  {
    id: "quick-takes-its-time",
    means: "a quick run measures everything however long it takes",
    file: "bench/rounds.ts",
    from: "within(leftMs, each.run(setting))",
    to: "each.run(setting)",
    also: [{ from: "if (leftMs <= 0)", to: "if (false)" }],
    noticedBy,
  },
  {
    id: "swap-that-fell-back",
    means: "a swap that became a whole pass counts as a slow swap",
    file: "bench/sluice/verb-watch.ts",
    from: "return more.length === 0 ? first : undefined;",
    to: "return more.length === 0 ? first : more[0];",
    noticedBy,
  },
];
