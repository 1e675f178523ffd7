// Two real processes on one SQLite file: neither fails, neither starves, and the limit holds at every
// instant.

import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { expect, test } from "vitest";
import { openSqlite } from "../../src/store/sqlite/index.ts";
import { freshSqlite } from "../support/databases.ts";
import { plainModule } from "../support/plain-module.ts";
import { besideSqlite } from "./tables.ts";

const EACH = 2_000;
const LIMIT = 4;

interface Message {
  readonly ready?: boolean;
  readonly done?: number;
  readonly error?: string;
}

async function start(path: string, name: string): Promise<ChildProcess> {
  const script = await plainModule(new URL("two-processes-child.ts", import.meta.url));
  return fork(script, [path, name, String(EACH)], { execArgv: [] });
}

function said(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    child.once("message", (message: Message) =>
      message.error === undefined ? resolve(message) : reject(new Error(message.error)),
    );
    child.once("exit", (code, signal) => reject(new Error(`the child ended with ${code ?? signal}`)));
  });
}

test("two processes share one file: no error, the limit is reached and never exceeded, each does its part", async () => {
  const path = await freshSqlite();
  const store = await openSqlite(path);
  const gate = { key: "queue:work", limit: LIMIT, line: "skip" } as const;
  await store.declare({ queues: [{ name: "work", rank: 1 }], gates: [gate] });
  // A trigger records the highest number of simultaneous claims.
  const beside = await besideSqlite(path);
  await beside.query("CREATE TABLE most (claims INTEGER NOT NULL)");
  await beside.query("INSERT INTO most VALUES (0)");
  await beside.query(`CREATE TRIGGER watch AFTER INSERT ON sluice_running BEGIN
    UPDATE most SET claims = max(claims, (SELECT count(*) FROM sluice_running)); END`);

  const children = await Promise.all(["a", "b"].map((name) => start(path, name)));
  try {
    await Promise.all(children.map(said));
    for (const child of children) child.send("go");
    const shares = (await Promise.all(children.map(said))).map(({ done }) => done ?? 0);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(2 * EACH);
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(0.3 * 2 * EACH);
    expect(await beside.query("SELECT claims FROM most")).toEqual([{ claims: LIMIT }]);
    const [outcomes] = await beside.query(
      "SELECT count(*) AS n, count(DISTINCT epoch) AS epochs FROM sluice_outcome",
    );
    expect(outcomes).toEqual({ n: 2 * EACH, epochs: 2 * EACH });
    expect(await store.queues()).toMatchObject([{ waiting: 0, running: 0 }]);
  } finally {
    for (const child of children) child.kill("SIGKILL");
    await beside.close();
    await store.close();
  }
});
