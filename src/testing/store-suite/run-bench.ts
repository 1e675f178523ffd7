/** Runs on the workbench: what the suite needs often. */
import { laneOf } from "../../store/lane.ts";
import type { Advanced, NewRun, News, RunMove, RunSeen, RunState } from "../../store/runs.ts";
import { RUNS, STILL } from "../../store/runs.ts";
import type { Claimed } from "../../store/store.ts";
import type { BenchWith } from "./bench.ts";
import { newTask } from "./bench.ts";

export type RunBench = BenchWith<"runs">;

export const NIGHTLY = laneOf(RUNS, "nightly", [
  { gate: "runs", slots: 1 },
  { gate: "tag:tenant=acme", slots: 1 },
]);

export const GRAPH = '{"steps":{"fetch":{},"store":{"after":["fetch"]}}}';
export const START_TIMEOUT_MS = 5_000;

export function newRun(id: string, more: Partial<NewRun> = {}): NewRun {
  return {
    ...newTask(id, { lane: NIGHTLY, input: '{"day":1}' }),
    options: `{"startTimeoutMs":${START_TIMEOUT_MS},"onStartTimeout":"requeue"}`,
    direct: false,
    graph: GRAPH,
    tags: '{"tenant":"acme"}',
    source: "code",
    rerunOf: null,
    steps: [],
    ...more,
  };
}

export const gateOf = (run: string): string => `run:${run}/steps`;

export const laneOfSteps = (run: string) =>
  laneOf("mail", "send", [
    { gate: "pool:smtp", slots: 1 },
    { gate: gateOf(run), slots: 1 },
  ]);

/** The unit of a step, named after its run and its step. */
export function unitOf(
  run: string,
  step: string,
  more: Partial<RunMove["enqueue"][number]> = {},
): RunMove["enqueue"][number] {
  return {
    ...newTask(`${run}-${step}`, { lane: laneOfSteps(run) }),
    step,
    claimTimeoutMs: null,
    ...more,
  };
}

export const open = (run: string, name: string): RunMove["steps"][number] => ({
  name,
  state: "open",
  unit: `${run}-${name}`,
  body: null,
});

/** News of a run, or of a step of it that did not succeed. */
export const newsOf = (run: string, failed: string | null = null): News => ({ run, failed });

/** Admits a queued run, as a coordinator's pass does. */
export async function letIn(bench: RunBench, id: string): Promise<readonly Claimed[]> {
  return bench.claim([id], { session: RUNS, claimLeaseMs: START_TIMEOUT_MS, news: [newsOf(id)] });
}

/** Reads the news and moves nothing. */
export async function look(bench: RunBench): Promise<readonly RunSeen[]> {
  let seen: readonly RunSeen[] = [];
  await bench.store.advance((runs) => {
    seen = runs;
    return { moves: [] };
  });
  return seen;
}

/** Moves one run, using the epoch it is seen with. */
export async function move(bench: RunBench, run: string, what: Partial<RunMove>): Promise<Advanced> {
  return bench.store.advance((runs) => ({
    moves: runs.filter(({ id }) => id === run).map(({ epoch }) => ({ run, epoch, ...STILL, ...what })),
  }));
}

/** A direct run that has started, with these steps in line. */
export async function started(bench: RunBench, id: string, ...steps: readonly string[]): Promise<void> {
  await bench.store.submit([newRun(id, { direct: true })]);
  await move(bench, id, {
    start: { gates: [{ key: gateOf(id), limit: 2 }], timeoutMs: 60_000 },
    steps: steps.map((step) => open(id, step)),
    enqueue: steps.map((step) => unitOf(id, step)),
  });
}

/** Leaves news, as any transaction does that wants a run to be looked at. */
export async function leaveNews(bench: RunBench, ...runs: readonly string[]): Promise<void> {
  await bench.claim([], { news: runs.map((run) => newsOf(run)) });
}

export async function stateOf(bench: RunBench, id: string): Promise<RunState | undefined> {
  return (await bench.store.run(id))?.run.state;
}
