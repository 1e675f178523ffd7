// The place of a measurement: its own database or folder, and its own process.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Setting } from "../case.ts";
import { inChild } from "../child.ts";
import { freshDatabase } from "../database.ts";
import type { Row } from "../table.ts";

export const child = <Result>(file: string, options: object, limitMs?: number): Promise<Result> =>
  inChild<Result>(new URL(file, import.meta.url), options, limitMs);

export async function onPostgres<Result>(
  setting: Setting,
  name: string,
  work: (url: string) => Promise<Result>,
  server = setting.postgresUrl,
): Promise<Result> {
  const database = await freshDatabase(server, name);
  try {
    return await work(database.url);
  } finally {
    await database.drop();
  }
}

export async function inFolder<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-bench-"));
  try {
    return await work(`file:${join(folder, "sluice.db")}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A case that is measured both on PostgreSQL and on the embedded store. */
export const places = (
  name: string,
): {
  name: string;
  on: (setting: Setting, as: string, work: (url: string) => Promise<Row[]>) => Promise<Row[]>;
}[] => [
  { name: `${name}-postgres`, on: (setting, as, work) => onPostgres(setting, as, work) },
  { name: `${name}-embedded`, on: (_, __, work) => inFolder(work) },
];
