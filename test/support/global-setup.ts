// Starts the database servers once per test run, in parallel, and tells the test files where they are.
// SLUICE_TEST_POSTGRES, SLUICE_TEST_POSTGRES_INSTALLED and SLUICE_TEST_MARIADB: a URL uses that server
// instead, "off" skips its suites.

import { appendFileSync, chmodSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { openMysql } from "../../src/store/mysql/index.ts";
import { openPostgres } from "../../src/store/postgres/index.ts";
import { top } from "./built-cli.ts";
import type { MariadbTemplate } from "./create-database.ts";
import {
  createMariadb,
  createPostgres,
  dropMariadbs,
  dropPostgreses,
  mariadbTemplate,
} from "./create-database.ts";
import { start as startMariadb } from "./mariadb.ts";
import { findPgbouncer } from "./pgbouncer.ts";
import { plainSource } from "./plain-source.ts";
import { startInstalled, start as startPostgres } from "./postgres.ts";
import type { StartedServer } from "./server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Null if PostgreSQL is not available. Then `postgresMissing` says why. */
    postgresUrl: string | null;
    postgresMissing: string;
    /** A database with our tables, to be copied. */
    migratedPostgres: string | null;
    /** The PostgreSQL of this machine's distribution. */
    installedUrl: string | null;
    installedMissing: string;
    migratedInstalled: string | null;
    mariadbUrl: string | null;
    mariadbMissing: string;
    migratedMariadb: MariadbTemplate | null;
    /** The prefix of every database this run creates, so that it can remove them again. */
    databasePrefix: string;
    /** A folder of this run for the output of plain-module.ts. */
    plainModules: string;
  }
}

type Server =
  | { readonly url: string; stop(): Promise<void> }
  | { readonly url: null; readonly missing: string };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const prefix = `sluice_test_${process.pid}_${Date.now().toString(36)}_`;
  const [postgres, installed, mariadb] = await Promise.all([
    open("PostgreSQL", "SLUICE_TEST_POSTGRES", startPostgres, (url) => dropPostgreses(url, prefix)),
    open("installed PostgreSQL", "SLUICE_TEST_POSTGRES_INSTALLED", startInstalled, (url) =>
      dropPostgreses(url, prefix),
    ),
    open("MariaDB", "SLUICE_TEST_MARIADB", startMariadb, (url) => dropMariadbs(url, prefix)),
  ]);
  const [migratedPostgres, migratedInstalled, migratedMariadb] = await Promise.all([
    postgres.url === null ? null : inPostgres(postgres.url, prefix),
    installed.url === null ? null : inPostgres(installed.url, prefix),
    mariadb.url === null ? null : inMariadb(mariadb.url, prefix),
  ]);
  if (!findPgbouncer()) tellSkipped("PgBouncer", "pgbouncer was not found (apt-get install pgbouncer)");
  const plainModules = newModuleFolder();
  // Read by vitest.config.ts. In watch mode, tests import the sources themselves.
  if (!project.vitest.config.watch) process.env.SLUICE_TEST_PLAIN_SOURCE = await plainSource(plainModules);
  project.provide("plainModules", plainModules);
  project.provide("databasePrefix", prefix);
  project.provide("postgresUrl", postgres.url);
  project.provide("postgresMissing", postgres.url === null ? postgres.missing : "");
  project.provide("migratedPostgres", migratedPostgres);
  project.provide("installedUrl", installed.url);
  project.provide("installedMissing", installed.url === null ? installed.missing : "");
  project.provide("migratedInstalled", migratedInstalled);
  project.provide("mariadbUrl", mariadb.url);
  project.provide("mariadbMissing", mariadb.url === null ? mariadb.missing : "");
  project.provide("migratedMariadb", migratedMariadb);
  return async () => {
    rmSync(plainModules, { recursive: true, force: true });
    await Promise.all(
      [postgres, installed, mariadb].map((server) => (server.url === null ? undefined : server.stop())),
    );
  };
}

async function inPostgres(server: string, prefix: string): Promise<string> {
  const url = await createPostgres(server, prefix);
  const store = openPostgres({ url });
  await store.migrate();
  await store.close();
  return url;
}

async function inMariadb(server: string, prefix: string): Promise<MariadbTemplate> {
  const url = await createMariadb(server, prefix);
  const store = openMysql({ url });
  await store.migrate();
  await store.close();
  return mariadbTemplate(url);
}

/** Modules in this folder find the same packages as ours. */
function newModuleFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sluice-modules-"));
  // One test starts the command as another user.
  chmodSync(folder, 0o755);
  symlinkSync(join(top, "node_modules"), join(folder, "node_modules"), "dir");
  return folder;
}

async function open(
  name: string,
  variable: string,
  start: () => Promise<StartedServer>,
  tidy: (url: string) => Promise<void>,
): Promise<Server> {
  const given = process.env[variable];
  if (given === "off") return without(name, `switched off by ${variable}`);
  // A server that is not ours keeps running and is left as it was found.
  if (given) return { url: given, stop: () => tidy(given) };
  try {
    return await start();
  } catch (error) {
    return without(name, error instanceof Error ? error.message : String(error));
  }
}

function without(name: string, why: string): Server {
  tellSkipped(name, why);
  return { url: null, missing: why };
}

function tellSkipped(name: string, why: string): void {
  const note = `The ${name} suites were skipped: ${why}`;
  console.log(note);
  // scripts/test.mjs repeats this note at the very end, where it is read.
  const notes = process.env.SLUICE_TEST_NOTES;
  if (notes) appendFileSync(notes, `${note}\n`);
}
