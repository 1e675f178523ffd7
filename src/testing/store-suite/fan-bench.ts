/** Steps over a list on the workbench: what the suite needs often. */
import { laneOf } from "../../store/lane.ts";
import type {
  Fan,
  ItemCounts,
  NewUnit,
  Reading,
  Results,
  RunMove,
  RunSeen,
  StepKey,
  StepMove,
} from "../../store/runs.ts";
import { newTask } from "./bench.ts";
import type { RunBench } from "./run-bench.ts";
import { gateOf, leaveNews, look, move, newRun } from "./run-bench.ts";

/** The gate that limits how many items of a step may be in flight. */
export const windowOf = (run: string, step: string): string => `run:${run}/items/${step}`;

export const laneOfItems = (run: string, step: string) =>
  laneOf("mail", "send", [
    { gate: "pool:smtp", slots: 1 },
    { gate: gateOf(run), slots: 1 },
    { gate: windowOf(run, step), slots: 1 },
  ]);

/** The unit of an item, named after its run, its step and its place. */
export function itemOf(run: string, step: string, item: number, more: Partial<NewUnit> = {}): NewUnit {
  const unit = newTask(`${run}-${step}-${item}`, { lane: laneOfItems(run, step), input: `[${item}]` });
  return { ...unit, step, item, claimTimeoutMs: null, ...more };
}

export const itemsOf = (run: string, step: string, items: readonly number[]): NewUnit[] =>
  items.map((item) => itemOf(run, step, item));

export function over(run: string, name: string, { total, created }: Omit<Fan, "lane">): StepMove {
  return {
    name,
    state: "open",
    unit: null,
    body: null,
    fan: { lane: laneOfItems(run, name).id, total, created },
  };
}

/** A direct run that has started, with a step over a list and these items of it in line. */
export async function startedOver(
  bench: RunBench,
  run: string,
  step: string,
  items: readonly number[],
  more: Partial<RunMove> = {},
): Promise<void> {
  await bench.store.submit([newRun(run, { direct: true })]);
  await move(bench, run, {
    start: { gates: [{ key: gateOf(run), limit: 9 }], timeoutMs: null },
    gates: [{ key: windowOf(run, step), limit: 2 }],
    steps: [over(run, step, { total: items.length, created: items.length })],
    enqueue: itemsOf(run, step, items),
    ...more,
  });
}

/** Moves a run, whether or not there is news of it. */
export async function moveOn(bench: RunBench, run: string, what: Partial<RunMove>): Promise<void> {
  await leaveNews(bench, run);
  await move(bench, run, what);
}

/** The results that one `advance` can read. */
export async function readOf(bench: RunBench, run: string, reading: Partial<Reading>): Promise<Results> {
  await leaveNews(bench, run);
  let asked = false;
  let found: Results = { units: new Map(), bodies: new Map(), items: new Map(), sizes: new Map() };
  await bench.store.advance((_, results) => {
    found = results;
    if (asked) return { moves: [] };
    asked = true;
    return { read: { units: [], bodies: [], items: [], ...reading } };
  });
  return found;
}

export async function countsOf(
  bench: RunBench,
  { run, step }: StepKey,
): Promise<ItemCounts | null | undefined> {
  return (await bench.store.run(run))?.steps.find(({ name }) => name === step)?.items;
}

export const places = async (bench: RunBench, run: string, step: string): Promise<string[]> =>
  (await bench.store.items(run, step, { after: -1, limit: 99 })).map(({ place }) => place);

/** How `advance` sees the only run with news. */
export async function seen(bench: RunBench): Promise<RunSeen | undefined> {
  return (await look(bench))[0];
}

export const newsCount = async (bench: RunBench): Promise<number> =>
  (await bench.store.advance(() => ({ moves: [] }))).news;
