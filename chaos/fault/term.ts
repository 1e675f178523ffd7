/** SIGTERM under load, several at the same moment. */
import type { Fault } from "../plan.ts";
import type { Random } from "../random.ts";
import type { Scene } from "./scene.ts";

export async function term(
  fault: Fault & { lane: "term" },
  { crew, done }: Scene,
  random: Random,
): Promise<boolean> {
  const leaving: Promise<void>[] = [];
  for (let n = 0; n < fault.burst; n += 1) {
    const post = await crew.free(random);
    if (!post) continue;
    leaving.push(crew.stop(post.worker));
    done.add("workers told to stop");
  }
  await Promise.all(leaving);
  return leaving.length > 0;
}
