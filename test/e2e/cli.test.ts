// The command line as a person uses it: the built `sluice` as a child process, in its own project, on an
// embedded store that a worker uses at the same time.

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/api/connect.ts";
import type { Sluice } from "../../src/api/sluice.ts";
import type { App } from "../../src/core/app/app.ts";
import { SCHEMA_VERSION } from "../../src/store/schema.ts";
import { top } from "../support/built-cli.ts";
import { bundledCli, bundledPackage } from "../support/bundled-package.ts";
import { describeWithPostgres, freshPostgres } from "../support/databases.ts";
import { childrenOf, kill } from "../support/processes.ts";

let cli = "";
const projects: string[] = [];
const workers: Running[] = [];
const programs = new Map<string, Promise<Sluice>>();

beforeAll(async () => {
  cli = await bundledCli();
});

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.kill()));
});

afterAll(async () => {
  for (const program of programs.values()) await (await program).close();
  for (const folder of projects) rmSync(folder, { recursive: true, force: true });
});

/** Each task ends when the file it names appears, so a test decides how long it runs. */
const APP = `
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineApp, task } from "sluice";

const hold = async ({ until }: { until: string }, { signal }: { signal: AbortSignal }): Promise<string> => {
  while (!existsSync(until)) await sleep(5, undefined, { signal });
  return until;
};
const charge = task({ id: "charge", queue: "stripe", pools: { database: 2 }, run: hold });
const report = task({ id: "report", queue: "reports", pools: { database: 1 }, run: hold });
const echo = task({ id: "echo", queue: "reports", run: (text: string) => text });
const fail = task({ id: "fail", queue: "reports", run: () => { throw new Error("no luck\\u001b[31m today"); } });

export default defineApp({
  tasks: [charge, report, echo, fail],
  clusterCap: 15,
  queues: { stripe: { rank: 1, maxConcurrency: 1 }, reports: { rank: 100, maxConcurrency: 10 } },
  pools: { database: { limit: 3 } },
});
export const onDev = async (sluice: { enqueue(task: unknown, input: unknown): Promise<unknown> }) => {
  await sluice.enqueue(echo, "from onDev");
};
`;

