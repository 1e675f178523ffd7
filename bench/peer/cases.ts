import type { Case, Setting } from "../case.ts";
import { inChild } from "../child.ts";
import { freshDatabase } from "../database.ts";
import type { Row } from "../table.ts";
import type { PeerReport } from "./serve.ts";

interface Peer {
  name: string;
  file: string;
  store: "postgres" | "redis";
  tasks: number;
  slots: number;
  warmUp: number;
  extra?: object;
}

const peers: Peer[] = [
  { name: "graphile-plain", file: "graphile.ts", store: "postgres", tasks: 20_000, slots: 24, warmUp: 3_000 },
  {
    name: "graphile-tuned",
    file: "graphile.ts",
    store: "postgres",
    tasks: 100_000,
    slots: 24,
    warmUp: 20_000,
    extra: { localQueue: 500 },
  },
  // A fetch sorts everything that waits, so pg-boss slows down with its backlog. 5,000 is kind to it.
  {
    name: "pg-boss",
    file: "pgboss.ts",
    store: "postgres",
    tasks: 5_000,
    slots: 24,
    warmUp: 2_000,
    extra: { batch: 24, each: true },
  },
  {
    name: "pg-boss-one-result",
    file: "pgboss.ts",
    store: "postgres",
    tasks: 5_000,
    slots: 24,
    warmUp: 2_000,
    extra: { batch: 24, each: false },
  },
  { name: "bullmq", file: "bullmq.ts", store: "redis", tasks: 30_000, slots: 50, warmUp: 5_000 },
];

export const peerCases: Case[] = peers.map((peer) => ({
  name: peer.name,
  run: async (setting) => [await measured(peer, setting)],
}));

async function measured(peer: Peer, setting: Setting): Promise<Row> {
  const tasks = setting.scaled(peer.tasks);
  const { name, slots } = peer;
  if (peer.store === "redis" && setting.redisUrl === null) {
    return { name, slots, tasks, value: null, unit: "tasks/s", note: "not run: redis-server not found" };
  }
  const report = await withStore(peer, setting, (url) =>
    inChild<PeerReport>(new URL(peer.file, import.meta.url), {
      url,
      tasks,
      slots,
      warmUp: setting.scaled(peer.warmUp),
      runs: setting.runs,
      ...peer.extra,
    }),
  );
  const { tasksPerSecond: value, version, note, all: runs } = report;
  return { name, version, slots, tasks, value, unit: "tasks/s", runs, note };
}

async function withStore<Result>(
  peer: Peer,
  setting: Setting,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  if (peer.store === "redis") return work(setting.redisUrl as string);
  const database = await freshDatabase(setting.postgresUrl, peer.name);
  try {
    return await work(database.url);
  } finally {
    await database.drop();
  }
}
