// Runs every case once per round. If the machine is slower for a minute, it is slower for all of them, and the
// medians stay comparable.

import type { Case, Setting } from "./case.ts";
import { percentile, within } from "./measure.ts";
import type { Cost, Row } from "./row.ts";

export interface Plan {
  readonly cases: readonly Case[];
  readonly rounds: number;
  /** What is not done by this time is given up. The caller ends the process then. */
  readonly until: number;
  say(text: string): void;
}

export async function measureAll({ cases, rounds, until, say }: Plan, setting: Setting): Promise<Row[]> {
  const found = new Map<string, Row[]>();
  for (let round = 1; round <= rounds; round += 1) {
    for (const each of cases) {
      if (round > (each.rounds ?? rounds)) continue;
      say(`round ${round}: ${each.name} ... `);
      const rows = await rowsOf(each, setting, until - Date.now());
      say(`${rows.map(said).join(", ")}\n`);
      for (const row of rows) found.set(row.name, [...(found.get(row.name) ?? []), row]);
    }
  }
  return [...found.values()].map(medianRow);
}

/** A case that fails must not discard the figures of the others. */
async function rowsOf(each: Case, setting: Setting, leftMs: number): Promise<Row[]> {
  if (leftMs <= 0) return [unmeasured(each, "out of time")];
  try {
    return await (leftMs < Number.POSITIVE_INFINITY ? within(leftMs, each.run(setting)) : each.run(setting));
  } catch (error) {
    return [unmeasured(each, (error as Error).message.split("\n")[0] ?? "")];
  }
}

function unmeasured({ name }: Case, why: string): Row {
  return { name, value: null, unit: "", note: `not measured: ${why}` };
}

function said({ value, unit, note }: Row): string {
  return value === null ? (note ?? "") : `${value.toFixed(1)} ${unit}`;
}

function medianRow(rows: readonly Row[]): Row {
  const measured = rows.filter(({ value }) => value !== null);
  const last = measured.at(-1) ?? (rows.at(-1) as Row);
  if (measured.length === 0) return last;
  const runs = measured.map(({ value }) => value as number);
  const costs = measured.flatMap(({ cost }) => cost ?? []);
  const median = percentile(runs, 0.5);
  return { ...last, value: median, runs, ...(costs.length > 0 ? { cost: medianCost(costs) } : {}) };
}

function medianCost(costs: readonly Cost[]): Cost {
  const median = (of: keyof Cost): number | null => {
    const known = costs.flatMap((cost) => cost[of] ?? []);
    return known.length === 0 ? null : percentile(known, 0.5);
  };
  return { nodeUs: median("nodeUs"), serverUs: median("serverUs"), logBytes: median("logBytes") };
}
