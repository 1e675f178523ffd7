/** Freezes a process for longer than its lease, anywhere or exactly inside a pass, or silences its line. */
import { setTimeout as sleep } from "node:timers/promises";
import { childrenOf, signal } from "../crew/children.ts";
import type { Post } from "../crew/crew.ts";
import type { Fault } from "../plan.ts";
import type { Random } from "../random.ts";
import { freezeHoldingLock, wasCaughtWithLock } from "./file-lock.ts";
import type { Scene } from "./scene.ts";
import { effectIsStale, reportIsStale, untilStale } from "./stale.ts";

/** The worker needs a moment to notice, and so do those who waited for it. */
const AFTER_MS = 200;

export async function pause(
  fault: Fault & { lane: "pause" },
  scene: Scene,
  random: Random,
): Promise<boolean> {
  const post = await busyPost(scene, random);
  if (!post) return false;
  post.worker.state = "busy";
  try {
    if (fault.how === "line") return await silence(post, fault.ms, scene);
    if (fault.how === "anywhere") return await freeze(post, fault.ms, scene, random);
    return await freezeInPass(post, fault.ms, scene);
  } finally {
    if (post.worker.state === "busy") post.worker.state = "up";
  }
}

/** Prefers a worker whose deaf code is inside right now: only such code can outlive its claim. */
async function busyPost({ crew, witness }: Scene, random: Random): Promise<Post | undefined> {
  const inside = (await witness.inside()).filter(({ deaf }) => deaf);
  const isInside = ({ worker }: Post): boolean => inside.some(({ pids }) => pids.includes(worker.pid));
  const anybody = crew.posts.some((post) => isInside(post) && post.worker.isSettled);
  return crew.free(random, anybody ? isInside : undefined);
}

async function freeze(post: Post, ms: number, scene: Scene, random: Random): Promise<boolean> {
  const { pid } = post.worker;
  const { pids, what } = someOf(pid, random);
  for (const each of pids) signal(each, "SIGSTOP");
  const from = Date.now();
  // By chance it may hold the file's lock, and then all others wait for it.
  const stopsAll = !post.line && pids.includes(pid) && (await wasCaughtWithLock(pid, scene.place));
  await sleep(ms);
  if (pids.includes(pid)) await untilStale(effectIsStale(pid, scene));
  for (const each of pids) {
    signal(each, "SIGCONT");
    scene.crew.impair(each, "frozen", from, Date.now() + AFTER_MS);
  }
  if (stopsAll) scene.crew.impair(0, "frozen", from, Date.now() + AFTER_MS);
  scene.done.add(what);
  return true;
}

/**
 * The worker alone, the worker with all its children, or one child alone, whose worker then keeps its lease.
 */
function someOf(pid: number, random: Random): { pids: readonly number[]; what: string } {
  const children = childrenOf(pid);
  const alone = { pids: [pid], what: "pauses past the lease" };
  if (children.length === 0) return alone;
  const which = random.next();
  if (which < 0.2) return alone;
  if (which < 0.8) return { pids: [pid, ...children], what: "pauses of a worker with its children" };
  return { pids: [random.pick(children)], what: "pauses of a child" };
}

async function freezeInPass(post: Post, ms: number, scene: Scene): Promise<boolean> {
  const { worker, line } = post;
  const caught = line
    ? await line.insidePass(() => worker.signal("SIGSTOP"), 4_000)
    : await freezeHoldingLock(worker, scene.place);
  if (!caught) return false;
  const from = Date.now();
  const isStale = line && (await reportIsStale(worker.pid, scene));
  await sleep(ms);
  if (isStale) await untilStale(isStale);
  worker.signal("SIGCONT");
  // Nothing can take a file's lock from a frozen holder, so it stops all workers, and all of them are
  // impaired.
  scene.crew.impair(line ? worker.pid : 0, "frozen", from, Date.now() + AFTER_MS);
  scene.done.add("pauses inside a pass");
  return true;
}

async function silence(post: Post, ms: number, { crew, done }: Scene): Promise<boolean> {
  const { worker, line } = post;
  if (!line) return false;
  const from = Date.now();
  line.silent = true;
  await sleep(ms);
  line.silent = false;
  // If the worker died meanwhile, the line was silent for its successor, too.
  for (const pid of new Set([worker.pid, post.worker.pid]))
    crew.impair(pid, "stalled", from, Date.now() + AFTER_MS);
  done.add("silent lines past the lease");
  return true;
}
