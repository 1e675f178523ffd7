// The peers, each with the settings that its own documentation recommends for speed.
import type { Case, Setting } from "../case.ts";
import { inChild } from "../child.ts";
import { freshDatabase } from "../database.ts";
import { warmUpOf } from "../measure.ts";
import type { Row } from "../row.ts";
import type { ServerName } from "../servers.ts";
import { installed } from "./installed.ts";
import type { PeerResult } from "./serve.ts";

interface Peer {
  readonly name: string;
  readonly file: string;
  readonly package: "graphile-worker" | "pg-boss" | "bullmq";
  readonly server: ServerName;
  readonly tasks: number;
  readonly slots: number;
  readonly unit?: string;
  readonly extra?: object;
  readonly quick?: boolean;
}

const graphile = { file: "graphile.ts", package: "graphile-worker", server: "postgres", slots: 24 } as const;
// A fetch sorts everything that waits, so pg-boss slows down with its backlog. 5,000 is kind to it.
const pgBoss = {
  file: "pgboss.ts",
  package: "pg-boss",
  server: "postgres",
  tasks: 5_000,
  slots: 24,
} as const;
const bullmq = { file: "bullmq.ts", package: "bullmq", slots: 50 } as const;
/** The settings with which the project measures itself: 24 slots, a local queue of 500, batched completions. */
const TUNED = { localQueue: 500 };

const peers: readonly Peer[] = [
  { name: "graphile-plain", ...graphile, tasks: 20_000, quick: true },
  { name: "graphile-tuned", ...graphile, tasks: 100_000, extra: TUNED, quick: true },
  { name: "graphile-plain-10k", ...graphile, tasks: 10_000, extra: { payload: 10_000 } },
  { name: "graphile-tuned-10k", ...graphile, tasks: 20_000, extra: { ...TUNED, payload: 10_000 } },
  { name: "pg-boss", ...pgBoss, extra: { batch: 24, each: true } },
  { name: "pg-boss-one-result", ...pgBoss, extra: { batch: 24, each: false } },
  {
    name: "graphile-enqueue-32",
    ...graphile,
    file: "graphile-enqueue.ts",
    tasks: 10_000,
    slots: 32,
    unit: "calls/s",
  },
  { name: "bullmq", ...bullmq, server: "redis", tasks: 30_000, quick: true },
  { name: "bullmq-always", ...bullmq, server: "redis-always", tasks: 10_000 },
];

export const peerCases: readonly Case[] = peers.map((peer) => ({
  name: peer.name,
  quick: peer.quick ?? false,
  run: async (setting) => [await measured(peer, setting)],
}));

async function measured(peer: Peer, setting: Setting): Promise<Row> {
  const { name, slots, unit = "tasks/s" } = peer;
  const version = installed(peer.package);
  if (version === undefined) throw new Error(`${peer.package} is not installed (npm ci in bench/)`);
  const { url: server, ...facts } = await setting.server(peer.server);
  const tasks = setting.scaled(peer.tasks);
  const {
    tasksPerSecond: value,
    cost,
    note,
  } = await withStore(peer, server, (url) => {
    const job = { url, tasks, slots, warmUp: warmUpOf(tasks), ...peer.extra };
    return inChild<PeerResult>(new URL(peer.file, import.meta.url), job);
  });
  const system = `${peer.package} ${version}`;
  return { name, system, ...facts, slots, tasks, value, unit, cost, note };
}

async function withStore<Result>(
  peer: Peer,
  server: string,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  // Every run of a peer on Redis has its own queue, and no other peer uses that server.
  if (peer.package === "bullmq") return work(server);
  const database = await freshDatabase(server, peer.name);
  try {
    return await work(database.url);
  } finally {
    await database.drop();
  }
}
