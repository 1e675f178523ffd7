// Locks of other systems, beside our mutexes. They are no queues, so only grants and hand-overs are measured.
import type { Case, Setting } from "../case.ts";
import { inChild } from "../child.ts";
import type { Contended } from "../contend.ts";
import { freshDatabase } from "../database.ts";
import type { Row } from "../row.ts";
import { installed } from "./installed.ts";

export interface Contest {
  readonly url: string;
  readonly clients: number;
  readonly grants: number;
}

const CLIENTS = 4;

interface Lock {
  readonly name: string;
  readonly file: string;
  readonly package: "pg" | "redis-semaphore";
  readonly server: "postgres" | "redis";
  readonly says: string;
}

const locks: readonly Lock[] = [
  {
    name: "advisory-lock",
    file: "advisory-lock.ts",
    package: "pg",
    server: "postgres",
    says: "no lease, no fence, no order; held by a connection",
  },
  {
    name: "redis-lock",
    file: "redis-lock.ts",
    package: "redis-semaphore",
    server: "redis",
    says: "leased; no fence, no order",
  },
];

export const lockCases: readonly Case[] = locks.map((lock) => ({
  name: lock.name,
  run: async (setting) => [await measured(lock, setting)],
}));

async function measured(lock: Lock, setting: Setting): Promise<Row> {
  const version = installed(lock.package);
  if (version === undefined) throw new Error(`${lock.package} is not installed (npm ci in bench/)`);
  const { url: server, ...facts } = await setting.server(lock.server);
  const grants = setting.scaled(4_000);
  const contest = (url: string): Promise<Contended> =>
    inChild<Contended>(new URL(lock.file, import.meta.url), { url, clients: CLIENTS, grants });
  const found =
    lock.server === "redis" ? await contest(server) : await inDatabase(server, lock.name, contest);
  const note = `one lock, ${CLIENTS} clients; hand-over ${found.medianMs.toFixed(1)} ms, p95 ${found.p95Ms.toFixed(1)} ms; ${lock.says}`;
  const system = `${lock.package} ${version}`;
  return {
    name: lock.name,
    system,
    ...facts,
    slots: CLIENTS,
    tasks: grants,
    value: found.perSecond,
    unit: "grants/s",
    note,
  };
}

async function inDatabase<T>(server: string, name: string, work: (url: string) => Promise<T>): Promise<T> {
  const database = await freshDatabase(server, name);
  try {
    return await work(database.url);
  } finally {
    await database.drop();
  }
}
