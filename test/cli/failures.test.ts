// A failing command prints one sentence on stderr and nothing on stdout, and exits with a code that scripts
// can rely on.

import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, test } from "vitest";
import { SCHEMA_VERSION } from "../../src/store/schema.ts";
import { top } from "../support/built-cli.ts";
import {
  describeWithMariadb,
  describeWithPostgres,
  freshMariadb,
  freshPostgres,
} from "../support/databases.ts";
import type { Ended } from "./terminal.ts";
import { newProject, says, sluice } from "./terminal.ts";

const NOBODY = 65_534;

/** Another user needs our command, which may lie in a folder that is private, such as root's home. */
function othersMayEnter(folder: string): boolean {
  const above = dirname(folder);
  return (statSync(folder).mode & 0o005) === 0o005 && (above === folder || othersMayEnter(above));
}

describe("a store that is away is named by", () => {
  const away = "postgres://ann:secret@127.0.0.1:1/x";
  test.each([
    ["tasks", "list"],
    ["tasks", "show", "x"],
    ["tasks", "enqueue", "app.js", "stripe"],
    ["tasks", "cancel", "x"],
    ["tasks", "retry", "x"],
    ["queues", "list"],
    ["queues", "pause", "x"],
    ["queues", "resume", "x"],
    ["limits", "list"],
    ["limits", "set", "cluster", "1"],
    ["limits", "reset", "cluster"],
    ["why", "x"],
    ["pools", "list"],
    ["pools", "info", "x"],
    ["pools", "set", "x", "1"],
    ["queue", "list"],
    ["queue", "cancel", "x"],
    ["queue", "why", "x"],
    ["queue", "priority", "x", "1"],
    ["submit", "app.js", "stripe"],
    ["runs", "list"],
    ["runs", "show", "x"],
    ["runs", "watch", "x"],
    ["runs", "cancel", "x"],
    ["runs", "pause", "x"],
    ["runs", "resume", "x"],
    ["runs", "rerun", "app.js", "x"],
    ["schedules", "list"],
    ["schedules", "pause", "x"],
    ["schedules", "resume", "x"],
    ["schedules", "trigger", "app.js", "x"],
    ["migrate"],
    ["doctor"],
  ])("%s %s", async (...args) => {
    const ends = [[], ["--json"]].map((json) => sluice(newProject(), [...args, "--store", away, ...json]));
    for (const end of ends)
      expect(await end).toEqual(
        failure(
          "STORE_UNREACHABLE",
          "The store postgres://ann:***@127.0.0.1:1/x could not be reached: connect ECONNREFUSED 127.0.0.1:1",
        ),
      );
  });
});

describe("a file", () => {
  test.each([
    [["--store", "file:a.db"], "a.db", " --store file:a.db, or check the path."],
    [["--storage-path", "there"], "there/sluice.db", " --storage-path there, or check the path."],
    [[], ".sluice/storage/sluice.db", ", or name yours with --store or --storage-path."],
  ])(
    "that is not there yet: the advice names a store as the command did (%s)",
    async (named, path, advice) => {
      expect(await sluice(newProject(), ["tasks", "list", ...named])).toEqual(
        failure(
          "NO_STORE",
          `There is no store at ${path} yet. Start one with: npx sluice dev app.js${advice}`,
        ),
      );
    },
  );

  test("that is no database", async () => {
    const project = newProject();
    writeFileSync(join(project, "a.db"), "this is not a database, and it is long enough to be taken for one");
    for (const command of [["tasks", "list"], ["migrate"], ["doctor"]])
      expect(await sluice(project, [...command, "--store", "file:a.db"])).toEqual(
        failure("STORE_REFUSED", "The store file:a.db refused: file is not a database"),
      );
  });

  test("that is a folder", async () => {
    const project = newProject();
    mkdirSync(join(project, "a.db"));
    for (const command of [["queues", "list"], ["migrate"]])
      expect(await sluice(project, [...command, "--store", "file:a.db"])).toEqual(
        failure("STORE_REFUSED", "a.db is not a file."),
      );
  });

  test("that is somebody else's database is left as it is", async () => {
    const project = newProject();
    const database = new DatabaseSync(join(project, "a.db"));
    database.exec("CREATE TABLE mine (a)");
    expect(await sluice(project, ["limits", "list", "--store", "file:a.db"])).toEqual(
      failure(
        "SCHEMA_MISSING",
        `The store has no Sluice tables yet. Run: npx sluice migrate --store file:a.db`,
      ),
    );
    expect(database.prepare("SELECT name FROM sqlite_master").all()).toEqual([{ name: "mine" }]);
    database.close();
  });

  test("that a newer version has written", async () => {
    const project = newProject();
    await says(project, "migrate", "--store", "file:a.db");
    const database = new DatabaseSync(join(project, "a.db"));
    database.exec("INSERT INTO sluice_schema (version, applied_at) VALUES (99, 0)");
    database.close();
    for (const command of [["tasks", "list"], ["doctor"], ["migrate"]])
      expect(await sluice(project, [...command, "--store", "file:a.db"])).toEqual(
        failure(
          "SCHEMA_NEWER",
          `The store has schema 99, newer than this version supports (${SCHEMA_VERSION}). Upgrade sluice.`,
        ),
      );
  });

  test.skipIf(process.getuid?.() !== 0 || !othersMayEnter(top))(
    "that may not be read (only root, in a folder that others may enter, can play somebody else)",
    async () => {
      const project = newProject();
      await says(project, "migrate", "--store", "file:a.db");
      chmodSync(project, 0o755);
      chmodSync(join(project, "a.db"), 0o600);
      expect(await sluice(project, ["tasks", "list", "--store", "file:a.db"], { uid: NOBODY })).toEqual(
        failure(
          "STORE_REFUSED",
          expect.stringMatching(/^a\.db cannot be read and written by user nobody\. Even reading needs both/),
        ),
      );
    },
  );
});

