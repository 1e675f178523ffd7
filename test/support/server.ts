// A private database server for tests and benchmarks: a new folder, a free port, an unprivileged user, and a
// guaranteed end. The differences between databases are in postgres.ts and mariadb.ts. It imports no test
// runner.

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Account } from "./account.ts";
import { accountFor, freshFolder } from "./account.ts";
import { Keeper } from "./keeper.ts";

export interface StartedServer {
  readonly url: string;
  /** The server's log file, removed with its folder. */
  readonly log: string;
  /** Ends the server by a signal and keeps its data. Resolves when it is gone. */
  halt(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port, after a halt. */
  again(): Promise<void>;
  /** Stops the server and removes its folder. This also happens by itself when the starting process ends. */
  stop(): Promise<void>;
}

export interface ServerKind {
  readonly name: string;
  /** The user that runs it if we are root. */
  readonly user: string;
  /** The signal for a fast but orderly shutdown. */
  readonly stopSignal: NodeJS.Signals;
  /** How to create and serve a database in `folder`. */
  plan(folder: string, account: Account | undefined): ServerPlan;
}

export interface ServerPlan {
  readonly prepare: Program;
  serve(port: number): Program;
  url(port: number): string;
  /** Resolves if the server answers, rejects if it does not. */
  probe(url: string): Promise<unknown>;
}

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

const startTimeoutMs = 60_000;
const portAttempts = 3;

export async function startServer(kind: ServerKind): Promise<StartedServer> {
  const account = accountFor(kind.user);
  const folder = freshFolder(kind.name, account);
  const keeper = new Keeper(folder, account, kind.stopSignal);
  try {
    const { prepare, ...plan } = kind.plan(folder, account);
    const code = await keeper.run(prepare.command, prepare.args);
    if (code !== "0") throw new Error(`${prepare.command} ended with ${code}:\n${keeper.complaint()}`);
    const serving = await serve(keeper, plan);
    keeper.unref();
    return started(keeper, plan, serving);
  } catch (error) {
    await keeper.stop();
    throw error;
  }
}

interface Serving {
  readonly port: number;
  /** Resolves when the server has ended. */
  readonly end: Promise<unknown>;
}

function started(keeper: Keeper, plan: Serves, { port, end: firstEnd }: Serving): StartedServer {
  const url = plan.url(port);
  let end = firstEnd;
  return {
    url,
    log: keeper.log,
    halt: async (signal) => {
      keeper.signal(signal);
      await end;
    },
    again: async () => {
      const { command, args } = plan.serve(port);
      end = keeper.run(command, args);
      if (!(await answers(() => plan.probe(url), end)))
        throw new Error(`${command} did not start again:\n${keeper.complaint()}`);
    },
    stop: () => keeper.stop(),
  };
}

type Serves = Omit<ServerPlan, "prepare">;

async function serve(keeper: Keeper, plan: Serves): Promise<Serving> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const { command, args } = plan.serve(port);
    const url = plan.url(port);
    const end = keeper.run(command, args);
    if (await answers(() => plan.probe(url), end)) return { port, end };
    const complaint = keeper.complaint();
    // Another process may take the port between our check and the server's start.
    if (attempt === portAttempts || !/address already in use/i.test(complaint)) {
      throw new Error(`${command} did not start:\n${complaint}`);
    }
  }
}

/** True once the probe succeeds. False if the server ends first or stays silent. */
async function answers(probe: () => Promise<unknown>, end: Promise<unknown>): Promise<boolean> {
  let ended = false;
  void end.then(() => {
    ended = true;
  });
  const deadline = Date.now() + startTimeoutMs;
  while (!ended && Date.now() < deadline) {
    try {
      await probe();
      return true;
    } catch {
      await sleep(50);
    }
  }
  return false;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
