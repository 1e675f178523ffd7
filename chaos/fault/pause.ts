/** A process that stands still for longer than its lease, anywhere or exactly inside a pass; or its line that is silent. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Post } from "../crew/crew.ts";
import type { Eyewitness } from "../crew/eyewitness.ts";
import type { Fault } from "../plan.ts";
import type { Random } from "../random.ts";
import { freezeHoldingLock } from "./file-lock.ts";
import type { Scene } from "./scene.ts";

const MOST_LONGER_MS = 5_000;

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
    if (fault.how === "anywhere") return await freeze(post, fault.ms, scene);
    return await freezeInPass(post, fault.ms, scene);
  } finally {
    if (post.worker.state === "busy") post.worker.state = "up";
  }
}

/** One whose code is inside right now, if there is such a one: only that can be found outliving its claim. */
async function busyPost({ crew, witness }: Scene, random: Random): Promise<Post | undefined> {
  const inside = await witness.deaf();
  const isInside = ({ worker }: Post): boolean => inside.some(({ pids }) => pids.includes(worker.pid));
  const anybody = crew.posts.some((post) => isInside(post) && post.worker.isSettled);
  return crew.free(random, anybody ? isInside : undefined);
}

async function freeze(post: Post, ms: number, scene: Scene): Promise<boolean> {
  post.worker.signal("SIGSTOP");
  return thaw(post, ms, scene, "pauses past the lease");
}

/** A frozen holder of the file's lock stops everybody: nothing can take that lock away. So all of them are impaired. */
async function thaw(
  { worker }: Post,
  ms: number,
  { crew, witness, done }: Scene,
  what: string,
  all = false,
): Promise<boolean> {
  const from = Date.now();
  await sleep(ms);
  if (!all) await overtaken(worker.pid, witness);
  worker.signal("SIGCONT");
  // It needs a moment to notice, and so do those who waited for it.
  crew.impair(all ? 0 : worker.pid, "frozen", from, Date.now() + 200);
  done.add(what);
  return true;
}

/** A little longer, until somebody else runs what it ran, if it ran something: then it wakes up to find itself stale. */
async function overtaken(pid: number, witness: Eyewitness): Promise<void> {
  for (const until = Date.now() + MOST_LONGER_MS; Date.now() < until; await sleep(100)) {
    const own = (await witness.deaf()).filter(({ pids }) => pids.includes(pid));
    if (own.length === 0 || own.some((insider) => insider.overtaken)) return;
  }
}

async function freezeInPass(post: Post, ms: number, scene: Scene): Promise<boolean> {
  const { worker, line } = post;
  if (!line) {
    const caught = await freezeHoldingLock(worker, scene.place);
    return caught && thaw(post, ms, scene, "pauses inside a pass", true);
  }
  const caught = await line.insidePass(() => worker.signal("SIGSTOP"), 4_000);
  return caught && thaw(post, ms, scene, "pauses inside a pass");
}

async function silence(post: Post, ms: number, { crew, done }: Scene): Promise<boolean> {
  const { worker, line } = post;
  if (!line) return false;
  const from = Date.now();
  line.silent = true;
  await sleep(ms);
  line.silent = false;
  // Who died meanwhile was replaced, and the line was silent for its successor, too.
  for (const pid of new Set([worker.pid, post.worker.pid]))
    crew.impair(pid, "stalled", from, Date.now() + 200);
  done.add("silent lines past the lease");
  return true;
}
