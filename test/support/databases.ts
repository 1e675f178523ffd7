// A separate database for every test that asks, and a skip with a reason if a server is missing.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, inject } from "vitest";
import { copyMariadb, copyPostgres, createMariadb, createPostgres } from "./create-database.ts";

/** The URL of a new, empty database. It is removed with the server at the end of the run. */
export function freshPostgres(): Promise<string> {
  return createPostgres(given(inject("postgresUrl"), "PostgreSQL"), inject("databasePrefix"));
}

/** The URL of a new, empty database on the PostgreSQL of this machine's distribution. */
export function freshInstalled(): Promise<string> {
  return createPostgres(given(inject("installedUrl"), "an installed PostgreSQL"), inject("databasePrefix"));
}

/**
 * The URL of a new database with our tables. It is a copy, which takes a fraction of the time of a migration.
 */
export function migratedPostgres(): Promise<string> {
  return copyPostgres(given(inject("migratedPostgres"), "PostgreSQL"), inject("databasePrefix"));
}

/** The same on the PostgreSQL of this machine's distribution. */
export function migratedInstalled(): Promise<string> {
  return copyPostgres(
    given(inject("migratedInstalled"), "an installed PostgreSQL"),
    inject("databasePrefix"),
  );
}

/** The URL of a new, empty database. It is removed with the server at the end of the run. */
export function freshMariadb(): Promise<string> {
  return createMariadb(given(inject("mariadbUrl"), "MariaDB"), inject("databasePrefix"));
}

/** The URL of a new database with our tables. */
export function migratedMariadb(): Promise<string> {
  return copyMariadb(given(inject("migratedMariadb"), "MariaDB"), inject("databasePrefix"));
}

/** The path of a file that does not exist yet, in a folder that is removed after this test file. */
export async function freshSqlite(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-sqlite-"));
  folders.push(folder);
  return join(folder, "sluice.db");
}

/** `describe`, or one skipped line that says why. */
export function describeWithPostgres(name: string, suite: () => void): void {
  describeWith(name, suite, inject("postgresUrl") === null ? inject("postgresMissing") : undefined);
}

/** `describe`, or one skipped line that says why. */
export function describeWithInstalled(name: string, suite: () => void): void {
  describeWith(name, suite, inject("installedUrl") === null ? inject("installedMissing") : undefined);
}

/** `describe`, or one skipped line that says why. */
export function describeWithMariadb(name: string, suite: () => void): void {
  describeWith(name, suite, inject("mariadbUrl") === null ? inject("mariadbMissing") : undefined);
}

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function describeWith(name: string, suite: () => void, missing: string | undefined): void {
  if (missing === undefined) describe(name, suite);
  else describe.skip(`${name} (skipped: ${missing.split("\n")[0]})`, suite);
}

function given<T>(found: T | null, name: string): T {
  if (found === null) throw new Error(`${name} is not available here; put the test inside its describeWith`);
  return found;
}
