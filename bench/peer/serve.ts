import { asChild } from "../child.ts";
import type { Measured } from "../cost.ts";

export interface PeerOptions {
  url: string;
  tasks: number;
  slots: number;
  /** The size of each job's payload in bytes, beside its number. */
  payload?: number;
  /** Different in each run of a process, so that each run has its own queue name. */
  round: number;
}

export interface PeerResult extends Measured {
  note: string;
}

export interface PeerJob extends Omit<PeerOptions, "round"> {
  warmUp: number;
}

/** The child's side of a peer: one warm-up that is not measured, then the run, in the same process. */
export async function serve<Extra extends object>(
  moduleUrl: string,
  run: (options: PeerOptions & Extra) => Promise<PeerResult>,
): Promise<void> {
  await asChild(moduleUrl, async (job: PeerJob & Extra): Promise<PeerResult> => {
    await run({ ...job, tasks: job.warmUp, round: 0 });
    return run({ ...job, round: 1 });
  });
}

export function* chunks<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
