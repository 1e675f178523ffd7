// Does the length of the line matter? The same exchange, with a short line and with a long one.
import type { Case, Setting } from "../case.ts";
import type { Row } from "../row.ts";
import type { Passing, Timed } from "./pass.ts";
import { child, onServer } from "./place.ts";
import type { Verb } from "./verb-watch.ts";

interface FlatCase {
  /** The rows are named VERB-ROW-few and VERB-ROW-many. */
  readonly name: string;
  readonly row: string;
  readonly line: Passing["line"];
  readonly many: number;
  readonly verbs: readonly Verb[];
  readonly note: string;
}

const FEW = 1_000;
const TIMES = 300;
const LIMIT_MS = 900_000;

const cases: readonly FlatCase[] = [
  {
    name: "flat-blocked",
    row: "blocked",
    line: "blocked",
    many: 1_000_000,
    verbs: ["pass", "swap"],
    note: "99 % of the line blocked on one pool of the same queue",
  },
  {
    name: "flat-keys",
    row: "keys",
    line: "keys",
    many: 100_000,
    verbs: ["pass"],
    note: "distinct keys, each with limit 1",
  },
  {
    name: "flat-keys-swap",
    row: "keys",
    line: "behind",
    many: 100_000,
    verbs: ["swap"],
    note: "distinct keys, each with limit 1, behind the tasks that run",
  },
];

async function measured(setting: Setting, found: FlatCase, size: "few" | "many"): Promise<Row[]> {
  const { name, row, line, verbs, note } = found;
  const waiting = size === "few" ? FEW : Math.max(FEW, setting.scaled(found.many));
  return onServer(setting, "postgres", `${name}-${size}`, async ({ url, said }) => {
    const job: Passing = { url, line, waiting, times: TIMES, verbs };
    const timed = await child<Timed>("pass.ts", job, LIMIT_MS);
    return verbs.map((verb): Row => {
      const shape = { name: `${verb}-${row}-${size}`, ...said, tasks: waiting, slots: 24, unit: "ms" };
      const figures = timed[verb];
      if (!figures) return { ...shape, value: null, note: `not measured: this version has no ${verb}` };
      const { medianMs: value, p95Ms, cost } = figures;
      const told = `${note}; p95 ${p95Ms.toFixed(1)} ms; the cost is that of one exchange`;
      return { ...shape, value, cost, note: told };
    });
  });
}

export const flatCases: readonly Case[] = cases.map((found) => ({
  name: found.name,
  rounds: 1,
  run: async (setting) => [
    ...(await measured(setting, found, "few")),
    ...(await measured(setting, found, "many")),
  ],
}));
