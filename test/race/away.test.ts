// A store becomes unreachable while it is open. Every call reports this in the same way, with the store's
// address.

import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { createServer, connect as dial } from "node:net";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, test } from "vitest";
import type { Sluice } from "../../src/index.ts";
import { connect, defineApp, task, workflow } from "../../src/index.ts";
import { hostTime, openSqlite } from "../../src/store/sqlite/index.ts";
import {
  describeWithMariadb,
  describeWithPostgres,
  freshMariadb,
  freshPostgres,
  freshSqlite,
} from "../support/databases.ts";

const say = task({ id: "say", run: () => "hello" });
const app = defineApp({
  tasks: [say],
  workflows: [workflow({ id: "w", steps: (s) => s.step("one", say) })],
});

/** What people and programs ask for. */
const ASKS: Readonly<Record<string, (sluice: Sluice) => Promise<unknown>>> = {
  enqueue: (sluice) => sluice.enqueue(say, {} as never),
  submit: (sluice) => sluice.submit("w", {} as never),
  list: (sluice) => sluice.list(),
  get: (sluice) => sluice.get("x"),
  explain: (sluice) => sluice.explain("x"),
  cancel: (sluice) => sluice.cancel("x"),
  "limits.list": (sluice) => sluice.limits.list(),
  "limits.set": (sluice) => sluice.limits.set("cluster", 3, { by: "ann" } as never),
  "runs.list": (sluice) => sluice.runs.list(),
  worker: (sluice) => sluice.worker({ poll: "1h" }),
};

/** A proxy between us and the database that can be switched off. */
async function between(target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const beyond = dial(Number(port), hostname);
    for (const socket of [client, beyond]) sockets.add(socket.on("error", () => {}));
    client.pipe(beyond).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  url.password ||= "secret";
  const goAway = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: url.href, at: url.host, goAway };
}

async function refusals(sluice: Sluice): Promise<unknown[]> {
  return Promise.all(
    Object.values(ASKS).map((ask) =>
      ask(sluice).then(
        () => "answered",
        (error: unknown) => error,
      ),
    ),
  );
}

async function goesAway(fresh: string): Promise<void> {
  const { url, at, goAway } = await between(fresh);
  const sluice = await connect({ store: url, app, migrate: true });
  goAway();
  for (const error of await refusals(sluice)) {
    expect(error).toMatchObject({ name: "SluiceError", code: "STORE_UNREACHABLE" });
    expect((error as Error).message).toContain(at);
    expect((error as Error).message).not.toContain("secret");
  }
  await sluice.close();
}

describeWithPostgres("PostgreSQL", () => {
  test("that goes away is named by everything that asks it", async () => goesAway(await freshPostgres()));
});

describeWithMariadb("MariaDB", () => {
  test("that goes away is named by everything that asks it", async () => goesAway(await freshMariadb()));
});

describe("SQLite", () => {
  test("whose file somebody else keeps locked is named after a while", async () => {
    const path = await freshSqlite();
    const host = hostTime();
    let asleepMs = 0;
    const time = {
      ...host,
      lease: () => host.lease() + asleepMs,
      sleep: async () => {
        asleepMs += 1_000;
      },
    };
    const store = await openSqlite(path, time);
    const sluice = await connect({ store, app });
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    await expect(sluice.enqueue(say, {} as never)).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
      message: `The store ${path} could not be reached: another process has kept it locked for 30s.`,
    });
    other.exec("ROLLBACK");
    other.close();
    await sluice.close();
  });
});