describe("while a worker runs", () => {
  test("why names every gate in the way, and what is left after each is lifted", async () => {
    const project = newProject();
    const dev = await startDev(project);
    const first = await enqueue(project, "charge", { until: "first" });
    await dev.says(`${first}  started`);
    const second = await enqueue(project, "charge", { until: "second" });

    const blocked = (await sluice(project, "why", second)).stdout;
    expect(blocked).toContain(`charge ${second} has been waiting in queue "stripe" for `);
    expect(blocked).toMatch(
      new RegExp(`queue "stripe" is full: 1 of 1 slots held \\(by ${first} charge for \\d+`),
    );
    expect(blocked).toContain('pool "database" has no room for 2 slots: 2 of 3 held');
    expect(blocked).toContain("      npx sluice limits set queue:stripe 2\n");
    expect(blocked).toContain("      npx sluice limits set pool:database 4\n");
    expect(gatesOf(await json(project, "why", second))).toEqual(["pool:database", "queue:stripe"]);

    const set = await sluice(project, "limits", "set", "queue:stripe", "2", "--by", "ann");
    expect(set.stdout).toBe("queue:stripe: 1 → 2\n");
    expect(gatesOf(await json(project, "why", second))).toEqual(["pool:database"]);

    await sluice(project, "limits", "set", "pool:database", "4");
    await dev.says(`${second}  started`);
    expect((await sluice(project, "why", second)).stdout).toMatch(/has been running for \d+\w+ on worker /);

    touch(project, "first", "second");
    await dev.says(`${second}  done in `);
    await until(async () => (await stateOf(project, second)) === "succeeded");
    const ended = (await sluice(project, "why", second)).stdout;
    expect(ended).toMatch(new RegExp(`^charge ${second} succeeded \\d+\\w+ ago, on attempt 1\\.`));
    expect(ended).toMatch(/Waited at gates: \d+m?s on (queue "stripe"|pool "database"), /);
  });

  test("a limit of 0 pauses, a lower one drains, and both say so", async () => {
    const project = newProject();
    const dev = await startDev(project);
    const ids = [];
    for (const n of [1, 2, 3]) ids.push(await enqueue(project, "report", { until: `r${n}` }));
    for (const id of ids) await dev.says(`${id}  started`);

    const lowered = await sluice(project, "limits", "set", "pool:database", "1", "--by", "ann");
    expect(lowered.stdout).toBe(
      "pool:database: 3 → 1, draining: 3 held. Running work continues; nothing new starts until enough of it has ended.\n",
    );
    expect((await sluice(project, "limits", "list")).stdout).toMatch(
      /^pool:database +3\/1 draining +bypass +operator ann \d+m?s ago \(app default: 3\)$/m,
    );
    const waiting = await enqueue(project, "report", { until: "r4" });
    expect((await sluice(project, "why", waiting)).stdout).toContain(
      'pool "database" is draining: 3 of 1 held',
    );

    const paused = await sluice(project, "limits", "set", "pool:database", "0");
    expect(paused.stdout).toBe(
      "pool:database: 1 → 0, paused: nothing new starts. 3 slots still held; running work continues. To resume: npx sluice limits reset pool:database\n",
    );
    touch(project, "r1", "r2", "r3");
    for (const id of ids) await dev.says(`${id}  done in`);
    for (const id of ids) await until(async () => (await stateOf(project, id)) === "succeeded");
    expect((await sluice(project, "limits", "list")).stdout).toMatch(/^pool:database +0\/0 paused /m);
    expect((await sluice(project, "why", waiting)).stdout).toContain('pool "database" is paused');

    expect((await sluice(project, "limits", "reset", "pool:database")).stdout).toBe("pool:database: 0 → 3\n");
    await dev.says(`${waiting}  started`);
  });

  test("a limit changed by plain SQL holds within one poll", async () => {
    const project = newProject();
    const dev = await startDev(project);
    const first = await enqueue(project, "charge", { until: "first" });
    await dev.says(`${first}  started`);
    const second = await enqueue(project, "charge", { until: "second" });
    const third = await enqueue(project, "charge", { until: "third" });

    const changed = performance.now();
    bySql(project, "UPDATE sluice_gate SET capacity = 6 WHERE name IN ('queue:stripe', 'pool:database')");
    for (const id of [second, third]) await dev.says(`${id}  started`);
    // A poll takes one second plus at most half a second of jitter.
    expect(performance.now() - changed).toBeLessThan(1_500 + 500);
    expect((await sluice(project, "limits", "list")).stdout).toMatch(
      /^pool:database +6\/6 +bypass +sql \(app default: 3\)$/m,
    );
  });

  test("a queue is paused and resumed", async () => {
    const project = newProject();
    const dev = await startDev(project);
    const paused = (await sluice(project, "queues", "pause", "reports")).stdout;
    expect(paused).toBe(
      "queue reports is paused: 0 tasks still running, 0 tasks waiting. To resume: npx sluice queues resume reports\n",
    );
    const id = await enqueue(project, "echo", "hi");
    const why = (await sluice(project, "why", id)).stdout;
    expect(why).toContain('queue "reports" is paused');
    expect(why).toContain("      npx sluice queues resume reports\n");
    expect((await sluice(project, "queues", "list")).stdout).toMatch(/^reports +100 +0\/10 paused +1 +0$/m);

    expect((await sluice(project, "queues", "resume", "reports")).stdout).toBe(
      "queue reports is resumed, 1 task waiting.\n",
    );
    await dev.says(`${id}  done in`);
  });

  test("dev says where things are and what it does, calls onDev, and ends on SIGINT with 0", async () => {
    const project = newProject();
    const dev = await startDev(project, "--slots", "4", "--queues", "stripe,reports");
    expect(dev.output()).toContain("sluice dev app.ts\n  State   .sluice/storage/sluice.db\n");
    expect(dev.output()).toContain(
      "Concurrency config: processes=1, cluster_wide_cap=15, max_claim_per_worker=4, max_claim_batch=none, concurrency=4, prefetch=0 (hard cap), claim_lease=1m, session_lease=30s, serves=stripe+reports",
    );
    expect(dev.output()).toContain("stripe (rank 1, max 1), reports (rank 100, max 10)");
    expect(dev.output()).toContain("  npx sluice why ID ");
    expect(await dev.says(/\d\d:\d\d:\d\d {2}echo {4}\w{22} {2}done in \d+ms/)).toBeTruthy();

    const failing = await enqueue(project, "fail", null);
    await dev.says(`${failing}  failed after `);
    expect(dev.output()).toMatch(/failed after \d+ms: no luck\[31m today\n/);
    const running = await enqueue(project, "report", { until: "end" });
    await dev.says(`${running}  started`);
    const cancelled = await enqueue(project, "report", { until: "never" });
    await dev.says(`${cancelled}  started`);
    expect((await sluice(project, "tasks", "cancel", cancelled)).stdout).toBe(
      `task ${cancelled} is cancelled; it was running.\n`,
    );
    await dev.says(`${cancelled}  cancelled after `);

    dev.signal("SIGINT");
    await dev.says("Stopping: waiting for 1 task to end.");
    touch(project, "end");
    expect(await dev.ended()).toEqual({ code: 0, signal: null });
    expect(dev.output()).toContain(`${running}  done in `);
    expect(dev.errors()).toBe("");
    expect(await stateOf(project, running)).toBe("succeeded");
  });

  test("a second signal ends it at once", async () => {
    const project = newProject();
    const dev = await startDev(project);
    await dev.says(`${await enqueue(project, "report", { until: "never" })}  started`);
    dev.signal("SIGTERM");
    await dev.says("Stopping");
    await new Promise((resolve) => setTimeout(resolve, 250)); // two signals within 200 ms count as one
    dev.signal("SIGTERM");
    expect(await dev.ended()).toEqual({ code: 143, signal: null });
  });

  test("worker serves what is there, without onDev", async () => {
    const project = newProject();
    const id = await enqueue(project, "echo", "hi");
    const why = (await sluice(project, "why", id)).stdout;
    expect(why).toContain('no live worker serves queue "reports" and knows task "echo"');
    const worker = start(project, ["worker", "app.ts"]);
    await worker.says(`${id}  done in`);
    expect(worker.output()).toMatch(/^sluice worker app\.ts\n/);
    expect(worker.output()).not.toContain("In another terminal");
    worker.signal("SIGTERM");
    expect(await worker.ended()).toEqual({ code: 0, signal: null });
    expect((await json(project, "tasks", "list")).length).toBe(1);
  });
});

describe("tasks", () => {
  test("list, show, cancel and retry as table and as JSON", async () => {
    const project = newProject();
    const hostile = await enqueue(project, "echo", "\u001b[2J\u202eevil");
    const urgent = await enqueueByCommand(
      project,
      "charge",
      '{"until":"x"}',
      "--priority",
      "7",
      "--key",
      "once",
    );
    expect(await enqueueByCommand(project, "charge", '{"until":"x"}', "--key", "once")).toBe(urgent);
    const delayed = await enqueueByCommand(project, "echo", '"later"', "--delay", "1h");
    const doomed = await enqueueByCommand(project, "echo", '"now or never"', "--good-until", "1ms");

    const list = (await sluice(project, "tasks", "list")).stdout;
    expect(list.split("\n")[0]).toMatch(/^ID +TASK +QUEUE +STATE +SINCE +PRIORITY +NOTE$/);
    expect(list).toMatch(new RegExp(`^${urgent} +charge +stripe +waiting +\\d+m?s ago +7$`, "m"));
    expect(list).toMatch(new RegExp(`^${delayed} +echo +reports +later +in (1h|59m\\d+s) +0$`, "m"));
    const ids = (...args: string[]) =>
      json(project, "tasks", "list", ...args).then((rows) => rows.map(({ id }: { id: string }) => id));
    expect(await ids("--state", "later")).toEqual([delayed]);
    expect(await ids("--queue", "stripe")).toEqual([urgent]);
    expect(await ids("--name", "echo", "--limit", "1")).toEqual([doomed]);

    const shown = (await sluice(project, "tasks", "show", hostile)).stdout;
    expect(shown).toMatch(/^input +"\\u001b\[2Jevil"$/m);
    expect(shown).toMatch(/^asks +cluster, queue:reports$/m);
    expect(shown).toMatch(/TaskEnqueued +\{"priority":0\}/);
    const data = await json(project, "tasks", "show", hostile);
    expect(data).toMatchObject({
      id: hostile,
      input: "\u001b[2J\u202eevil",
      events: [{ n: 1, kind: "TaskEnqueued" }],
    });

    expect((await sluice(project, "why", delayed)).stdout).toMatch(
      /not before .*Z \(in (1h|59m\d+s)\), start delay/,
    );

    const cancel = await sluice(project, "tasks", "cancel", urgent, "--by", "ann");
    expect(cancel.stdout).toBe(`task ${urgent} is cancelled; it was waiting.\n`);
    expect((await sluice(project, "why", urgent)).stdout).toMatch(/was cancelled \d+m?s ago by ann\./);
    const again = await sluice(project, "tasks", "cancel", urgent);
    expect(again).toMatchObject({ code: 1, stdout: "" });
    expect(again.stderr).toMatch(
      /^error ALREADY_FINISHED: task \w+ was cancelled .*There is nothing to cancel\.\n$/,
    );
    expect(await json(project, "tasks", "retry", urgent)).toEqual({
      id: urgent,
      was: "cancelled",
      state: "waiting",
    });
    expect((await sluice(project, "tasks", "retry", urgent)).stderr).toMatch(/^error NOT_FINISHED: /);

    const dev = await startDev(project);
    await dev.says(`${hostile}  done in`);
    await until(async () => (await stateOf(project, doomed)) === "expired");
    expect((await sluice(project, "why", doomed)).stdout).toMatch(
      /expired \d+m?s ago: its deadline .*Z passed before it could start\./,
    );
  });

  test("an id may be cut short as long as it is one task's", async () => {
    const project = newProject();
    const first = await enqueue(project, "echo", 1);
    expect((await json(project, "tasks", "show", first.slice(0, 8))).id).toBe(first);
    const second = await enqueue(project, "echo", 2);
    const unclear = await sluice(project, "why", "0");
    expect(unclear.code).toBe(1);
    expect(unclear.stderr).toBe(
      `error AMBIGUOUS_ID: More than one task starts with 0; type more of it:\n  ${first}\n  ${second}\n`,
    );
    const unknown = await sluice(project, "why", "zzz");
    expect(unknown).toEqual({
      code: 1,
      stdout: "",
      stderr: "error UNKNOWN_ID: There is no task or run zzz in this store. See: npx sluice tasks list\n",
    });
  });
});

describe("limits and queues", () => {
  test("are listed as tables and as JSON", async () => {
    const project = newProject();
    await enqueueByCommand(project, "echo", "1", "--delay", "1h");
    expect((await sluice(project, "limits", "list")).stdout).toMatch(/^No limits yet\./);
    await sluice(project, "deploy", "app.ts");
    expect((await sluice(project, "limits", "list")).stdout.replace(/\d+m?s ago/g, "just now")).toBe(
      [
        "GATE           HELD/LIMIT  LINE    SOURCE",
        "cluster        0/15        skip    app default just now",
        "pool:database  0/3         bypass  app default just now",
        "queue:reports  0/10        skip    app default just now",
        "queue:stripe   0/1         skip    app default just now",
        "",
      ].join("\n"),
    );
    expect((await sluice(project, "queues", "list")).stdout).toBe(
      [
        "QUEUE    RANK  RUNNING/LIMIT  WAITING  LATER",
        "stripe   1     0/1            0        0",
        "reports  100   0/10           0        1",
        "",
      ].join("\n"),
    );
    expect(await json(project, "limits", "set", "cluster", "-1")).toMatchObject({
      key: "cluster",
      from: 15,
      limit: -1,
    });
    bySql(project, "UPDATE sluice_gate SET capacity = NULL WHERE name = 'pool:database'");
    const list = (await sluice(project, "limits", "list")).stdout;
    expect(list).toMatch(/^cluster +0\/∞ +skip +operator \S+ \d+m?s ago \(app default: 15\)$/m);
    expect(list).toMatch(/^pool:database +-\/unset +bypass +sql \(app default: 3\)$/m);
    expect(await gate(project, "cluster")).toMatchObject({
      limit: -1,
      declared: 15,
      source: "operator",
      held: 0,
    });
    expect((await json(project, "queues", "list"))[0]).toMatchObject({
      name: "stripe",
      rank: 1,
      limit: 1,
      paused: false,
    });
  });

  test("a gate that nobody knows is not set by a slip", async () => {
    const project = newProject();
    await sluice(project, "deploy", "app.ts");
    await enqueue(project, "echo", 1);
    for (const slip of ["stripe", "queue:stirpe"])
      expect(await sluice(project, "limits", "set", slip, "3")).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^error UNKNOWN_GATE: There is no gate ".*Did you mean queue:stripe\?/),
      });
    expect((await sluice(project, "limits", "set", "semaphore:default/gpu", "3")).code).toBe(1);
    const ahead = await sluice(project, "limits", "set", "semaphore:default/gpu", "3", "--new");
    expect(ahead.stdout).toMatch(
      /^semaphore:default\/gpu: unset → 3\nNo app declares this gate .*: npx sluice limits delete semaphore:default\/gpu\n$/,
    );
    expect((await sluice(project, "limits", "delete", "semaphore:default/gpu")).stdout).toBe(
      "semaphore:default/gpu is no longer in the store.\n",
    );
    expect((await sluice(project, "limits", "list")).stdout).not.toContain("semaphore");
    expect((await sluice(project, "limits", "reset", "pool:nope")).stderr).toMatch(/^error UNKNOWN_GATE: /);
    expect((await sluice(project, "queues", "pause", "nope")).stderr).toMatch(/^error UNKNOWN_QUEUE: /);
  });
});

