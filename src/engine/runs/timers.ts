/**
 * Timeouts: of a run that takes too long, of a step that waits too long for its pools, and of a list whose
 * pools admit none of its items for too long. The times of steps that wait are timers, too.
 *
 * Only the time that a step waits for a full gate or behind other units counts. While a gate is paused or
 * unset, nothing could have admitted the step, so its clock stands still. The history of its lane tells these
 * times apart. So a timer that rings is only a reason to look, and is set again for the time that is left.
 */
import { describe } from "../../core/gate/describe.ts";
import { isPauseOfRun, windowKey } from "../../core/gate/key.ts";
import type { Reason } from "../../core/gate/reason.ts";
import { eachFrontOnce } from "../../core/gate/reason.ts";
import type { GateChange } from "../../core/run/claim-clock.ts";
import { countedWait } from "../../core/run/claim-clock.ts";
import { sayDuration } from "../../core/time.ts";
import { storedOptions } from "../../core/unit-options.ts";
import { asDataError, isDataError } from "../../store/data-error.ts";
import type { EventRow, Store, TaskRow, Timer, WaitView } from "../../store/store.ts";
import { waitOfSubject } from "../../store/store.ts";
import { handlerOf } from "../claiming/handler.ts";
import type { Wait } from "../claiming/wait.ts";
import { hurdlesOf, reasonsOf, waitsOf } from "../claiming/wait.ts";

/** While a clock stands still, its timer is not set again sooner than this. */
const SOON_MS = 1_000;
/** The same for lists. It is longer, because all items have to be read to find out when a list last moved. */
const SOON_FOR_LISTS_MS = 5_000;

const PUT_OFF_MS = 60_000;

interface TimerSettings {
  readonly claimTimeoutMs: number;
  newId(): string;
  readonly failed?: ((error: unknown) => void) | undefined;
}

/** Returns the time until the next look. */
export async function lookAtTimers(store: Store, settings: TimerSettings): Promise<number | undefined> {
  const { due, nextAt, now } = await store.timers();
  for (const timer of due) {
    try {
      await ring(store, timer, settings);
    } catch (error) {
      // A timer that cannot be handled must not block the others. It is tried again later.
      const typed = asDataError(error);
      if (!isDataError(typed)) throw error;
      settings.failed?.(typed);
      await store.resetTimer(timer, PUT_OFF_MS);
    }
  }
  if (due.length > 0) return 0;
  return nextAt === null ? undefined : Math.max(0, nextAt - now);
}

async function ring(store: Store, timer: Timer, settings: TimerSettings): Promise<void> {
  if (timer.kind === "run") await endRun(store, timer, settings);
  else if (timer.kind === "wait") await endPatience(store, timer);
  else if (timer.kind === "items") await endStandstill(store, timer, settings);
  else await endWait(store, timer, settings);
}

async function endRun(store: Store, timer: Timer, { newId }: TimerSettings): Promise<void> {
  const message = "The run took longer than its timeout.";
  const body = JSON.stringify({ name: "Error", code: "RUN_TIMEOUT", message });
  const run = await store.task(timer.id);
  const handler = run && handlerOf(run, { to: "failed", body }, newId);
  await store.failRun(timer.id, body, handler);
  await store.resetTimer(timer, null);
  store.hint("cancel");
  store.hint("runs");
  if (handler) store.hint("work");
}

/** The time of a step that waits is up. The store deletes the timer with the wait, or if there is none. */
async function endPatience(store: Store, { id }: Timer): Promise<void> {
  await store.lapseWait(waitOfSubject(id));
  store.hint("runs");
}

async function endWait(store: Store, timer: Timer, settings: TimerSettings): Promise<void> {
  const { claimTimeoutMs } = settings;
  const view = await store.wait(timer.id);
  if (!view || isOver(view.task.state)) return store.resetTimer(timer, null);
  // The step has its slots or waits for a retry. If it comes back in line, its time starts again.
  if (view.task.state !== "waiting") return store.resetTimer(timer, claimTimeoutMs);
  const waitedMs = (await clockOf(store, view))(view.task.since);
  const again = lookAgainMs(hurdlesOf(view), claimTimeoutMs - waitedMs);
  if (again !== undefined) return store.resetTimer(timer, again);
  await giveUp(store, view.task, tooLong(reasonsOf(view), waitedMs, view.now), settings);
  store.hint("runs");
}