describeWithPostgres("a PostgreSQL", () => {
  test("without the user, the database or our tables", async () => {
    const url = new URL(await freshPostgres());
    const at = (change: (url: URL) => void): string => {
      const other = new URL(url);
      change(other);
      return other.href;
    };
    const project = newProject();
    const list = (store: string): Promise<Ended> => sluice(project, ["tasks", "list", "--store", store]);
    expect((await list(at((other) => Object.assign(other, { username: "mallory" })))).stderr).toMatch(
      /^error STORE_REFUSED: .*: role "mallory" does not exist\n$/,
    );
    expect((await list(at((other) => Object.assign(other, { pathname: "/nowhere" })))).stderr).toMatch(
      /^error STORE_REFUSED: .*: database "nowhere" does not exist\n$/,
    );
    expect(await list(url.href)).toEqual(
      failure(
        "SCHEMA_MISSING",
        `The store has no Sluice tables yet. Run: npx sluice migrate --store ${url.href}`,
      ),
    );
  });
});

describeWithMariadb("a MariaDB", () => {
  test("with another password, or without our tables", async () => {
    const url = await freshMariadb();
    const project = newProject();
    const wrong = Object.assign(new URL(url), { password: "wrong" }).href;
    const denied = await sluice(project, ["doctor", "--store", wrong]);
    expect(denied).toMatchObject({ code: 1, stdout: "" });
    expect(denied.stderr).toMatch(/^error STORE_REFUSED: .*:\*\*\*@.*: Access denied for user /);
    expect((await sluice(project, ["doctor", "--store", url])).stderr).toMatch(/^error SCHEMA_MISSING: /);
  });
});

describe("somebody who is not there", () => {
  test.each([
    [
      ["tasks", "show", "zzz"],
      "UNKNOWN_ID",
      "There is no task zzz in this store. See: npx sluice tasks list",
    ],
    [
      ["tasks", "cancel", "zzz"],
      "UNKNOWN_ID",
      "There is no task zzz in this store. See: npx sluice tasks list",
    ],
    [
      ["tasks", "retry", "zzz"],
      "UNKNOWN_ID",
      "There is no task zzz in this store. See: npx sluice tasks list",
    ],
    [["why", "zzz"], "UNKNOWN_ID", "There is no task or run zzz in this store. See: npx sluice tasks list"],
    [
      ["queues", "pause", "zzz"],
      "UNKNOWN_QUEUE",
      'There is no queue "zzz" in this store. See: npx sluice queues list',
    ],
    [
      ["queues", "resume", "zzz"],
      "UNKNOWN_QUEUE",
      'There is no queue "zzz" in this store. See: npx sluice queues list',
    ],
    [
      ["limits", "reset", "pool:z"],
      "UNKNOWN_GATE",
      'There is no gate "pool:z" in this store: no app declares it and nothing asks for it. See: npx sluice limits list',
    ],
    [
      ["tasks", "enqueue", "app.js", "zzz"],
      "UNKNOWN_TASK",
      'task "zzz" is not part of this app. Add it to defineApp({ tasks: [ … ] }).',
    ],
    [
      ["tasks", "enqueue", "app.js", "emial"],
      "UNKNOWN_TASK",
      'task "emial" is not part of this app. Did you mean "email"? Add it to defineApp({ tasks: [ … ] }).',
    ],
    [["check", "zzz.js"], "NO_APP_FILE", expect.stringMatching(/^There is no file zzz\.js /)],
  ])("%j", async (args, code, sentence) => {
    const project = newProject();
    await says(project, "migrate");
    expect(await sluice(project, args)).toEqual(failure(code, sentence));
  });
});

const failure = (code: string, sentence: unknown): object => ({
  code: 1,
  stdout: "",
  stderr:
    typeof sentence === "string"
      ? `error ${code}: ${sentence}\n`
      : expect.stringMatching(
          new RegExp((sentence as { sample: RegExp }).sample.source.replace(/^\^/, `^error ${code}: `)),
        ),
});
