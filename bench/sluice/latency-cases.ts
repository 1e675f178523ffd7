import type { Case } from "../case.ts";
import { WIDE } from "./app.ts";
import type { Delays, Latency } from "./latency.ts";
import { child, places } from "./place.ts";

const SLOTS = 24;
const LIMIT_MS = 300_000;

export const latencyCases: readonly Case[] = places("latency").map(({ name, on }) => ({
  name,
  run: (setting) =>
    on(setting, name, async ({ url, said }) => {
      const apart = name.endsWith("postgres");
      const job: Latency = { url, slots: SLOTS, limit: WIDE, apart, ms: setting.lasting(15_000) };
      const found = await child<Delays>("latency.ts", job, LIMIT_MS);
      const rate = Math.round(found.rate).toLocaleString("en-US");
      const note =
        `from the enqueue call to the start of the code at ${rate} single enqueues a second, half of what ` +
        `this setting sustains; enqueued ${apart ? "by another process" : "by the worker's own process"}`;
      const row = { ...said, slots: SLOTS, tasks: found.tasks, unit: "ms" };
      return [
        { name, ...row, value: found.medianMs, note: `${note}; median` },
        {
          name: `${name}-p99`,
          ...row,
          value: found.p99Ms,
          note: `the same; 99 % start sooner. 1 % of the calls were made more than ${found.lateMs.toFixed(1)} ms late`,
        },
      ];
    }),
}));
