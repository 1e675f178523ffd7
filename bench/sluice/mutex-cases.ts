import type { Case } from "../case.ts";
import type { Contended } from "../contend.ts";
import { child, places } from "./place.ts";

/** Beside `advisory-lock` and `redis-lock`. */
export const mutexCases: readonly Case[] = places("mutex").map(({ name, on }) => ({
  name,
  run: (setting) =>
    on(setting, name, async ({ url, said }) => {
      const grants = setting.scaled(200);
      const found = await child<Contended>("mutex.ts", { url, clients: 4, grants });
      const note = `one mutex, 4 clients; hand-over ${found.medianMs.toFixed(1)} ms, p95 ${found.p95Ms.toFixed(1)} ms`;
      return [{ name, ...said, slots: 4, tasks: grants, value: found.perSecond, unit: "grants/s", note }];
    }),
}));
