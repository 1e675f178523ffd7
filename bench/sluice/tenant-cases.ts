// Many runs at one full gate, compared with few: the cost of their wait, and how fast they follow each other.
import type { Case } from "../case.ts";
import type { Row } from "../row.ts";
import { child, places } from "./place.ts";
import type { Waited } from "./tenants.ts";

export const tenantCases: readonly Case[] = places("tenants").map(({ name, on }) => ({
  name,
  rounds: 1,
  run: async (setting) => {
    const rows: Row[] = [];
    for (const runs of [10, 1_000]) {
      const few = runs === 10;
      rows.push(
        ...(await on(setting, `${name}-${runs}`, async ({ url, said }) => {
          const found = await child<Waited>("tenants.ts", { url, runs, turns: 200 });
          const note = `${runs} runs of as many tenants wait at one full gate`;
          return [
            {
              name: `${name}-${few ? "few" : "many"}`,
              ...said,
              value: found.medianMs,
              unit: "ms",
              note: `${note}: from the end of one to the start of the next; p95 ${found.p95Ms.toFixed(1)} ms`,
            },
            {
              name: `${name}-${few ? "few" : "many"}-idle`,
              ...said,
              value: found.idlePercent,
              unit: "%",
              note: `${note}: of one processor while nothing happens`,
            },
          ];
        })),
      );
    }
    return rows;
  },
}));
