// Measures all systems on the same servers in one run, each in its own database and process.
//   npm run bench -- [--only name,name] [--quick]

import { availableParallelism, cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import {
  InstalledPostgresNotFound,
  startInstalled,
  start as startPostgres,
} from "../test/support/postgres.ts";
import type { Case, Setting } from "./case.ts";
import { serverVersion } from "./database.ts";
import { percentile } from "./measure.ts";
import { peerCases } from "./peer/cases.ts";
import { startRedis } from "./redis.ts";
import { ourCases } from "./sluice/cases.ts";
import type { Row } from "./table.ts";
import { rowsTable, writeJson } from "./table.ts";
import type { Target } from "./targets.ts";
import { targetsTable } from "./targets.ts";

const targets: Target[] = [
  { label: "24 slots over graphile-worker plain", row: "sluice-24", over: "graphile-plain", atLeast: 4 },
  { label: "500 slots over graphile-worker tuned", row: "sluice-500", over: "graphile-tuned", atLeast: 1.3 },
  { label: "50 slots over BullMQ", row: "sluice-50", over: "bullmq", atLeast: 1 },
  { label: "24 slots over pg-boss", row: "sluice-24", over: "pg-boss", atLeast: 5 },
  { label: "24 slots over pg-boss, one result per batch", row: "sluice-24", over: "pg-boss-one-result" },
  { label: "caps on over caps off, one worker", row: "sluice-24", over: "sluice-24-off", atLeast: 0.85 },
  {
    label: "caps on over caps off, four workers",
    row: "sluice-4x24",
    over: "sluice-4x24-off",
    atLeast: 0.55,
  },
  {
    label: "PostgreSQL 18 over the installed one, 24 slots",
    row: "sluice-24",
    over: "sluice-24-installed",
    atMost: 1.5,
  },
  { label: "soft cap over hard cap, 24 slots", row: "sluice-24-soft", over: "sluice-24" },
  { label: "embedded, tasks/s", row: "embedded", atLeast: 30_000 },
  { label: "embedded, two processes: the smaller part in %", row: "embedded-2-share", atLeast: 30 },
  {
    label: "a pass with 1,000,000 waiting over 1,000",
    row: "pass-blocked-many",
    over: "pass-blocked-few",
    atMost: 2,
  },
  { label: "a pass with 100,000 keys over 1,000", row: "pass-keys-many", over: "pass-keys-few", atMost: 2 },
  { label: "release to next start, PostgreSQL, ms", row: "handover-postgres", atMost: 10 },
  { label: "release to next start, embedded, ms", row: "handover-embedded", atMost: 2 },
  {
    label: "1,000 runs in line over 10, PostgreSQL",
    row: "tenants-postgres-many",
    over: "tenants-postgres-few",
    atMost: 2,
  },
  {
    label: "1,000 runs in line over 10, embedded",
    row: "tenants-embedded-many",
    over: "tenants-embedded-few",
    atMost: 2,
  },
  { label: "1,000 runs in line, idle, PostgreSQL, %", row: "tenants-postgres-many-idle", atMost: 5 },
  { label: "1,000 runs in line, idle, embedded, %", row: "tenants-embedded-many-idle", atMost: 5 },
  { label: "four workers with 1 ms of network delay, tasks/s", row: "sluice-4x24-1ms" },
  { label: "handing over item 99,990 over item 10", row: "items-late", over: "items-early", atMost: 1.5 },
  {
    label: "a look at its run, item 99,990 over item 10",
    row: "items-late-look",
    over: "items-early-look",
    atMost: 1.5,
  },
  {
    label: "10,000 items over 10,000 tasks, PostgreSQL, time",
    row: "items-window",
    over: "items-window-tasks",
    atMost: 1.5,
  },
  {
    label: "10,000 items over 10,000 tasks, embedded, time",
    row: "items-window-embedded",
    over: "items-window-embedded-tasks",
    atMost: 1.5,
  },
];

const { values: flags } = parseArgs({
  options: { only: { type: "string" }, quick: { type: "boolean", default: false } },
});
const rounds = flags.quick ? 1 : 3;
const cases = chosen([...peerCases, ...ourCases], flags.only);

const postgres = await startPostgres();
const installed = await startInstalled().catch((error: unknown) => {
  if (error instanceof InstalledPostgresNotFound) return undefined;
  throw error;
});
try {
  const redis = await startRedis();
  try {
    const machine = await described(postgres.url, redis?.version ?? "not found");
    console.log(`${machine}\n`);
    const rows = await measured({
      postgresUrl: postgres.url,
      installedUrl: installed?.url ?? null,
      redisUrl: redis?.url ?? null,
      scaled: (tasks) => (flags.quick ? Math.ceil(tasks / 5) : tasks),
      runs: 1,
    });
    console.log(`\n${rowsTable(rows)}\n\n${targetsTable(targets, rows)}`);
    const file = fileURLToPath(new URL("results/latest.json", import.meta.url));
    await writeJson(file, { at: new Date().toISOString(), machine, quick: flags.quick, rows });
    console.log(`\nwritten to ${file}`);
  } finally {
    await redis?.stop();
  }
} finally {
  await installed?.stop();
  await postgres.stop();
}

function chosen(all: Case[], only: string | undefined): Case[] {
  if (only === undefined) return all;
  const names = only.split(",").map((name) => name.trim());
  const unknown = names.filter((name) => !all.some((each) => each.name === name));
  if (unknown.length > 0) {
    console.error(`unknown: ${unknown.join(", ")}. There are: ${all.map((each) => each.name).join(", ")}`);
    process.exit(2);
  }
  return all.filter((each) => names.includes(each.name));
}

/**
 * Runs every case once per round. If the machine is slower for a minute, it is slower for all of them, and
 * the medians stay comparable.
 */
async function measured(setting: Setting): Promise<Row[]> {
  const found = new Map<string, Row[]>();
  for (let round = 1; round <= rounds; round += 1) {
    for (const each of cases) {
      if (round > (each.rounds ?? rounds)) continue;
      process.stdout.write(`round ${round}: ${each.name} ... `);
      const rows = await rowsOf(each, setting);
      console.log(
        rows.map((row) => (row.value === null ? row.note : `${row.value.toFixed(1)} ${row.unit}`)).join(", "),
      );
      for (const row of rows) found.set(row.name, [...(found.get(row.name) ?? []), row]);
    }
  }
  return [...found.values()].map(medianRow);
}

function medianRow(rows: Row[]): Row {
  const runs = rows.flatMap(({ value }) => (value === null ? [] : [value]));
  const last = rows.at(-1) as Row;
  return runs.length === 0 ? last : { ...last, value: percentile(runs, 0.5), runs };
}

/** A case that fails must not discard the figures of the others. */
async function rowsOf(each: Case, setting: Setting): Promise<Row[]> {
  try {
    return await each.run(setting);
  } catch (error) {
    return [{ name: each.name, value: null, unit: "", note: `not measured: ${(error as Error).message}` }];
  }
}

async function described(postgresUrl: string, redisVersion: string): Promise<string> {
  return [
    `${availableParallelism()} CPUs (${cpus()[0]?.model.trim() ?? "unknown"})`,
    `Node ${process.versions.node}`,
    `PostgreSQL ${await serverVersion(postgresUrl)}`,
    `Redis ${redisVersion}`,
    // If the machine was already busy, that explains otherwise odd figures.
    `load ${loadavg()[0]?.toFixed(1)} before the run`,
  ].join(", ");
}
