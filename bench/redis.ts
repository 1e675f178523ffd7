import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { askRedis } from "./redis-ask.ts";

export interface RedisServer {
  readonly url: string;
  /** Stops the server and removes its folder. This also happens by itself when this process ends. */
  stop(): Promise<void>;
}

/** When the log of Redis is synced: once a second, or before each answer. */
export type Fsync = "everysec" | "always";

/** Starts a private Redis with its data in a temporary folder. The caller has checked that there is a binary. */
export async function startRedis(fsync: Fsync): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-redis-"));
  const port = await freePort();
  const keeper = keep(folder, port, fsync);
  const url = `redis://127.0.0.1:${port}`;
  try {
    await answering(url);
  } catch (error) {
    await stop(keeper);
    throw error;
  }
  return { url, stop: () => stop(keeper) };
}

/** The shell waits at the end of our pipe, so the server ends with us even if we are killed. */
function keep(folder: string, port: number, fsync: Fsync): ChildProcess {
  const script =
    'folder=$1; shift; redis-server "$@" & server=$!; read -r _; kill "$server"; wait "$server"; rm -rf "$folder"';
  return spawn("/bin/sh", ["-c", script, "sh", folder, ...settings(port, folder, fsync)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
}

/** The append-only log provides durability. Snapshots and rewrites would only fork in the middle of a run. */
function settings(port: number, folder: string, fsync: Fsync): string[] {
  const values = {
    port: String(port),
    bind: "127.0.0.1",
    dir: folder,
    appendonly: "yes",
    appendfsync: fsync,
    "auto-aof-rewrite-percentage": "0",
    save: "",
  };
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function answering(url: string): Promise<void> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await sleep(25)) {
    if ((await askRedis(url, "PING").catch(() => "")).startsWith("+PONG")) return;
  }
  throw new Error("redis-server did not answer within 10 s");
}

async function stop(keeper: ChildProcess): Promise<void> {
  if (keeper.exitCode !== null || keeper.signalCode !== null) return;
  const ended = once(keeper, "exit");
  keeper.stdin?.end();
  await ended;
}
