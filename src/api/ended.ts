/** Waiting for a task or a run to end, by looking: whoever waits need not be where the work is done. */
import { setTimeout as sleep } from "node:timers/promises";
import { isFinal } from "../store/final.ts";
import type { Store, TaskRow } from "../store/store.ts";

const FIRST_MS = 10;
const MOST_MS = 1_000;

/** The unit once it has ended; undefined when there is none. Looks ever less often, once a second at the least. */
export async function untilEnded(
  store: Store,
  id: string,
  signal?: AbortSignal,
): Promise<TaskRow | undefined> {
  for (let pause = FIRST_MS; ; pause = Math.min(MOST_MS, pause * 1.5)) {
    const row = await store.task(id);
    if (!row || isFinal(row.state)) return row;
    await sleep(pause, undefined, { signal });
  }
}
