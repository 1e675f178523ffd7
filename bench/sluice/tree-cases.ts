// Trees of runs: a step of a large tree costs the same at its end as at its beginning. And runs of many flat steps.
import type { Case } from "../case.ts";
import type { Row } from "../row.ts";
import type { Place } from "./place.ts";
import { child, inFolder, onServer } from "./place.ts";
import type { Grown, Pace } from "./tree.ts";

const LIMIT_MS = 600_000;

const grow = ({ url }: Place, grown: Omit<Grown, "url">): Promise<Pace> =>
  child<Pace>("tree.ts", { url, ...grown }, LIMIT_MS);

export const treeCases: readonly Case[] = [
  { name: "tree", on: "PostgreSQL" },
  { name: "tree-embedded", on: "SQLite" },
].map(({ name, on }) => ({
  name,
  run: async (setting) => {
    const children = setting.scaled(100);
    const measure = async (place: Place): Promise<Row[]> => {
      const tree = await grow(place, { children, steps: 99, beside: 10 });
      const flat = await grow(place, { children: 1, steps: 1_000, beside: 0 });
      const row = (suffix: string, tasks: number, value: number, note: string): Row => ({
        name: `${name}${suffix}`,
        ...place.said,
        slots: 50,
        tasks,
        value,
        unit: "ms",
        note: `${note}, ${on}`,
      });
      return [
        row("-early", children * 100, tree.earlyMs, "per step, in the second tenth of a tree"),
        row("-late", children * 100, tree.lateMs, "per step, in the last tenth but one"),
        row("-flat", 1_000, flat.allMs, "per step of a run of 1,000 steps beside each other"),
      ];
    };
    return on === "SQLite" ? inFolder(measure) : onServer(setting, "postgres", name, measure);
  },
}));
