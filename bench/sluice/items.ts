// Steps over a list: the cost of an item late in a long list, and the cost of a window compared with a
// queue's cap.
import type { Case } from "../case.ts";
import type { Row } from "../row.ts";
import type { Handed } from "./items-late.ts";
import type { Times } from "./items-window.ts";
import type { Place } from "./place.ts";
import { child, inFolder, onServer } from "./place.ts";

const LIMIT_MS = 600_000;

const late: Case = {
  name: "items-late",
  rounds: 1,
  run: async (setting) => {
    const count = setting.scaled(100_000);
    const { found, said } = await onServer(setting, "postgres", "items-late", async ({ url, said }) => ({
      said,
      found: await child<{ early: Handed; late: Handed }>(
        "items-late.ts",
        { url, count, measured: 200 },
        LIMIT_MS,
      ),
    }));
    const { early, late } = found;
    const row = (name: string, value: number, note: string): Row => ({
      name,
      ...said,
      tasks: count,
      slots: 1,
      value,
      unit: "ms",
      note,
    });
    return [
      row("items-early", early.passMs, "a pass that ends one item and claims the next, from item 10 on"),
      row("items-late", late.passMs, "the same in front of the last ten"),
      row("items-early-look", early.lookMs, "the look at the run that follows, from item 10 on"),
      row("items-late-look", late.lookMs, "the same in front of the last ten"),
    ];
  },
};

const windows: readonly Case[] = [
  { name: "items-window", on: "PostgreSQL" },
  { name: "items-window-embedded", on: "SQLite" },
].map(({ name, on }) => ({
  name,
  run: async (setting) => {
    const count = setting.scaled(10_000);
    const measure = async ({ url, said }: Place) => ({
      said,
      ...(await child<Times>("items-window.ts", { url, count, window: 100 }, LIMIT_MS)),
    });
    const { itemsMs, plainMs, said } = await (on === "SQLite"
      ? inFolder(measure)
      : onServer(setting, "postgres", name, measure));
    const shape = { ...said, slots: 200, tasks: count, unit: "ms" };
    return [
      { ...shape, name, value: itemsMs, note: `items in a window of 100, ${on}` },
      { ...shape, name: `${name}-tasks`, value: plainMs, note: `tasks behind a queue's cap of 100, ${on}` },
    ];
  },
}));

export const itemCases: readonly Case[] = [late, ...windows];
