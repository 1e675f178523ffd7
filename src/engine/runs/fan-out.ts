/**
 * Steps over a list, as rows. Items are put in line in batches, in the order of the list, and share one lane
 * and one window. Nothing hands items out: a pass takes the next waiting item whenever the window and all
 * other gates allow.
 *
 * After a crash the step has the items that were created so far, and the next look continues from there. When
 * all items were created and all have ended, the step ends with their outcomes.
 */
import { SluiceError } from "../../core/error.ts";
import { windowKey } from "../../core/gate/key.ts";
import { stoppedBy } from "../../core/run/fail-fast.ts";
import type { ItemOutcome } from "../../core/run/fan-out.ts";
import { aggregate, itemInput, itemsOf, windowOf } from "../../core/run/fan-out.ts";
import { endError } from "../../core/task/end-error.ts";
import type { UnitStep } from "../../core/workflow/graph.ts";
import type { Json, Values } from "../../core/workflow/template.ts";
import type { LaneSpec } from "../../store/lane.ts";
import type { Fan, ItemSeen, NewUnit, RunMove, RunSeen, StepMove } from "../../store/runs.ts";
import { refuseTooDeep } from "./child.ts";
import type { Home } from "./home.ts";
import { withLocks } from "./home.ts";
import { boundedText } from "./stored-json.ts";
import type { UnitSettings } from "./unit.ts";
import { alike, laneOfStep, unitOf, waitsForOthers } from "./unit.ts";

/** The most items of one step that are put in line in one transaction. */
export const A_BATCH = 2_000;

/** The part of a run's move that a step over a list adds. */
type FanMove = Pick<RunMove, "gates" | "enqueue" | "timers" | "endItems" | "again"> & {
  readonly steps: StepMove[];
};

const NO_FAN: FanMove = { gates: [], steps: [], enqueue: [], timers: [], endItems: [], again: false };

/** How much one look may build. A batch ends early when that much was built. */
interface Room {
  readonly most: number;
  readonly isFull: boolean;
  built(size: number): void;
}

/** Starts a step. If its items are not a list, the step fails and says why. */
export function begin(
  home: Home,
  written: UnitStep,
  values: Values,
  kept: Kept,
  settings: UnitSettings,
  room: Room,
): FanMove {
  try {
    const step = withLocks(home, written, values);
    if (step.kind === "run") refuseTooDeep(home, step);
    const gates = [{ key: windowKey(home.run.id, step.name), limit: windowOf(step, values) }];
    const fan = { lane: laneOfItems(home, step).id, total: itemsOf(step, values).length, created: 0 };
    // One timer for the whole list: an item mostly waits for the items before it, which must not count as
    // waiting too long.
    const timers = waitsForOthers(step) ? [{ lane: fan.lane, afterMs: settings.claimTimeoutMs }] : [];
    return { ...create(home, written, fan, values, kept, settings, room), gates, timers };
  } catch (error) {
    if (error instanceof SluiceError && error.code === "DATA_TOO_LARGE") throw error;
    const { name, code, message } = error as { name: string; code?: string; message: string };
    return { ...NO_FAN, steps: [moved(written, "failed", null, JSON.stringify({ name, code, message }))] };
  }
}

/** Creates the next items of a step, from where its row says. */
export function create(
  home: Home,
  written: UnitStep,
  fan: Fan,
  values: Values,
  kept: Kept,
  settings: UnitSettings,
  room: Room,
): FanMove {
  const step = withLocks(home, written, values);
  const items = itemsOf(step, values);
  const shared = alike(home, step, laneOfItems(home, step));
  const most = Math.min(items.length, fan.created + A_BATCH);
  const enqueue: NewUnit[] = [];
  let end = fan.created;
  for (; end < most && !room.isFull; end += 1) {
    if (keptText(kept, end, items.length) !== undefined) continue;
    const value = itemInput(step, values, items[end] as Json, end);
    const what = `The input of item ${end} of step "${step.name}"`;
    const input = value === undefined ? "" : boundedText(what, value, room.most);
    room.built(input.length);
    enqueue.push(unitOf(home, step, input, settings, shared, end));
  }
  const created = { ...fan, created: end };
  // If nothing is left to run, no news will come, so the run is looked at again.
  const again = end < items.length || enqueue.length === 0;
  return { ...NO_FAN, steps: [moved(step, "open", created, null)], enqueue, again };
}