describe("an app file", () => {
  test("is checked without running anything", async () => {
    const project = newProject();
    const { stdout } = await sluice(project, "check", "app.ts");
    expect(stdout).toMatch(
      /^app\.ts is valid: 4 tasks, 2 queues, 1 pool\nConcurrency: cluster cap 15, prefetch 0 \(hard cap\)/,
    );
    expect(stdout).toMatch(/^charge +stripe +database 2 +1 +-$/m);
    const data = await json(project, "check", "app.ts");
    expect(data).toMatchObject({
      clusterCap: 15,
      queues: [{ name: "stripe", maxConcurrency: 1 }, { name: "reports" }],
    });
    expect(existsSync(join(project, ".sluice"))).toBe(false);
  });

  test("with problems says all of them at once", async () => {
    const project = newProject();
    writeFileSync(
      join(project, "bad.ts"),
      `import { defineApp } from "sluice";\nexport default defineApp({ tasks: [], clusterCap: 0, prefetch: -1 });`,
    );
    for (const command of ["check", "dev"]) {
      const { code, stdout, stderr } = await sluice(project, command, "bad.ts");
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(
        /^error BAD_CONFIG: this app cannot start, 2 problems:\n {2}clusterCap: .*\n {2}prefetch: .*\n$/,
      );
    }
    const { code, stdout } = await sluice(project, "check", "bad.ts", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout).problems).toHaveLength(2);
  });

  test.each([
    ["missing", undefined, /^error NO_APP_FILE: There is no file missing\.ts /],
    [
      "nothing",
      "export const a = 1;",
      /^error BAD_APP: nothing\.ts has no default export\. It must say: export default/,
    ],
    [
      "other",
      "export default { tasks: [] };",
      /^error BAD_APP: The default export of other\.ts was not made by defineApp\./,
    ],
    ["broken", "export default {;", /^error BAD_APP: broken\.ts could not be loaded: /],
    ["thrown", 'throw new Error("no key");', /^error BAD_APP: thrown\.ts could not be loaded: no key\n$/],
  ])("that is %s is refused in words", async (name, text, words) => {
    const project = newProject();
    if (text !== undefined) writeFileSync(join(project, `${name}.ts`), text);
    const { code, stdout, stderr } = await sluice(project, "dev", `${name}.ts`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/^ +at /m);
  });
});

