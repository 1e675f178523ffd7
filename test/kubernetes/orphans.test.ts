// Pods whose worker has died are found by their labels, and deleted if nobody waits for them.

import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import type { KubernetesExecutor } from "../../src/executor/kubernetes/index.ts";
import type { KubeApi } from "../support/kube-api.ts";
import { plainModule } from "../support/plain-module.ts";
import type { World } from "./support/world.ts";
import { job, logOf, openWorld, pod } from "./support/world.ts";

/** Starts pods of a worker that will never hear of them again. */
async function leftBehind(world: World, ...units: Parameters<typeof job>[0][]): Promise<void> {
  const dead = world.another();
  for (const more of units) {
    const before = world.api.cluster.created.length;
    void dead.run(job(more));
    await world.api.pod(before);
  }
}

const after = (world: World): KubernetesExecutor => world.another({ namespaces: ["steps"] });

const unitsIn = ({ cluster }: KubeApi): (string | undefined)[] =>
  cluster.pods.map(({ metadata }) => metadata.annotations?.["sluice.dev/unit"]);

test("a worker that is killed leaves its pod behind; whoever sweeps later deletes it", async () => {
  const world = await openWorld();
  const script = await plainModule(new URL("./support/doomed-worker.ts", import.meta.url));
  const worker = spawn(process.execPath, [script, world.kubeconfig]);
  const died = new Promise((resolve) => worker.once("exit", resolve));
  world.api.cluster.run(await world.api.pod());
  await world.api.until(() => world.api.watching === 1);
  worker.kill("SIGKILL");
  await died;
  await world.api.until(() => world.api.watching === 0);
  expect(unitsIn(world.api)).toEqual(["doomed"]);
  expect(await after(world).sweep(async () => true)).toEqual([]);
  expect(await after(world).sweep(async () => false)).toMatchObject([{ unit: "doomed", fence: 1 }]);
  expect(unitsIn(world.api)).toEqual([]);
});

test("after a restart the pods of earlier attempts are found, and only those of past claims are deleted", async () => {
  const world = await openWorld();
  await leftBehind(world, { id: "a / odd id", fence: 3 }, { id: "b", fence: 4 });
  const restarted = after(world);
  const own = restarted.run(job({ id: "c", fence: 5 }));
  await world.api.pod(2);
  const orphans = await restarted.orphans();
  expect(orphans.map(({ unit, fence }) => [unit, fence])).toEqual([
    ["a / odd id", 3],
    ["b", 4],
  ]);
  const asked: unknown[] = [];
  const swept = await restarted.sweep(async (unit, fence) => {
    asked.push([unit, fence]);
    return unit === "b";
  });
  expect(asked).toEqual([
    ["a / odd id", 3],
    ["b", 4],
  ]);
  expect(swept.map(({ unit }) => unit)).toEqual(["a / odd id"]);
  expect(unitsIn(world.api)).toEqual(["b", "c"]);
  void own;
});

test("pods of another installation are not even seen", async () => {
  const world = await openWorld();
  const theirs = world.another({ owner: "others" });
  void theirs.run(job());
  await world.api.pod();
  expect(await after(world).sweep(async () => false)).toEqual([]);
  expect(world.api.cluster.pods).toHaveLength(1);
});

test("pods that have ended and are kept to be looked at stay", async () => {
  const world = await openWorld();
  await leftBehind(
    world,
    { id: "failed, kept", fence: 1, pod: pod({ keep: "failed" }) },
    { id: "ended well", fence: 2, pod: pod({ keep: "failed" }) },
    { id: "kept always", fence: 3, pod: pod({ keep: "always" }) },
    { id: "kept, but still runs", fence: 4, pod: pod({ keep: "always" }) },
  );
  const [failed, ended, kept] = world.api.cluster.created;
  if (!failed || !ended || !kept) throw new Error("four pods were made");
  world.api.cluster.fail(failed, 1);
  // The log cannot be read, so no worker learns of the end, as if the worker were dead.
  world.api.disturb("log", ...Array(1_000).fill("before"));
  world.api.cluster.succeed(ended, logOf(1, 2));
  world.api.cluster.succeed(kept, logOf(1, 3));
  await after(world).sweep(async () => false);
  expect(unitsIn(world.api)).toEqual(["failed, kept", "kept always"]);
});

test("a question that cannot be answered deletes nothing", async () => {
  const world = await openWorld();
  await leftBehind(world, { id: "a", fence: 1 });
  const sweep = after(world).sweep(() => Promise.reject(new Error("the store is away")));
  await expect(sweep).rejects.toThrow("the store is away");
  expect(unitsIn(world.api)).toEqual(["a"]);
});
