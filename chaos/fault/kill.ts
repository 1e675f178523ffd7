/** kill -9: a worker, one of its child processes, or whoever enqueues. */
import { setTimeout as sleep } from "node:timers/promises";
import { childrenOf, isAlive, signal } from "../crew/children.ts";
import type { Worker } from "../crew/worker.ts";
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
  if (children.length > 0) void outlived(children, crew.orphans);
}

/** A worker that dies takes its children with it, within seconds. */
async function outlived(children: readonly number[], orphans: string[]): Promise<void> {
  await sleep(5_000);
  for (const pid of children.filter(isAlive)) {
    orphans.push(`child ${pid} outlived its worker by 5s`);
    signal(pid, "SIGKILL");
  }
}
