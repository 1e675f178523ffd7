import type { ChildProcess } from "node:child_process";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

export interface RedisServer {
  readonly url: string;
  readonly version: string;
  /** Stops the server and removes its folder. This also happens by itself when this process ends. */
  stop(): Promise<void>;
}

/** Starts a private Redis with its data in a temporary folder. Null if there is no redis-server binary. */
export async function startRedis(): Promise<RedisServer | null> {
  const version = await installedVersion();
  if (version === null) return null;
  const folder = await mkdtemp(join(tmpdir(), "sluice-redis-"));
  const port = await freePort();
  const keeper = keep(folder, port);
  try {
    await answering(port);
  } catch (error) {
    await stop(keeper);
    throw error;
  }
  return { url: `redis://127.0.0.1:${port}`, version, stop: () => stop(keeper) };
}

/** The shell waits at the end of our pipe, so the server ends with us even if we are killed. */
function keep(folder: string, port: number): ChildProcess {
  const script =
    'folder=$1; shift; redis-server "$@" & server=$!; read -r _; kill "$server"; wait "$server"; rm -rf "$folder"';
  return spawn("/bin/sh", ["-c", script, "sh", folder, ...settings(port, folder)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
}

/** The append-only log provides durability. Snapshots on top of it would only fork in the middle of a run. */
function settings(port: number, folder: string): string[] {
  const values = {
    port: String(port),
    bind: "127.0.0.1",
    dir: folder,
    appendonly: "yes",
    appendfsync: "everysec",
    save: "",
  };
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
}

async function installedVersion(): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)("redis-server", ["--version"]);
    return /v=(\S+)/.exec(stdout)?.[1] ?? "unknown";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function answering(port: number): Promise<void> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await sleep(25)) {
    if (await answers(port)) return;
  }
  throw new Error("redis-server did not answer within 10 s");
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    const finish = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => finish(false));
    socket.once("error", () => finish(false));
    socket.once("data", (data) => finish(data.toString().startsWith("+PONG")));
  });
}

async function stop(keeper: ChildProcess): Promise<void> {
  if (keeper.exitCode !== null || keeper.signalCode !== null) return;
  const ended = once(keeper, "exit");
  keeper.stdin?.end();
  await ended;
}
