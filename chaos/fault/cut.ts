/** Cuts connections: at a commit, before it arrived or after it was done, or all of a process at once. */
import type { Fault } from "../plan.ts";
import type { Random } from "../random.ts";
import type { Scene } from "./scene.ts";

/** How long after a cut a process may be busy reconnecting. */
const CUT_COSTS_MS = 500;

export async function cut(fault: Fault & { lane: "cut" }, scene: Scene, random: Random): Promise<boolean> {
  const { crew, feeder, done } = scene;
  const fromEnqueuer = fault.whom === "enqueuer" && feeder.isUp;
  const post = fromEnqueuer ? undefined : await crew.free(random);
  const line = fromEnqueuer ? feeder.line : post?.line;
  if (!line) return false;
  if (fault.how === "all") {
    line.cutAll();
    done.add("cuts of all connections");
  } else {
    if (!(await line.cutAtCommit(fault.how, 3_000))) return false;
    done.add(fault.how === "answer" ? "commits whose answer was lost" : "commits that never arrived");
  }
  // The current worker: it may have been replaced while we waited for a commit.
  if (post) crew.impair(post.worker.pid, "cut", Date.now(), Date.now() + CUT_COSTS_MS);
  return true;
}
