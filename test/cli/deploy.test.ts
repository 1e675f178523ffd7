// Limits belong to the app that declares them. Commands that read or enqueue change no limit; a deploy and a
// worker do.

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../e2e/support/until.ts";
import { gives, newProject, says, sluice, start } from "./terminal.ts";

const app = (name: string, limits: string): string => `
import { defineApp, task } from "sluice";
const work = task({ id: "work", run: () => 1 });
export default defineApp({ name: "${name}", tasks: [work], ${limits} });
`;

/** One project with one store, two apps and a later version of the first app. */
function project(): string {
  const folder = newProject(app("shop", "clusterCap: 5, pools: { gpu: { limit: 3 } }"));
  writeFileSync(join(folder, "later.js"), app("shop", "clusterCap: 2, pools: { gpu: { limit: 3 } }"));
  writeFileSync(join(folder, "web.js"), app("web", "pools: { gpu: { limit: 7 } }"));
  return folder;
}

const limits = async (folder: string): Promise<Record<string, number | null>> =>
  Object.fromEntries(
    (await gives(folder, "limits", "list")).map(({ key, limit }: { key: string; limit: number }) => [
      key,
      limit,
    ]),
  );

/** Starts a worker, waits until it serves, stops it, and returns its output. */
async function worked(folder: string, file: string): Promise<string> {
  const worker = start(folder, ["worker", file, "--processes=1"]);
  let said = "";
  for (const stream of [worker.stdout, worker.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  // The worker prints its limits before it says that it is ready to stop.
  await until(() => said.includes("Concurrency config"), "the worker serves", 60_000);
  const gone = once(worker, "exit");
  worker.kill("SIGTERM");
  await gone;
  return said;
}

test("enqueueing and looking change no limit, a deploy does, and the strictest of two apps holds", {
  timeout: 120_000,
}, async () => {
  const folder = project();
  await gives(folder, "tasks", "enqueue", "app.js", "work");
  expect(await gives(folder, "limits", "list")).toEqual([]);
  expect(await says(folder, "deploy", "app.js")).toBe(
    'App "shop" is deployed: 2 limits.\n  cluster: new, 5\n  pool:gpu: new, 3\n',
  );
  expect(await limits(folder)).toMatchObject({ cluster: 5, "pool:gpu": 3 });
  await gives(folder, "tasks", "enqueue", "web.js", "work");
  await gives(folder, "tasks", "enqueue", "later.js", "work");
  await says(folder, "check", "later.js");
  expect(await limits(folder)).toMatchObject({ cluster: 5, "pool:gpu": 3 });

  expect(await says(folder, "deploy", "web.js")).toBe(
    'App "web" is deployed: 1 limit. A different value is in force at pool:gpu. See: npx sluice limits list\n  task "work" is also declared by app "shop". Either app may run it, and both share its idempotency keys.\n',
  );
  const list = await says(folder, "limits", "list");
  expect(list).toMatch(/^cluster +0\/5 +skip +app shop \d+m?s ago$/m);
  expect(list).toMatch(/^pool:gpu +0\/3 +bypass +app shop \d+m?s ago \(app web: 7\)$/m);
  const data = await gives(folder, "limits", "list");
  expect(data.find(({ key }: { key: string }) => key === "pool:gpu")).toMatchObject({
    limit: 3,
    source: "app",
    said: [
      { app: "shop", limit: 3 },
      { app: "web", limit: 7 },
    ],
  });
  const doctor = await sluice(folder, ["doctor"]);
  expect(doctor.stdout).toContain('pool "gpu": app "shop" declares 3, app "web" declares 7');

  expect(await sluice(folder, ["limits", "delete", "pool:gpu"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^error GATE_IN_USE: The gate "pool:gpu" cannot be deleted: app "shop", "web" declares it/,
    ),
  });
});

test("a worker of a replaced version says in one line that the later limits hold, and how to go back", {
  timeout: 120_000,
}, async () => {
  const folder = project();
  await says(folder, "deploy", "app.js");
  expect(await worked(folder, "later.js")).not.toContain("later deploy");
  expect(await limits(folder)).toMatchObject({ cluster: 2 });
  expect(await worked(folder, "app.js")).toMatch(
    /^A later deploy of app "shop" \(\d+m?s ago\) is in force, so the limits in app\.js are not applied\. To apply them: npx sluice deploy app\.js$/m,
  );
  expect(await limits(folder)).toMatchObject({ cluster: 2 });
  await says(folder, "deploy", "app.js");
  expect(await limits(folder)).toMatchObject({ cluster: 5 });
});

test("a limit that is set for one value says that it replaces the one for each", async () => {
  const folder = newProject(app("shop", "pools: { tenant: { limit: 2, perValue: true } }"));
  await gives(folder, "tasks", "enqueue", "app.js", "work");
  await says(folder, "deploy", "app.js");
  expect(await says(folder, "limits", "set", "pool:tenant=acme", "4")).toBe(
    "pool:tenant=acme: 2 → 4\nFor this value it replaces the limit per value (pool:tenant=*: 2). To undo: npx sluice limits reset pool:tenant=acme\n",
  );
  expect(await says(folder, "limits", "reset", "pool:tenant=acme")).toBe("pool:tenant=acme: 4 → 2\n");
  // A shell expands a star and ends a word at a space, so both must be quoted.
  expect(await says(folder, "limits", "set", "pool:tenant=*", "0")).toContain(
    "To resume: npx sluice limits reset 'pool:tenant=*'",
  );
  expect((await sluice(folder, ["limits", "set", "pool:tenants=a b", "3"])).stderr).toMatch(
    /To set it before anything asks for it: npx sluice limits set 'pool:tenants=a b' 3 --new\. See: npx sluice limits list\n$/,
  );
});

test("a limit that is set for one value names every declared limit that it replaces, and no other", async () => {
  const folder = newProject(app("shop", 'runs: { tags: [{ key: "env", value: "prod", limit: 2 }] }'));
  await says(folder, "deploy", "app.js");
  const undo = "To undo: npx sluice limits reset tag:env=prod\n";
  // The limit per value has a row that says nothing.
  await says(folder, "limits", "set", "tag:env=*", "7", "--new");
  await says(folder, "limits", "reset", "tag:env=*");
  expect(await says(folder, "limits", "set", "tag:env=prod", "3")).toBe(
    `tag:env=prod: 2 → 3\nFor this value it replaces the declared limit of 2. ${undo}`,
  );
  const both = '[{ key: "env", perValue: true, limit: 2 }, { key: "env", value: "prod", limit: 5 }]';
  writeFileSync(join(folder, "both.js"), app("shop", `runs: { tags: ${both} }`));
  await says(folder, "deploy", "both.js");
  expect(await says(folder, "limits", "set", "tag:env=prod", "4")).toBe(
    `tag:env=prod: 3 → 4\nFor this value it replaces the declared limit of 5 and the limit per value (tag:env=*: 2). ${undo}`,
  );
});

test("a list of limits leaves out gates without a limit that nothing holds", async () => {
  const folder = newProject(app("shop", 'runs: { tags: [{ key: "env", value: "prod", limit: 2 }] }'));
  await says(folder, "deploy", "app.js");
  await says(folder, "limits", "set", "tag:env=*", "7", "--new");
  await says(folder, "limits", "reset", "tag:env=*");
  const list = await says(folder, "limits", "list");
  expect(list).toMatch(/^tag:env=prod +0\/2/m);
  expect(list).not.toContain("tag:env=*");
});

test("a deploy says which limits it changes, whom it binds with them, and what it leaves out", {
  timeout: 120_000,
}, async () => {
  const folder = project();
  await says(folder, "deploy", "app.js");
  writeFileSync(join(folder, "strict.js"), app("web", "pools: { gpu: { limit: 1 } }"));
  expect(await says(folder, "deploy", "strict.js")).toBe(
    'App "web" is deployed: 1 limit.\n  pool:gpu: 3 → 1; this also binds app "shop": the stricter limit applies\n  task "work" is also declared by app "shop". Either app may run it, and both share its idempotency keys.\n',
  );
  writeFileSync(join(folder, "other.js"), app("shop", "pools: { smtp: { limit: 9 } }"));
  expect(await says(folder, "deploy", "other.js")).toBe(
    'App "shop" is deployed: 1 limit.\n  cluster: 5 → ∞; this app no longer declares it\n  pool:smtp: new, 9\n  task "work" is also declared by app "web". Either app may run it, and both share its idempotency keys.\n',
  );
  // The banner shows the limit in force, not the one in the file.
  const started = await worked(folder, "app.js");
  expect(started).toMatch(/Pools +gpu \(1, not 3\)$/m);
  expect(started).toMatch(/^task "work" is also declared by app "web"\. Either app may run it, /m);
});

test("check shows the run cap, the limits of tags, and what starts runs by itself", async () => {
  const folder = newProject(`
import { defineApp, task, workflow } from "sluice";
const work = task({ id: "work", run: () => 1 });
const nightly = workflow({ id: "nightly", steps: (s) => s.step("work", work) });
export default defineApp({ tasks: [work], workflows: [nightly],
  runs: { max: 4, tags: [{ key: "tenant", perValue: true, limit: 2 }] },
  schedules: [{ id: "at-three", workflow: nightly, cron: "0 3 * * *" }] });
`);
  const said = await says(folder, "check", "app.js");
  expect(said).toMatch(/^runs in progress +4$/m);
  expect(said).toMatch(/^tag:tenant=\* +2 per value$/m);
  expect(said).toMatch(/^at-three +schedule +nightly +0 3 \* \* \* UTC/m);
});

test("a limit for what something asks is no slip, before any app was deployed and any worker came", async () => {
  const folder = newProject(`
import { defineApp, task } from "sluice";
const work = task({ id: "work", pools: { gpu: 1 }, run: () => 1 });
const late = task({ id: "late", pools: { press: 1 }, run: () => 1 });
export default defineApp({ tasks: [work, late], pools: { gpu: { limit: 1 }, press: { limit: 1 } } });
`);
  await gives(folder, "tasks", "enqueue", "app.js", "work");
  await gives(folder, "tasks", "enqueue", "app.js", "late", "--delay", "1h");
  expect(await says(folder, "limits", "set", "pool:gpu", "2")).toBe("pool:gpu: unset → 2\n");
  expect(await says(folder, "pools", "set", "press", "2")).toBe("pool press: unset → 2.\n");
  expect(await says(folder, "limits", "set", "pool:other", "2", "--new")).toContain("If the name is a typo");
});

test("a deploy says each change of a rank, a lease and a schedule, and binds no app that declares the same", {
  timeout: 120_000,
}, async () => {
  const version = (gpu: string, rank: number, cron: string) => `
import { defineApp, task, workflow } from "sluice";
const work = task({ id: "work", run: () => 1 });
const tidy = workflow({ id: "tidy", steps: (s) => s.step("work", work) });
export default defineApp({ name: "shop", tasks: [work], workflows: [tidy],
  queues: { default: { rank: ${rank} } }, pools: { gpu: { ${gpu} } },
  schedules: [{ id: "tidy", workflow: tidy, cron: "${cron}" }] });
`;
  const folder = newProject(version("limit: 4", 5, "0 3 * * *"));
  writeFileSync(join(folder, "later.js"), version('limit: 5, lease: "30s"', 50, "0 4 * * *"));
  writeFileSync(
    join(folder, "billing.js"),
    `import { defineApp } from "sluice";
export default defineApp({ name: "billing", tasks: [], pools: { gpu: { limit: 5 } } });`,
  );
  expect(await says(folder, "deploy", "app.js")).toBe(
    `App "shop" is deployed: 1 limit.
  pool:gpu: new, 4
  queue:default: rank 100 → 5
  schedule tidy: new, 0 3 * * * UTC
`,
  );
  expect(await says(folder, "deploy", "app.js")).toBe('App "shop" is deployed: 1 limit.\n');
  await says(folder, "deploy", "billing.js");
  expect(await says(folder, "deploy", "later.js")).toBe(
    `App "shop" is deployed: 1 limit.
  pool:gpu: 4 → 5
  pool:gpu: lease 5m → 30s
  queue:default: rank 5 → 50
  schedule tidy: 0 3 * * * UTC → 0 4 * * * UTC
`,
  );
  expect((await gives(folder, "deploy", "app.js")).changed).toMatchObject([
    { of: "limit", key: "pool:gpu", isNew: false, from: 5, to: 4, tightens: ["billing"], leftOut: false },
    { of: "lease", key: "pool:gpu", from: 30_000, to: 300_000 },
    { of: "rank", queue: "default", from: 50, to: 5 },
    { of: "schedule", id: "tidy", from: { spec: { cron: "0 4 * * *" } }, to: { workflow: "tidy" } },
  ]);
});
