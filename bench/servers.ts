// The database servers of a run. Each one is private, starts at its first use, listens on loopback only, and
// ends with this process.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { start as startMariadb } from "../test/support/mariadb.ts";
import { startInstalled, start as startPostgres } from "../test/support/postgres.ts";
import { mariadbFacts, postgresFacts, redisFacts } from "./facts.ts";
import { startRedis } from "./redis.ts";

export type ServerName = keyof typeof STARTS;

export interface Facts {
  /** The kind and version, as the server itself reports them. */
  readonly on: string;
  /** When a commit or an answer survives a crash of the host, by the server's settings in force. */
  readonly durable: string;
}

export interface Server extends Facts {
  readonly url: string;
}

interface Started {
  readonly url: string;
  stop(): Promise<void>;
}

interface Start {
  start(): Promise<Started>;
  facts(url: string): Promise<Facts>;
}

const STARTS = {
  postgres: { start: startPostgres, facts: postgresFacts },
  installed: { start: startInstalled, facts: postgresFacts },
  mariadb: { start: startMariadb, facts: mariadbFacts },
  redis: { start: () => redis("everysec"), facts: redisFacts },
  "redis-always": { start: () => redis("always"), facts: redisFacts },
} satisfies Record<string, Start>;

export class Servers {
  readonly #started = new Map<ServerName, Promise<{ server: Server; stop(): Promise<void> }>>();

  /** Fails in words if this machine lacks the server. It fails again, without another try, when asked again. */
  async get(name: ServerName): Promise<Server> {
    const starting = this.#started.get(name) ?? begin(STARTS[name]);
    this.#started.set(name, starting);
    return (await starting).server;
  }

  async stop(): Promise<void> {
    const all = await Promise.allSettled(this.#started.values());
    await Promise.all(all.map((each) => (each.status === "fulfilled" ? each.value.stop() : undefined)));
  }
}

async function begin({ start, facts }: Start): Promise<{ server: Server; stop(): Promise<void> }> {
  const started = await start();
  return { server: { url: started.url, ...(await facts(started.url)) }, stop: () => started.stop() };
}

async function redis(fsync: "everysec" | "always"): Promise<Started> {
  const folders = (process.env.PATH ?? "").split(delimiter);
  if (!folders.some((folder) => existsSync(join(folder, "redis-server"))))
    throw new Error("no redis-server found (apt-get install redis-server)");
  return startRedis(fsync);
}
