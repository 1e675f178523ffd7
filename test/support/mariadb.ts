// A private MariaDB from the machine's own binaries (Debian: mariadb-server-core and mariadb-client-core).
// The machine's own service, its configuration and its data are never touched.

import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import mysql from "mysql2/promise";
import type { ServerPlan, StartedServer } from "./server.ts";
import { startServer } from "./server.ts";

/** Thrown if MariaDB is not installed. */
export class MariadbNotFound extends Error {
  constructor() {
    super("MariaDB not found (apt-get install mariadb-server-core mariadb-client-core)");
  }
}

/** `more` adds settings, as on the command line. */
export async function start(more: readonly string[] = []): Promise<StartedServer> {
  const server = find("mariadbd");
  const installer = find("mariadb-install-db");
  // The installer is a script that needs my_print_defaults, which Debian ships in another package.
  if (!server || !installer || !find("my_print_defaults")) throw new MariadbNotFound();
  return startServer({
    name: "mariadb",
    user: "mysql",
    stopSignal: "SIGTERM",
    plan: (folder) => plan(folder, server, installer, more),
  });
}

function plan(folder: string, server: string, installer: string, more: readonly string[]): ServerPlan {
  const data = join(folder, "data");
  const setup = join(folder, "setup.sql");
  writeFileSync(setup, accountStatements, { mode: 0o644 });
  return {
    prepare: {
      command: installer,
      args: [
        "--no-defaults",
        `--datadir=${data}`,
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
      ],
    },
    serve: (port) => ({
      command: server,
      args: ["--no-defaults", ...settings({ port, folder, data, setup }), ...more],
    }),
    url: (port) => `mysql://sluice:sluice@127.0.0.1:${port}/mysql`,
    probe,
  };
}

// Without name resolution, a TCP client is "127.0.0.1", never "localhost", so only '%' matches.
const accountStatements = `CREATE USER IF NOT EXISTS 'sluice'@'%' IDENTIFIED BY 'sluice';
GRANT ALL PRIVILEGES ON *.* TO 'sluice'@'%' WITH GRANT OPTION;
`;

function settings(at: { port: number; folder: string; data: string; setup: string }): string[] {
  return [
    `--datadir=${at.data}`,
    `--init-file=${at.setup}`,
    `--socket=${join(at.folder, "mariadb.sock")}`,
    `--pid-file=${join(at.folder, "mariadb.pid")}`,
    `--tmpdir=${at.folder}`,
    "--skip-networking=0",
    "--bind-address=127.0.0.1",
    `--port=${at.port}`,
    "--skip-name-resolve",
    "--max-connections=300",
    "--innodb-flush-log-at-trx-commit=1",
    "--innodb-buffer-pool-size=256M",
    "--skip-log-bin",
    // As set by Debian and the official image. With --no-defaults alone it would be latin1.
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_general_ci",
  ];
}

async function probe(url: string): Promise<void> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: 2_000 });
  await connection.end();
}

function find(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/bin", "/usr/local/bin"];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}
