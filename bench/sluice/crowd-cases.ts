// Several worker processes: on one server, behind caps that bind, far from the database, on one file.
import type { Case, Setting } from "../case.ts";
import type { Row } from "../row.ts";
import { WIDE } from "./app.ts";
import type { Crowd, Crowded } from "./crowd.ts";
import { crowd } from "./crowd.ts";
import { delayed } from "./delay.ts";
import type { Place } from "./place.ts";
import { inFolder, onServer } from "./place.ts";

interface CrowdCase {
  readonly name: string;
  readonly workers: number;
  readonly slots: number;
  readonly limit: number | null;
  readonly tasks: number;
  /** Added network delay of a round trip, in milliseconds. */
  readonly ms?: number;
  readonly note: string;
  readonly quick?: boolean;
}

const four = { workers: 4, slots: 24, tasks: 60_000 };

const crowds: readonly CrowdCase[] = [
  {
    name: "sluice-4x24",
    ...four,
    limit: WIDE,
    note: "four workers; cluster cap, queue cap and a pool on, wider than all slots",
    quick: true,
  },
  { name: "sluice-4x24-off", ...four, limit: null, note: "four workers, no cap at all" },
  {
    name: "sluice-4x24-limit-20",
    ...four,
    tasks: 20_000,
    limit: 20,
    note: "four workers; the same three limits at 20, so they bind",
    quick: true,
  },
  {
    name: "sluice-16x6-limit-20",
    workers: 16,
    slots: 6,
    tasks: 10_000,
    limit: 20,
    note: "sixteen workers; the same three limits at 20, so they bind",
  },
  {
    name: "sluice-4x24-1ms",
    ...four,
    limit: WIDE,
    ms: 1,
    note: "four workers, caps wider than all slots, 1 ms of added network delay",
  },
];

async function crowded(setting: Setting, { url, said }: Place, found: CrowdCase): Promise<Row[]> {
  const { name, workers, slots, limit, ms = 0, note } = found;
  const tasks = setting.scaled(found.tasks);
  const far = ms > 0 ? await delayed(url, ms) : undefined;
  try {
    const job: Crowd = { url, tasks, slots, limit, workers, ...(far ? { workerUrl: far.url } : {}) };
    const { tasksPerSecond: value, cost, shares } = await crowd(job);
    const row = { ...said, slots: workers * slots, tasks };
    return [{ name, ...row, value, unit: "tasks/s", cost, note: `${note}; ${shared(shares)}` }];
  } finally {
    far?.stop();
  }
}

function shared(shares: Crowded["shares"]): string {
  const percent = (share = 0): number => Math.round(share * 100);
  return `shares from ${percent(shares[0])} % to ${percent(shares.at(-1))} %`;
}

const twoOnOneFile: Case = {
  name: "embedded-2",
  run: (setting) =>
    inFolder(async ({ url, said }) => {
      const tasks = setting.scaled(60_000);
      const found = await crowd({ url, tasks, slots: 100, limit: WIDE, workers: 2 });
      const { tasksPerSecond: value, cost } = found;
      const note = "two processes on one file, caps wider than all slots";
      return [
        { name: "embedded-2", ...said, slots: 200, tasks, value, unit: "tasks/s", cost, note },
        {
          name: "embedded-2-share",
          ...said,
          value: (found.shares[0] ?? 0) * 100,
          unit: "%",
          note: "of the process that did less",
        },
      ];
    }),
};

export const crowdCases: readonly Case[] = [
  ...crowds.map((found) => ({
    name: found.name,
    quick: found.quick ?? false,
    run: (setting: Setting) =>
      onServer(setting, "postgres", found.name, (place) => crowded(setting, place, found)),
  })),
  twoOnOneFile,
];
