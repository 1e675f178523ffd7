// A worker in a program of one's own keeps it alive on every store, until the worker is stopped.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import {
  describeWithMariadb,
  describeWithPostgres,
  freshSqlite,
  migratedMariadb,
  migratedPostgres,
} from "../support/databases.ts";
import { plainModule } from "../support/plain-module.ts";

async function linesOf(where: string, how: "close" | "stop"): Promise<string[]> {
  const script = await plainModule(new URL("support/lone-worker.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, where, how]);
  return stdout.trimEnd().split("\n");
}

const WHOLE_LIFE = ["working", "rang", "stopped", "nothing left to do"];

/** A store in this process has nothing that outlives a stopped worker. A server's connections end with `close`. */
function suite(place: () => Promise<string>, ways: readonly ("close" | "stop")[]): void {
  test.each(ways)("a program with only a worker lives until the worker ends, by %s", async (how) => {
    expect(await linesOf(await place(), how)).toEqual(WHOLE_LIFE);
  });
}

describe("on memory", () => suite(async () => "memory", ["close", "stop"]));
describe("on SQLite", () => suite(async () => `file:${await freshSqlite()}`, ["close", "stop"]));
describeWithPostgres("on PostgreSQL", () => suite(migratedPostgres, ["close"]));
describeWithMariadb("on MariaDB", () => suite(migratedMariadb, ["close"]));