describe("the store", () => {
  test("is named by flag before environment before default", async () => {
    const project = newProject();
    await enqueueByCommand(project, "echo", "1", "--storage-path", "there");
    expect(existsSync(join(project, "there/sluice.db"))).toBe(true);
    expect(await json(project, "tasks", "list", "--storage-path", "there")).toHaveLength(1);
    expect(await json(project, "tasks", "list", "--store", "file:there/sluice.db")).toHaveLength(1);
    const env = { SLUICE_STORE: "file:there/sluice.db" };
    expect(JSON.parse((await run(project, ["tasks", "list", "--json"], env)).stdout)).toHaveLength(1);
    const other = await run(project, ["tasks", "list", "--storage-path", "elsewhere"], env);
    expect(other).toMatchObject({ code: 1, stdout: "" });
    expect(other.stderr).toMatch(
      /^error NO_STORE: There is no store at elsewhere\/sluice\.db yet\. Start one with: npx sluice dev app\.ts --storage-path elsewhere/,
    );
    expect(existsSync(join(project, "elsewhere"))).toBe(false);
  });

  test("that cannot be reached is named without its password", async () => {
    const project = newProject();
    const { code, stderr } = await sluice(
      project,
      "limits",
      "list",
      "--store",
      "postgres://ann:secret@127.0.0.1:1/x",
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error STORE_UNREACHABLE: The store postgres:\/\/ann:\*\*\*@127\.0\.0\.1:1\/x could not be reached: /,
    );
    expect((await sluice(project, "limits", "list", "--store", "redis://x")).stderr).toMatch(
      /^error BAD_STORE_URL: /,
    );
  });

  test("is migrated, or its SQL printed without connecting", async () => {
    const project = newProject();
    expect((await sluice(project, "migrate")).stdout).toBe(
      `.sluice/storage/sluice.db is at schema ${SCHEMA_VERSION}.\n`,
    );
    const url = "postgres://nobody@127.0.0.1:1/x";
    expect((await sluice(project, "migrate", "--print", "--store", url)).stdout).toMatch(
      /^CREATE TABLE sluice_gate .*COLLATE "C".*;$/m,
    );
    const mysql = await json(project, "migrate", "--print", "--store", "mysql://nobody@127.0.0.1:1/x");
    expect(mysql).toMatchObject({ dialect: "mysql", version: SCHEMA_VERSION });
    expect(mysql.statements.join("\n")).toContain("ENGINE=InnoDB");
  });
});

