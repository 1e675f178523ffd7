// The place of a measurement: its own database or folder, and its own process.
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import type { Setting } from "../case.ts";
import { inChild } from "../child.ts";
import { freshDatabase } from "../database.ts";
import type { Row } from "../row.ts";
import type { Facts, ServerName } from "../servers.ts";
import { version } from "./built.ts";

export interface Place {
  readonly url: string;
  /** What rows of this place say about it. */
  readonly said: Facts & { readonly system: string };
}

const system = `Sluice ${version}`;

export const child = <Result>(file: string, options: object, limitMs?: number): Promise<Result> =>
  inChild<Result>(new URL(file, import.meta.url), options, limitMs);

export async function onServer<Result>(
  setting: Setting,
  server: ServerName,
  name: string,
  work: (place: Place) => Promise<Result>,
): Promise<Result> {
  const { url, ...facts } = await setting.server(server);
  const database = await freshDatabase(url, name);
  try {
    return await work({ url: database.url, said: { system, ...facts } });
  } finally {
    await database.drop();
  }
}

/** The embedded store. It sets and verifies `synchronous = FULL` itself. */
export async function inFolder<Result>(work: (place: Place) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-bench-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // Also if a signal ends the run.
  process.once("exit", remove);
  try {
    const said = { system, on: `SQLite ${sqliteVersion()}`, durable: "each commit" };
    return await work({ url: `file:${join(folder, "sluice.db")}`, said });
  } finally {
    process.off("exit", remove);
    remove();
  }
}

/** A case that is measured both on PostgreSQL and on the embedded store. */
export const places = (
  name: string,
): {
  name: string;
  on: (setting: Setting, as: string, work: (place: Place) => Promise<Row[]>) => Promise<Row[]>;
}[] => [
  { name: `${name}-postgres`, on: (setting, as, work) => onServer(setting, "postgres", as, work) },
  { name: `${name}-embedded`, on: (_, __, work) => inFolder(work) },
];

function sqliteVersion(): string {
  const database = new DatabaseSync(":memory:");
  try {
    return (database.prepare("SELECT sqlite_version() AS it").get() as { it: string }).it;
  } finally {
    database.close();
  }
}