/**
 * A long list on a small pool may take its time while its items are admitted one after another. So the clock
 * of an item starts when the last item was admitted, and stands still while the item waits at the window for
 * the items before it. If no item is admitted in time, the waiting items fail together.
 */
async function endStandstill(store: Store, timer: Timer, settings: TimerSettings): Promise<void> {
  const { claimTimeoutMs } = settings;
  const list = await store.standstill(timer.id);
  if (!list?.open) return store.resetTimer(timer, null);
  const [first] = list.waiting;
  const view = first && (await store.wait(first.id));
  // All items run or wait for a retry. If one comes back in line, its time starts again.
  if (view?.task.state !== "waiting") return store.resetTimer(timer, claimTimeoutMs);
  const clock = await clockOf(store, view, windowOf(view));
  const waitedMs = (at: number): number => clock(Math.max(at, list.claimedAt ?? at));
  const again = lookAgainMs(hurdlesOf(view), claimTimeoutMs - waitedMs(view.task.since));
  if (again !== undefined)
    return store.resetTimer(timer, Math.max(again, Math.min(claimTimeoutMs, SOON_FOR_LISTS_MS)));
  const reasons = reasonsOf(view);
  for (const { id, at } of list.waiting) {
    if (waitedMs(at) < claimTimeoutMs) continue;
    const task = id === view.task.id ? view.task : await store.task(id);
    if (task) await giveUp(store, task, tooLong(reasons, waitedMs(at), view.now), settings);
  }
  await store.resetTimer(timer, 0);
  store.hint("runs");
}

/** The unit fails, unless it no longer waits. */
async function giveUp(store: Store, task: TaskRow, error: object, { newId }: TimerSettings): Promise<void> {
  const body = JSON.stringify(error);
  const handler = handlerOf(task, { to: "failed", body }, newId);
  const done = await store.failWaiting(task.id, body, handler);
  if (done && handler) store.hint("work");
}

function windowOf({ task }: WaitView): string | undefined {
  const { step } = storedOptions(task.options);
  return step && windowKey(step.run, step.name);
}

/** Undefined if it has waited too long. */
function lookAgainMs(hurdles: readonly Reason[], left: number): number | undefined {
  // While its clock runs, it is due when the rest of its time is over. While the clock stands still, there is
  // no hurry.
  if (left > 0 && hurdles.length > 0 && hurdles.every(isFull)) return left;
  if (left > 0 || !hurdles.some(isFull)) return Math.max(left, SOON_MS);
  return undefined;
}

/**
 * How long its lane has waited since an instant, without the time that its run was paused or that it waited
 * for `uncounted`.
 */
async function clockOf(
  store: Store,
  { task, now }: WaitView,
  uncounted?: string,
): Promise<(since: number) => number> {
  const lane = await store.events(task.lane);
  const isCounted = ({ gates }: Wait): boolean =>
    !gates.some((gate) => gate === uncounted || isPauseOfRun(gate));
  const counted = waitsOf(lane, 0, now).filter(isCounted);
  const changes = new Map<string, GateChange[]>();
  for (const gate of new Set(counted.flatMap(({ gates }) => gates)))
    changes.set(gate, (await store.events(gate)).flatMap(changeOf));
  return (since) => {
    const waits = waitsOf(lane, since, now).filter(isCounted);
    return countedWait(
      waits.map(({ gates, fromMs, forMs }) => ({ gates, from: fromMs, until: fromMs + forMs })),
      changes,
    );
  };
}

function changeOf({ kind, at, data }: EventRow): GateChange[] {
  if (kind === "GatePaused" || kind === "GateResumed")
    return [{ at, was: kind === "GatePaused", open: kind === "GateResumed" }];
  if (kind !== "LimitChanged" && kind !== "LimitReset") return [];
  const { from, to } = JSON.parse(data ?? "{}") as { from?: number | null; to?: number | null };
  return [{ at, was: Boolean(from), open: Boolean(to) }];
}

function tooLong(reasons: readonly Reason[], waitedMs: number, now: number) {
  const told = reasons.map((reason) => describe(reason, { now })).join("; ");
  return {
    name: "Error",
    code: "CLAIM_TIMEOUT",
    message: `Waited ${sayDuration(waitedMs)} for its slots, longer than SLUICE_CLAIM_TIMEOUT allows: ${told}`,
    reasons: eachFrontOnce(reasons),
  };
}

const isOver = (state: string): boolean =>
  state !== "waiting" && state !== "later" && state !== "claimed" && state !== "running";

const isFull = ({ kind }: Reason): boolean => kind === "full" || kind === "behind";