/**
 * The outcomes of the step's items that a rerun keeps from the earlier run: a list if the step ended there,
 * otherwise the outcomes by item index.
 */
export type Kept = readonly ItemOutcome[] | ReadonlyMap<number, string> | null;

/** An item that succeeded there is kept, provided that the list still has the same length. */
function keptText(kept: Kept, index: number, total: number): string | undefined {
  if (kept === null) return undefined;
  if (!isList(kept)) return kept.get(index);
  const outcome = kept.length === total ? kept[index] : undefined;
  return outcome?.state === "succeeded" ? JSON.stringify(outcome) : undefined;
}

const isList = (kept: NonNullable<Kept>): kept is readonly ItemOutcome[] => Array.isArray(kept);

/** For a step that did not end: its items that succeeded. */
export const keptItems = (items: readonly ItemSeen[]): Kept =>
  new Map(
    items.flatMap((seen) => (seen.state === "succeeded" ? [[seen.item, outcomeText(seen)] as const] : [])),
  );

/** All items have ended: the step ends with their outcomes. */
export function conclude(
  step: UnitStep,
  fan: Fan,
  items: readonly ItemSeen[],
  kept: Kept,
): StepMove & { readonly body: string } {
  const unstarted = items.flatMap((seen) => (isStopped(seen) ? [outcomeText(seen)] : []))[0] ?? UNSTARTED;
  const byPlace = new Map(items.map((each) => [each.item, each]));
  const texts: string[] = [];
  const states: { state: ItemOutcome["state"] }[] = [];
  for (let index = 0; index < fan.total; index += 1) {
    const seen = byPlace.get(index);
    const before = seen ? undefined : keptText(kept, index, fan.total);
    texts.push(seen ? outcomeText(seen) : (before ?? unstarted));
    states.push({ state: seen ? stateOf(seen) : before === undefined ? "cancelled" : "succeeded" });
  }
  const body = `[${texts.join(",")}]`;
  return { ...moved(step, aggregate(states).state, null, body), body };
}

const isStopped = ({ state, body }: ItemSeen): boolean =>
  state === "cancelled" && stoppedBy(body) !== undefined;

/** The step whose failure kept every item from starting, if that is how the list ended. */
export function unstartedBecause(items: readonly ItemSeen[], kept: Kept): string | undefined {
  if (kept !== null && (isList(kept) ? kept.some(({ state }) => state === "succeeded") : kept.size > 0))
    return undefined;
  return items.every(isStopped) ? stoppedBy(items[0]?.body ?? null) : undefined;
}

const stateOf = ({ state }: ItemSeen): ItemOutcome["state"] =>
  state === "succeeded" || state === "cancelled" ? state : "failed";

/** A result is copied as it was stored: it may be large and need not be parsed for this. */
function outcomeText(seen: ItemSeen): string {
  const state = stateOf(seen);
  if (state === "succeeded") return `{"state":"succeeded","result":${seen.body ?? "null"}}`;
  const body: unknown = seen.body === null ? null : JSON.parse(seen.body);
  return JSON.stringify({ state, error: endError(seen.state, body) });
}

const UNSTARTED = JSON.stringify({
  state: "cancelled",
  error: endError("cancelled", { by: "onFailure" }),
});

/** The items to end after one has failed, as the step's policy says. */
export function afterFailure(step: UnitStep, run: RunSeen): FanMove["endItems"] {
  const policy = step.each?.onFailure ?? "run-all";
  if (policy === "run-all" || !run.failed.includes(step.name)) return [];
  return [{ step: step.name, inFlight: policy === "cancel" }];
}

function moved(step: UnitStep, state: StepMove["state"], fan: Fan | null, body: string | null): StepMove {
  return { name: step.name, state, unit: null, body, fan };
}

/** One lane for all items: they wait for the same gates and start in the order of their ids. */
const laneOfItems = (home: Home, step: UnitStep): LaneSpec =>
  laneOfStep(home, step, windowKey(home.run.id, step.name));
