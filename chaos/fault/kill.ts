/** kill -9 of a worker, one of its child processes, or the enqueuer. */
import { setTimeout as sleep } from "node:timers/promises";
import { childrenOf, isAlive, signal } from "../crew/children.ts";
import type { Worker } from "../crew/worker.ts";
import type { Orphan } from "../history.ts";
import type { Fault } from "../plan.ts";
import type { Random } from "../random.ts";
import type { Scene } from "./scene.ts";

export async function kill(fault: Fault & { lane: "kill" }, scene: Scene, random: Random): Promise<boolean> {
  const { crew, feeder, done } = scene;
  if (fault.whom === "enqueuer" && feeder.kill()) {
    done.add("kills of the enqueuer");
    return true;
  }
  const post = await crew.free(random);
  if (!post) return false;
  const { worker } = post;
  const child = fault.whom === "child" ? random.pick(childrenOf(worker.pid)) : undefined;
  if (child !== undefined) {
    crew.impair(child, "killed", Date.now(), Number.POSITIVE_INFINITY, worker.pid);
    signal(child, "SIGKILL");
    done.add("kills of a child");
    return true;
  }
  await killWorker(worker, scene);
  return true;
}

async function killWorker(worker: Worker, { crew, done }: Scene): Promise<void> {
  const children = childrenOf(worker.pid);
  worker.state = "busy";
  const now = Date.now();
  for (const pid of [worker.pid, ...children]) crew.impair(pid, "killed", now);
  worker.signal("SIGKILL");
  done.add("kills of a worker");
  await worker.gone;
  for (const pid of children) void outlives(pid, crew.orphans);
}

/** The longest time to wait for an orphan that stays. */
const MOST_MS = 30_000;

async function outlives(pid: number, orphans: Orphan[]): Promise<void> {
  const from = Date.now();
  while (isAlive(pid) && Date.now() < from + MOST_MS) await sleep(100);
  orphans.push({ pid, from, to: Date.now() });
  signal(pid, "SIGKILL");
}
