/** Takes the store away under load and gives it back. There are no other disturbances meanwhile. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Outage } from "../check/outage.ts";
import { childrenOf, cpuMs } from "../crew/children.ts";
import type { Scene } from "./scene.ts";

const AFTER_MS = 2_500;

export async function outage(ms: number, { place, crew, done }: Scene): Promise<Outage> {
  await crew.allUp();
  const workers = crew.posts.map(({ worker }) => worker);
  const giveBack = await place.takeAway();
  const from = Date.now();
  const before = workers.map(({ pid }) => used(pid));
  await sleep(ms);
  const busy = workers.map(({ pid }, index) => (used(pid) - (before[index] as number)) / (Date.now() - from));
  const ended = workers.filter(({ state }) => state === "gone").map(({ pid }) => `worker ${pid}`);
  await giveBack();
  crew.impair(0, "store away", from, Date.now() + AFTER_MS);
  done.add("outages");
  return { lastedMs: Date.now() - from, ended, busy };
}

/** Includes the time of its children. */
const used = (pid: number): number =>
  [pid, ...childrenOf(pid)].reduce((sum, each) => sum + (cpuMs(each) ?? 0), 0);
