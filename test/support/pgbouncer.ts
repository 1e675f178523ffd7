// A private PgBouncer in transaction mode in front of a test server (Debian: pgbouncer).

import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import pg from "pg";
import type { StartedServer } from "./server.ts";
import { startServer } from "./server.ts";

export function findPgbouncer(): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  return folders.map((folder) => join(folder, "pgbouncer")).find((path) => existsSync(path));
}

/**
 * Serves the database at `url` through a pooler that lends a connection for one transaction at a time.
 * `lines` adds settings.
 */
export async function startPgbouncer(url: string, lines: readonly string[] = []): Promise<StartedServer> {
  const command = findPgbouncer();
  if (!command) throw new Error("PgBouncer not found (apt-get install pgbouncer)");
  const { hostname, port, pathname } = new URL(url);
  return startServer({
    name: "pgbouncer",
    user: "postgres",
    stopSignal: "SIGTERM",
    plan: (folder) => {
      const file = join(folder, "pgbouncer.ini");
      return {
        prepare: { command: "true", args: [] },
        serve: (own) => {
          const text = [
            "[databases]",
            `* = host=${hostname} port=${port} user=postgres`,
            "[pgbouncer]",
            "listen_addr = 127.0.0.1",
            `listen_port = ${own}`,
            "unix_socket_dir =",
            "auth_type = any",
            "pool_mode = transaction",
            "default_pool_size = 4",
            ...lines,
          ];
          writeFileSync(file, `${text.join("\n")}\n`, { mode: 0o644 });
          return { command, args: [file] };
        },
        url: (own) => `postgres://postgres@127.0.0.1:${own}${pathname}`,
        probe: async (to) => {
          const client = new pg.Client({ connectionString: to, connectionTimeoutMillis: 2_000 });
          await client.connect();
          await client.end();
        },
      };
    },
  });
}
