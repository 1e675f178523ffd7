import type { Case, Setting } from "../case.ts";
import type { Row } from "../row.ts";
import { WIDE } from "./app.ts";
import { child, onServer } from "./place.ts";
import type { Lasted, Sustained } from "./sustained.ts";

const SLOTS = 24;
const HALF_MINUTE_MS = 30_000;
/** Long enough that many times more rows have died than a table holds. */
const HELD_MS = 180_000;

interface SustainedCase {
  readonly name: string;
  readonly holding: boolean;
  readonly note: string;
  lasting(setting: Setting): number;
}

const cases: readonly SustainedCase[] = [
  {
    name: "sustained",
    holding: false,
    note: "never an empty line; finished tasks are kept, because there is no retention yet; the server's share includes the enqueues of another process",
    lasting: ({ sustainedMs }) => sustainedMs,
  },
  {
    name: "held-xmin",
    holding: true,
    note: "the same while another transaction is held open all the time, so that dead rows cannot be vacuumed",
    lasting: ({ sustainedMs }) => Math.min(HELD_MS, sustainedMs),
  },
];

export const sustainedCases: readonly Case[] = cases.map((found) => ({
  name: found.name,
  rounds: 1,
  run: (setting) =>
    onServer(setting, "postgres", found.name, async ({ url, said }): Promise<Row[]> => {
      const ms = found.lasting(setting);
      const endMs = Math.min(HALF_MINUTE_MS, ms / 3);
      const shape = { url, slots: SLOTS, limit: WIDE, apart: true, holding: found.holding };
      const job: Sustained = { ...shape, ms, endMs, warmUpMs: endMs / 6 };
      const { tasks, tasksPerSecond, first, last, slowest, cost } = await child<Lasted>(
        "sustained.ts",
        job,
        ms + 180_000,
      );
      const row = { ...said, slots: SLOTS, unit: "tasks/s" };
      const end = `${seconds(endMs)} of ${seconds(ms)}`;
      return [
        {
          name: found.name,
          ...row,
          tasks,
          value: tasksPerSecond,
          cost,
          note: `${found.note}; ${seconds(ms)}`,
        },
        { name: `${found.name}-first`, ...row, value: first, note: `in the first ${end}` },
        {
          name: `${found.name}-last`,
          ...row,
          value: last,
          note: `in the last ${end}; ${Math.round(slowest)} in the slowest`,
        },
      ];
    }),
}));

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
