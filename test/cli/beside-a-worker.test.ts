// Runs every command, with table and JSON output, on an embedded store that a worker is using.

import { expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { freshSqlite } from "../support/databases.ts";
import { openWitness } from "../support/open-witness.ts";
import { prepareWorker } from "../support/start-worker.ts";
import { appNamed } from "../support/worker-apps.ts";
import { gives, newProject, says } from "./terminal.ts";

test("every command answers while a worker is at it, and the worker goes on", {
  timeout: 180_000,
}, async () => {
  const witness = await openWitness();
  witness.letGo();
  const store = `file:${await freshSqlite()}`;
  await using program = await connect({ store, app: appNamed("caps"), migrate: true });
  const bulk = appNamed("caps").tasks.get("bulk") as never;
  const more = (): Promise<unknown> =>
    program.enqueueMany(Array.from({ length: 200 }, () => ({ task: bulk, input: { ms: 20 } })) as never);
  const worker = await prepareWorker({ app: "caps", store, name: "w", slots: 8, witnessPort: witness.port });
  await worker.go();
  const project = newProject();
  const at = ["--store", store];
  const table = (...args: string[]) => says(project, ...args, ...at);
  const data = (...args: string[]) => gives(project, ...args, ...at);
  /** Runs `ask` while there is work, and checks that the worker makes progress meanwhile. */
  const busily = async <T>(ask: () => Promise<T>): Promise<T> => {
    await more();
    const started = witness.starts.length;
    const answer = await ask();
    await witness.until(({ starts }) => starts.length > started, "the worker goes on");
    return answer;
  };

  const { id } = await busily(() => data("tasks", "enqueue", "app.js", "stripe", '{"a":1}', "--delay", "1h"));
  expect(await busily(() => table("tasks", "enqueue", "app.js", "email", "--delay", "1h"))).toMatch(
    /^email \w{22} is in line\. See: npx sluice why \w{22} --store file:/,
  );
  expect(await busily(() => table("tasks", "list", "--state", "later"))).toMatch(
    new RegExp(`^ID .*\\n.*\\n${id} +stripe +stripe +later +in \\w+ +0$`, "m"),
  );
  expect(await busily(() => data("tasks", "list", "--name", "stripe"))).toMatchObject([
    { id, name: "stripe", queue: "stripe", state: "later", input: { a: 1 }, attempt: 0, goodUntil: null },
  ]);
  expect(await busily(() => table("tasks", "show", id))).toMatch(/^input +\{"a":1\}$/m);
  expect(await busily(() => data("tasks", "show", id))).toMatchObject({
    id,
    events: [{ kind: "TaskEnqueued" }],
  });
  expect(await busily(() => table("why", id))).toMatch(
    /^stripe \w+ is delayed, in queue "stripe":\n {2}not before /,
  );
  const later = await busily(() => data("why", id));
  expect(later).toMatchObject({ id, state: "later" });
  // The worker may also be full at that moment, which adds a second reason.
  expect(later.reasons[0]).toMatchObject({ kind: "later", because: "delay" });
  expect(later.reasons.slice(1).filter(({ kind }: { kind: string }) => kind !== "busy")).toEqual([]);
  expect(await busily(() => table("tasks", "cancel", id))).toBe(`task ${id} is cancelled; it was later.\n`);
  expect(await busily(() => data("tasks", "retry", id))).toEqual({ id, was: "cancelled", state: "waiting" });
  expect(await busily(() => table("queues", "list"))).toMatch(
    /^QUEUE +RANK +RUNNING\/LIMIT +WAITING +LATER\nstripe +1 /,
  );
  expect(await busily(() => data("queues", "list"))).toMatchObject([
    { name: "stripe", rank: 1, limit: 3, paused: false },
    { name: "email", later: 1 },
    { name: "bulk" },
  ]);
  expect(await busily(() => data("queues", "pause", "email"))).toMatchObject({
    name: "email",
    paused: true,
    later: 1,
  });
  expect(await busily(() => table("queues", "resume", "email"))).toBe(
    "queue email is resumed, 0 tasks waiting.\n",
  );
  expect(await busily(() => table("limits", "list"))).toMatch(
    /^cluster +\d+\/20 +skip +app \S+ \d+m?s ago$/m,
  );
  expect(await busily(() => data("limits", "list"))).toContainEqual(
    expect.objectContaining({ key: "queue:stripe", limit: 3, declared: 3, source: "app", draining: false }),
  );
  expect(await busily(() => data("limits", "set", "queue:stripe", "9"))).toMatchObject({ from: 3, limit: 9 });
  expect(await busily(() => table("limits", "reset", "queue:stripe"))).toBe("queue:stripe: 9 → 3\n");
  expect(await busily(() => table("check", "app.js"))).toMatch(
    /^app\.js is valid: 3 tasks, 3 queues, 2 pools\n/,
  );
  expect(await busily(() => data("check", "app.js"))).toMatchObject({
    clusterCap: 20,
    queues: [{ name: "stripe" }, {}, {}],
  });
  expect(await busily(() => table("migrate"))).toMatch(/sluice\.db is at schema \d+\.\n$/);
  expect(await busily(() => data("migrate"))).toMatchObject({ version: expect.any(Number) });
  expect(await busily(() => table("doctor"))).toMatch(/^ok {4}limits .*\n(ok .*\n)+\nAll is well\.\n$/);
  expect(await busily(() => data("doctor"))).toMatchObject({ kind: "sqlite", verdict: "ok" });
  expect(await worker.stop()).toBe("code 0");
});
