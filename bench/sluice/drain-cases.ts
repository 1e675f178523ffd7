// One worker and a full line: throughput by slots, caps, payloads, lanes, stores.
import type { Case, Setting } from "../case.ts";
import type { Measured } from "../cost.ts";
import { warmUpOf } from "../measure.ts";
import type { Row } from "../row.ts";
import type { ServerName } from "../servers.ts";
import type { Shape } from "./app.ts";
import { WIDE } from "./app.ts";
import type { Place } from "./place.ts";
import { child, inFolder, onServer } from "./place.ts";

interface DrainCase {
  readonly name: string;
  readonly tasks: number;
  readonly shape: Shape;
  readonly note: string;
  readonly quick?: boolean;
}

const WIDE_CAPS = "cluster cap, queue cap and a pool on, wider than the slots";
const binding = (limit: number): string => `the same three limits at ${limit}, so they bind`;

const onPostgres: readonly DrainCase[] = [
  { name: "sluice-24", tasks: 40_000, shape: { slots: 24, limit: WIDE }, note: WIDE_CAPS, quick: true },
  { name: "sluice-50", tasks: 60_000, shape: { slots: 50, limit: WIDE }, note: WIDE_CAPS, quick: true },
  { name: "sluice-500", tasks: 150_000, shape: { slots: 500, limit: WIDE }, note: WIDE_CAPS, quick: true },
  { name: "sluice-24-off", tasks: 40_000, shape: { slots: 24, limit: null }, note: "no cap at all" },
  { name: "sluice-24-binding", tasks: 40_000, shape: { slots: 24, limit: 20 }, note: binding(20) },
  { name: "sluice-500-binding", tasks: 100_000, shape: { slots: 500, limit: 400 }, note: binding(400) },
  {
    name: "sluice-24-soft",
    tasks: 40_000,
    shape: { slots: 24, limit: WIDE, prefetch: 500 },
    note: "soft cap, prefetch 500; queue cap and a pool on, wider than the slots",
    quick: true,
  },
  {
    name: "sluice-24-soft-binding",
    tasks: 40_000,
    shape: { slots: 24, limit: 20, prefetch: 500 },
    note: "soft cap, prefetch 500; queue cap and a pool at 20, so they bind",
  },
  {
    name: "payload-10k",
    tasks: 15_000,
    shape: { slots: 24, limit: WIDE, payload: 10_000 },
    note: "inputs of 10 kB that do not compress",
  },
  {
    name: "payload-10k-500",
    tasks: 20_000,
    shape: { slots: 500, limit: WIDE, payload: 10_000 },
    note: "inputs of 10 kB that do not compress",
  },
  {
    name: "queues-100",
    tasks: 20_000,
    shape: { slots: 24, limit: WIDE, queues: 100 },
    note: "100 queues with one lane each, tasks in turn",
  },
  {
    name: "lanes-1000",
    tasks: 20_000,
    shape: { slots: 24, limit: WIDE, tenants: 1_000 },
    note: "1,000 lanes in one queue: tenants with a limit of 2 each, tasks in turn",
  },
  {
    name: "queues-100-lanes-1000",
    tasks: 20_000,
    shape: { slots: 24, limit: WIDE, queues: 100, tenants: 1_000 },
    note: "100 queues with ten such lanes each, tasks in turn",
  },
  {
    name: "retries",
    tasks: 20_000,
    shape: { slots: 24, limit: WIDE, retried: true },
    note: "every task fails once and is retried at once: two attempts per task",
  },
];

const OTHER_SERVERS: readonly { name: string; server: ServerName }[] = [
  { name: "sluice-24-installed", server: "installed" },
  { name: "sluice-24-mariadb", server: "mariadb" },
];

const embedded: readonly DrainCase[] = [
  { name: "embedded", tasks: 150_000, shape: { slots: 500, limit: WIDE }, note: WIDE_CAPS, quick: true },
  { name: "embedded-24", tasks: 60_000, shape: { slots: 24, limit: WIDE }, note: WIDE_CAPS },
  { name: "embedded-24-binding", tasks: 60_000, shape: { slots: 24, limit: 20 }, note: binding(20) },
];

const LIMIT_MS = 300_000;

async function drained(setting: Setting, { url, said }: Place, found: DrainCase): Promise<Row[]> {
  const tasks = setting.scaled(found.tasks);
  const job = { url, ...found.shape, tasks, warmUp: warmUpOf(tasks) };
  const { tasksPerSecond: value, cost } = await child<Measured>("drain.ts", job, LIMIT_MS);
  const { name, note, shape } = found;
  return [{ name, ...said, slots: shape.slots, tasks, value, unit: "tasks/s", cost, note }];
}

const onTheServer = (found: DrainCase, server: ServerName): Case => ({
  name: found.name,
  quick: found.quick ?? false,
  run: (setting) => onServer(setting, server, found.name, (place) => drained(setting, place, found)),
});

export const drainCases: readonly Case[] = [
  ...onPostgres.map((found) => onTheServer(found, "postgres")),
  ...OTHER_SERVERS.map(({ name, server }) =>
    onTheServer({ name, tasks: 40_000, shape: { slots: 24, limit: WIDE }, note: WIDE_CAPS }, server),
  ),
  ...embedded.map((found) => ({
    name: found.name,
    quick: found.quick ?? false,
    run: (setting: Setting) => inFolder((place) => drained(setting, place, found)),
  })),
];
