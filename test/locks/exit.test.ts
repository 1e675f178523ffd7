// A program lives while it holds a lock or waits for one, and ends by itself when it does neither. Whoever waits
// costs next to nothing.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../src/index.ts";
import { openMemory } from "../../src/store/memory/index.ts";
import { freshSqlite } from "../support/databases.ts";
import { plainModule } from "../support/plain-module.ts";

test.each(["memory", "SQLite"])("a program with only locks ends by itself, on %s", async (name) => {
  const script = await plainModule(new URL("support/lone-holder.ts", import.meta.url));
  const where = name === "memory" ? "memory" : `file:${await freshSqlite()}`;
  const { stdout } = await promisify(execFile)(process.execPath, [script, where]);
  expect(stdout.trimEnd().split("\n")).toEqual(["held", "LOCK_TIMEOUT", "released", "nothing left to do"]);
});

test("a hundred that wait leave the event loop alone", async () => {
  const sluice = await connect({ store: openMemory() });
  onTestFinished(() => sluice.close());
  const held = await sluice.mutex("door").acquire();
  const abort = new AbortController();
  const waiting = Array.from({ length: 100 }, () => sluice.mutex("door").acquire({ signal: abort.signal }));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(600);
  abort.abort();
  await Promise.allSettled(waiting);
  await held.release();
});
