import type { Case } from "../case.ts";
import { child, places } from "./place.ts";

export const handoverCases: readonly Case[] = places("handover").map(({ name, on }) => ({
  name,
  quick: true,
  run: (setting) =>
    on(setting, name, async ({ url, said }) => {
      const tasks = setting.scaled(1_000);
      const found = await child<{ medianMs: number; p95Ms: number }>("handover.ts", { url, tasks });
      const note = `release to next start on a full gate; p95 ${found.p95Ms.toFixed(1)} ms`;
      return [{ name, ...said, slots: 8, tasks, value: found.medianMs, unit: "ms", note }];
    }),
}));
