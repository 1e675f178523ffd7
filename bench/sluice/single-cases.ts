import type { Case } from "../case.ts";
import type { Measured } from "../cost.ts";
import { warmUpOf } from "../measure.ts";
import { child, places } from "./place.ts";

const CALLERS = 32;

export const singleCases: readonly Case[] = places("enqueue-32").map(({ name, on }) => ({
  name,
  run: (setting) =>
    on(setting, name, async ({ url, said }) => {
      const tasks = setting.scaled(20_000);
      const job = { url, tasks, callers: CALLERS, warmUp: warmUpOf(tasks) };
      const { tasksPerSecond: value, cost } = await child<Measured>("singles.ts", job);
      const note = "32 callers, one task per call; the cost is that of the calls";
      return [{ name, ...said, tasks, value, unit: "calls/s", cost, note }];
    }),
}));
