/** The runs below a run, for output. A tree can be large, so only some of them are read. */
import type { ItemView } from "../../api/item-view.ts";
import type { RunWithSteps, StepView } from "../../api/run-view.ts";
import type { Sluice } from "../../api/sluice.ts";

/** The child runs that were read, by ID; a list has several. */
export interface Below {
  readonly of: (step: StepView) => readonly RunWithSteps[];
  /** True if there are more than were read. */
  readonly more: boolean;
}

export const NOTHING_BELOW: Below = { of: () => [], more: false };

/** The most items of one list that are shown with their runs. */
const MOST_ITEMS = 5;

/** `isShown` says which steps to look into. The runs near the top come first. */
export async function readBelow(
  sluice: Sluice,
  run: RunWithSteps,
  most: number,
  isShown: (step: StepView) => boolean = () => true,
): Promise<Below> {
  const found = new Map<StepView, RunWithSteps[]>();
  const open = [run];
  let count = 0;
  for (let next = open.shift(); next !== undefined && count < most; next = open.shift())
    for (const step of next.steps.filter((each) => each.kind !== "task" && isShown(each))) {
      const ids = await idsOf(sluice, next.id, step);
      const runs = await Promise.all(ids.slice(0, most - count).map((id) => sluice.runs.get(id)));
      const known = runs.filter((each) => each !== undefined);
      found.set(step, known);
      open.push(...known);
      count += known.length;
    }
  return { of: (step) => found.get(step) ?? [], more: count >= most };
}

/** Items that run come first, then those that failed. */
async function idsOf(sluice: Sluice, run: string, step: StepView): Promise<string[]> {
  if (!step.items) return step.unit === null ? [] : [step.unit];
  const items = await lastClaimed(sluice, run, step);
  const rank = { running: 0, claimed: 0, failed: 1 } as const satisfies Partial<Record<string, number>>;
  const rankOf = (state: string): number => rank[state as keyof typeof rank] ?? 2;
  return items
    .filter(({ state }) => rankOf(state) < 2)
    .sort((a, b) => rankOf(a.state) - rankOf(b.state) || a.index - b.index)
    .slice(0, MOST_ITEMS)
    .map(({ unit }) => unit);
}

/** Items are claimed in the order of the list, so those in flight are among the last that were claimed. */
function lastClaimed(sluice: Sluice, run: string, { name, items }: StepView): Promise<ItemView[]> {
  const { running = 0, succeeded = 0, failed = 0, cancelled = 0 } = items ?? {};
  const claimed = running + succeeded + failed + cancelled;
  return sluice.runs.items(run, name, { after: Math.max(-1, claimed - MOST_READ), limit: MOST_READ });
}

const MOST_READ = 200;

/** Items in flight that are runs, at most `most` of them. */
export async function itemsInFlight(
  sluice: Sluice,
  run: string,
  step: StepView,
  most: number,
): Promise<ItemView[]> {
  const items = await lastClaimed(sluice, run, step);
  const inFlight = items.filter(({ state }) => state === "running" || state === "claimed");
  return inFlight.slice(0, Math.min(most, MOST_ITEMS));
}

/** The name of an item's run in a tree: `[3]`. */
export const nameOfItem = (run: RunWithSteps): string => `[${run.child?.item ?? ""}]`;