describeWithPostgres("a store on PostgreSQL", () => {
  test("is migrated only when told, and then served", async () => {
    const project = newProject();
    const url = await freshPostgres();
    const early = await sluice(project, "worker", "app.ts", "--store", url);
    expect(early).toMatchObject({ code: 1, stdout: "" });
    expect(early.stderr).toMatch(/^error SCHEMA_MISSING: .* Run: npx sluice migrate --store postgres:\S+\n$/);
    expect((await sluice(project, "migrate", "--store", url)).stdout).toContain(
      ` is at schema ${SCHEMA_VERSION}.\n`,
    );
    const worker = start(project, ["worker", "app.ts", "--store", url]);
    const id = await enqueueByCommand(project, "echo", '"hi"', "--store", url);
    await worker.says(`${id}  done in`);
    expect((await sluice(project, "queues", "list", "--store", url)).stdout).toMatch(
      /^reports +100 +0\/10 +0 +0$/m,
    );
  });
});

test.each([
  [["bogus"], "unknown command 'bogus'"],
  [["limits", "bogus"], "unknown command 'bogus'"],
  [["why"], "missing required argument 'id'"],
  [["tasks", "list", "--state", "odd"], "Allowed choices are later, waiting"],
  [["tasks", "list", "--limit", "0"], "It must be 1 or more"],
  [["limits", "set", "cluster", "-2"], "It must be 1 or more, 0 to pause, or -1"],
  [["tasks", "enqueue", "app.ts", "echo", "{"], "the input is not JSON"],
  [["limits", "list", "--store", "file:a", "--storage-path", "b"], "give either --store or --storage-path"],
])("wrong usage ends with 2: %j", async (args, words) => {
  const { code, stdout, stderr } = await sluice(newProject(), ...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^error USAGE: /);
  expect(stderr).toContain(words);
});

