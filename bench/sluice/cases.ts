import type { Case } from "../case.ts";
import { serverVersion } from "../database.ts";
import type { Row } from "../table.ts";
import type { Crowded } from "./crowd.ts";
import { crowd } from "./crowd.ts";
import { delayed } from "./delay.ts";
import type { Drained } from "./drain.ts";
import { itemCases } from "./items.ts";
import { child, inFolder, onPostgres, places } from "./place.ts";
import { tenantCases } from "./tenant-cases.ts";

interface DrainShape {
  readonly name: string;
  readonly slots: number;
  readonly tasks: number;
  readonly caps: boolean;
  readonly prefetch?: number;
  /** True to run on the server of this machine's distribution. */
  readonly installed?: boolean;
  readonly note: string;
}

const drains: readonly DrainShape[] = [
  { name: "sluice-24", slots: 24, tasks: 40_000, caps: true, note: "cluster cap, queue cap and a pool on" },
  {
    name: "sluice-24-installed",
    slots: 24,
    tasks: 40_000,
    caps: true,
    installed: true,
    note: "the same on the PostgreSQL that is installed here, with its JIT as it comes",
  },
  { name: "sluice-50", slots: 50, tasks: 60_000, caps: true, note: "cluster cap, queue cap and a pool on" },
  {
    name: "sluice-500",
    slots: 500,
    tasks: 150_000,
    caps: true,
    note: "cluster cap, queue cap and a pool on",
  },
  { name: "sluice-24-off", slots: 24, tasks: 40_000, caps: false, note: "no cap at all" },
  {
    name: "sluice-24-soft",
    slots: 24,
    tasks: 40_000,
    caps: true,
    prefetch: 500,
    note: "soft cap, prefetch 500",
  },
];

const drainCases: Case[] = drains.map(({ name, note, installed = false, ...shape }) => ({
  name,
  run: async (setting) => {
    const server = installed ? setting.installedUrl : setting.postgresUrl;
    if (server === null) throw new Error("no installed PostgreSQL found");
    const version = await serverVersion(server);
    const tasks = setting.scaled(shape.tasks);
    const job = { ...shape, tasks, warmUp: setting.scaled(8_000), runs: setting.runs };
    const { tasksPerSecond: value, all: runs } = await onPostgres(
      setting,
      name,
      (url) => child<Drained>("drain.ts", { ...job, url }),
      server,
    );
    return [{ name, version, slots: shape.slots, tasks, value, unit: "tasks/s", runs, note }];
  },
}));

const crowds = [
  { name: "sluice-4x24", caps: true, ms: 0, note: "four worker processes, caps on" },
  { name: "sluice-4x24-off", caps: false, ms: 0, note: "four worker processes, no cap at all" },
  { name: "sluice-4x24-1ms", caps: true, ms: 1, note: "the same with 1 ms of added network delay" },
];

const crowdCases: Case[] = crowds.map(({ name, caps, ms, note }) => ({
  name,
  run: (setting) =>
    onPostgres(setting, name, async (url) => {
      const tasks = setting.scaled(60_000);
      const far = ms > 0 ? await delayed(url, ms) : undefined;
      try {
        const found = await crowd({
          url,
          tasks,
          slots: 24,
          caps,
          workers: 4,
          ...(far ? { workerUrl: far.url } : {}),
        });
        return [
          {
            name,
            slots: 96,
            tasks,
            value: found.tasksPerSecond,
            unit: "tasks/s",
            note: `${note}; ${shared(found)}`,
          },
        ];
      } finally {
        far?.stop();
      }
    }),
}));

const shared = ({ shares }: Crowded): string =>
  `shares ${shares.map((share) => `${Math.round(share * 100)} %`).join(" ")}`;

const embedded: Case[] = [
  {
    name: "embedded",
    run: (setting) =>
      inFolder(async (url) => {
        const tasks = setting.scaled(150_000);
        const job = {
          url,
          slots: 500,
          caps: true,
          tasks,
          warmUp: setting.scaled(10_000),
          runs: setting.runs,
        };
        const { tasksPerSecond: value, all: runs } = await child<Drained>("drain.ts", job);
        return [
          {
            name: "embedded",
            slots: 500,
            tasks,
            value,
            unit: "tasks/s",
            runs,
            note: "SQLite, synchronous FULL, caps on",
          },
        ];
      }),
  },
  {
    name: "embedded-24",
    run: (setting) =>
      inFolder(async (url) => {
        const tasks = setting.scaled(60_000);
        const job = { url, slots: 24, caps: true, tasks, warmUp: setting.scaled(10_000), runs: setting.runs };
        const { tasksPerSecond: value, all: runs } = await child<Drained>("drain.ts", job);
        return [
          {
            name: "embedded-24",
            slots: 24,
            tasks,
            value,
            unit: "tasks/s",
            runs,
            note: "SQLite, synchronous FULL, caps on",
          },
        ];
      }),
  },
  {
    name: "embedded-2",
    run: (setting) =>
      inFolder(async (url) => {
        const tasks = setting.scaled(60_000);
        const found = await crowd({ url, tasks, slots: 100, caps: true, workers: 2 });
        const least = (found.shares[0] ?? 0) * 100;
        return [
          {
            name: "embedded-2",
            slots: 200,
            tasks,
            value: found.tasksPerSecond,
            unit: "tasks/s",
            note: "two processes on one file",
          },
          { name: "embedded-2-share", value: least, unit: "%", note: "of the process that did less" },
        ];
      }),
  },
];

const lines = [
  { line: "blocked", of: 1_000_000, note: "99 % of the line blocked on one pool of the same queue" },
  { line: "keys", of: 100_000, note: "distinct keys, each with limit 1" },
] as const;

const flatCases: Case[] = lines.map(({ line, of, note }) => ({
  name: `pass-${line}`,
  rounds: 1,
  run: async (setting) => {
    const rows: Row[] = [];
    for (const waiting of [1_000, setting.scaled(of)]) {
      const small = waiting === 1_000;
      const name = `pass-${line}-${small ? "few" : "many"}`;
      const found = await onPostgres(setting, name, (url) =>
        child<{ medianMs: number; p95Ms: number }>("pass.ts", { url, line, waiting, passes: 300 }, 600_000),
      );
      rows.push({
        name,
        tasks: waiting,
        slots: 24,
        value: found.medianMs,
        unit: "ms/pass",
        note: `${note}; p95 ${found.p95Ms.toFixed(1)} ms`,
      });
    }
    return rows;
  },
}));

const handoverCases: Case[] = places("handover").map(({ name, on }) => ({
  name,
  run: (setting) =>
    on(setting, name, async (url) => {
      const found = await child<{ medianMs: number; p95Ms: number }>("handover.ts", {
        url,
        tasks: setting.scaled(1_000),
      });
      return [
        {
          name,
          value: found.medianMs,
          unit: "ms",
          note: `release to next start on a full gate; p95 ${found.p95Ms.toFixed(1)} ms`,
        },
      ];
    }),
}));

export const ourCases: Case[] = [
  ...drainCases,
  ...crowdCases,
  ...embedded,
  ...handoverCases,
  ...flatCases,
  ...tenantCases,
  ...itemCases,
];
