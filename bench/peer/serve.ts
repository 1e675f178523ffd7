import { readFileSync } from "node:fs";
import { asChild } from "../child.ts";
import { medianOf } from "../measure.ts";

export interface PeerOptions {
  url: string;
  tasks: number;
  slots: number;
  /** Different in each run of a process, so that each run has its own queue name. */
  round: number;
}

export interface PeerResult {
  tasksPerSecond: number;
  version: string;
  note: string;
}

export interface PeerJob {
  url: string;
  tasks: number;
  slots: number;
  warmUp: number;
  runs: number;
}

export type PeerReport = PeerResult & { all: number[] };

/** The child's side of a peer: one warm-up that is not measured, then the runs, in the same process. */
export async function serve<Extra extends object>(
  moduleUrl: string,
  run: (options: PeerOptions & Extra) => Promise<PeerResult>,
): Promise<void> {
  await asChild(moduleUrl, async (job: PeerJob & Extra): Promise<PeerReport> => {
    let last = await run({ ...job, tasks: job.warmUp, round: 0 });
    const { median, all } = await medianOf(job.runs, async (round) => {
      last = await run({ ...job, round });
      return last.tasksPerSecond;
    });
    return { ...last, tasksPerSecond: median, all };
  });
}

export function installed(name: string): string {
  const manifest = new URL(`../node_modules/${name}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(manifest, "utf8")).version;
}

export function* chunks<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