test("the version is that of the package", async () => {
  const { version } = JSON.parse(readFileSync(join(top, "package.json"), "utf8")) as { version: string };
  expect(await sluice(newProject(), "--version")).toMatchObject({
    code: 0,
    stdout: `${version}\n`,
    stderr: "",
  });
});

test("help ends with 0", async () => {
  const { code, stdout } = await sluice(newProject(), "tasks", "list", "--help");
  expect(code).toBe(0);
  expect(stdout).toContain("--json");
});

// ── a project, and a terminal beside it ────────────────────────────────────────────────────────────────────────

/** A folder as a user has it: an app file, and the package under node_modules. */
function newProject(): string {
  const folder = mkdtempSync(join(tmpdir(), "sluice-cli-"));
  projects.push(folder);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "app.ts"), APP);
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(bundledPackage(), join(folder, "node_modules/sluice"), "dir");
  return folder;
}

function touch(project: string, ...names: string[]): void {
  for (const name of names) writeFileSync(join(project, name), "");
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const sluice = (project: string, ...args: string[]): Promise<Ended> => run(project, args);

async function run(
  project: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Ended> {
  const child = new Running(project, args, env);
  const { code } = await child.ended();
  return { code, stdout: child.output(), stderr: child.errors() };
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON a script would get; the test that asked checks it.
async function json(project: string, ...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await run(project, [...args, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** Enqueues from a program beside the worker, which is faster than one command each time. */
async function enqueue(project: string, task: string, input: unknown): Promise<string> {
  return (await (await programIn(project)).enqueue(task, input as never)).id;
}

async function enqueueByCommand(project: string, ...args: string[]): Promise<string> {
  return (await json(project, "tasks", "enqueue", "app.ts", ...args)).id;
}

async function stateOf(project: string, id: string): Promise<string | undefined> {
  return (await (await programIn(project)).get(id))?.state;
}

function programIn(project: string): Promise<Sluice> {
  const program = programs.get(project) ?? connectIn(project);
  programs.set(project, program);
  return program;
}

async function connectIn(project: string): Promise<Sluice> {
  const { default: app } = (await import(join(project, "app.ts"))) as { default: App };
  return connect({ store: `file:${join(project, ".sluice/storage/sluice.db")}`, app });
}

async function gate(project: string, key: string): Promise<Record<string, unknown>> {
  return (await json(project, "limits", "list")).find((each: { key: string }) => each.key === key);
}

function gatesOf({ reasons }: { reasons: readonly { gate?: string }[] }): unknown[] {
  return reasons.map((reason) => reason.gate).sort();
}

function bySql(project: string, statement: string): void {
  const database = new DatabaseSync(join(project, ".sluice/storage/sluice.db"));
  database.exec("PRAGMA busy_timeout = 5000");
  database.exec(statement);
  database.close();
}

/** Polls until it holds. The test's own time limit ends it. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}

async function startDev(project: string, ...args: string[]): Promise<Running> {
  const dev = start(project, ["dev", "app.ts", ...args]);
  await dev.says("Press Ctrl-C to stop.");
  return dev;
}

function start(project: string, args: readonly string[]): Running {
  const running = new Running(project, args);
  workers.push(running);
  return running;
}

class Running {
  readonly #child: ChildProcess;
  readonly #ended: Promise<{ code: number | null; signal: string | null }>;
  readonly #heard = new Set<() => void>();
  #stdout = "";
  #stderr = "";

  constructor(project: string, args: readonly string[], env: Record<string, string> = {}) {
    const { SLUICE_STORE: _, npm_command: __, ...rest } = process.env;
    this.#child = spawn(process.execPath, [cli, ...args], {
      cwd: project,
      env: { ...rest, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#stdout += text;
      for (const hear of [...this.#heard]) hear();
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
    });
    this.#ended = new Promise((resolve) =>
      this.#child.once("close", (code, signal) => resolve({ code, signal })),
    );
  }

  output(): string {
    return this.#stdout;
  }

  errors(): string {
    return this.#stderr;
  }

  ended(): Promise<{ code: number | null; signal: string | null }> {
    return this.#ended;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /**
   * Also kills the child in which `dev` works: it outlives a dead parent until its tasks end or the grace
   * period does.
   */
  async kill(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid !== undefined && exitCode === null && signalCode === null)
      for (const each of [...childrenOf(pid), pid]) kill(each);
    await this.#ended;
  }

  /** Waits until it has printed this. Exiting without it is an error. */
  says(words: string | RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const hear = (): void => {
        const found = typeof words === "string" ? this.#stdout.includes(words) : words.test(this.#stdout);
        if (!found) return;
        this.#heard.delete(hear);
        resolve(this.#stdout);
      };
      this.#heard.add(hear);
      hear();
      void this.#ended.then(() =>
        reject(new Error(`ended without saying ${words}:\n${this.#stdout}\n${this.#stderr}`)),
      );
    });
  }
}
