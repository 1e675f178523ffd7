/**
 * Times that run out: a run that takes too long, a step that waited too long for its pools, a list whose pools have let none
 * of its items in for too long.
 *
 * What counts is how long a step waited for a gate that was full, or behind others; while a gate is paused or has no
 * limit, nobody could have let it in, and its clock stands still. That is known from what its lane waited for. So a timer
 * that rings is only a reason to look, and is set again for what is left.
 */
import { describe } from "../../core/gate/describe.ts";
import { windowKey } from "../../core/gate/key.ts";
import type { Reason } from "../../core/gate/reason.ts";
import { eachFrontOnce } from "../../core/gate/reason.ts";
import type { GateChange } from "../../core/run/claim-clock.ts";
import { countedWait } from "../../core/run/claim-clock.ts";
import { sayDuration } from "../../core/time.ts";
import { storedOptions } from "../../core/unit-options.ts";
import { asDataError, isDataError } from "../../store/data-error.ts";
import type { EventRow, Store, Timer, WaitView } from "../../store/store.ts";
import { hurdlesOf, reasonsOf, waitsOf } from "../claiming/wait.ts";

/** Where a clock stands still, a timer that rings is not set again sooner than this. */
const SOON_MS = 1_000;
/** To find out when a list last moved takes a look at all of its items. */
const SOON_FOR_LISTS_MS = 5_000;

const PUT_OFF_MS = 60_000;

/** Answers in how long to look again. */
export async function lookAtTimers(
  store: Store,
  claimTimeoutMs: number,
  failed?: (error: unknown) => void,
): Promise<number | undefined> {
  const { due, nextAt, now } = await store.timers();
  for (const timer of due) {
    try {
      await ring(store, timer, claimTimeoutMs);
    } catch (error) {
      // One that cannot be rung must not keep the others from it: it is tried again in a while.
      const typed = asDataError(error);
      if (!isDataError(typed)) throw error;
      failed?.(typed);
      await store.resetTimer(timer, PUT_OFF_MS);
    }
  }
  if (due.length > 0) return 0;
  return nextAt === null ? undefined : Math.max(0, nextAt - now);
}

async function ring(store: Store, timer: Timer, claimTimeoutMs: number): Promise<void> {
  if (timer.kind === "run") await endRun(store, timer);
  else if (timer.kind === "items") await endStandstill(store, timer, claimTimeoutMs);
  else await endWait(store, timer, claimTimeoutMs);
}

async function endRun(store: Store, timer: Timer): Promise<void> {
  const message = "The run took longer than its timeout.";
  await store.failRun(timer.id, JSON.stringify({ name: "Error", code: "RUN_TIMEOUT", message }));
  await store.resetTimer(timer, null);
  store.hint("cancel");
  store.hint("runs");
}

async function endWait(store: Store, timer: Timer, claimTimeoutMs: number): Promise<void> {
  const view = await store.wait(timer.id);
  if (!view || isOver(view.task.state)) return store.resetTimer(timer, null);
  // It has its slots, or waits for a retry: should it come back in line, its time begins anew.
  if (view.task.state !== "waiting") return store.resetTimer(timer, claimTimeoutMs);
  const waitedMs = (await clockOf(store, view))(view.task.since);
  const again = lookAgainMs(hurdlesOf(view), claimTimeoutMs - waitedMs);
  if (again !== undefined) return store.resetTimer(timer, again);
  await store.failWaiting(timer.id, JSON.stringify(tooLong(reasonsOf(view), waitedMs, view.now)));
  store.hint("runs");
}

/**
 * A long list on a small pool is no wait that is too long: as long as its items are let in one after the other, it moves. So
 * the clock of an item begins when the last of them was let in, and stands still while it waits for those before it, at
 * the window. Then all of them have waited too long together.
 */
async function endStandstill(store: Store, timer: Timer, claimTimeoutMs: number): Promise<void> {
  const list = await store.standstill(timer.id);
  if (!list?.open) return store.resetTimer(timer, null);
  const [first] = list.waiting;
  const view = first && (await store.wait(first.id));
  // All are at work or wait for a retry: should one come back in line, its time begins anew.
  if (view?.task.state !== "waiting") return store.resetTimer(timer, claimTimeoutMs);
  const clock = await clockOf(store, view, windowOf(view));
  const waitedMs = (at: number): number => clock(Math.max(at, list.claimedAt ?? at));
  const again = lookAgainMs(hurdlesOf(view), claimTimeoutMs - waitedMs(view.task.since));
  if (again !== undefined)
    return store.resetTimer(timer, Math.max(again, Math.min(claimTimeoutMs, SOON_FOR_LISTS_MS)));
  const reasons = reasonsOf(view);
  for (const { id, at } of list.waiting) {
    if (waitedMs(at) < claimTimeoutMs) continue;
    await store.failWaiting(id, JSON.stringify(tooLong(reasons, waitedMs(at), view.now)));
  }
  await store.resetTimer(timer, 0);
  store.hint("runs");
}

function windowOf({ task }: WaitView): string | undefined {
  const { step } = storedOptions(task.options);
  return step && windowKey(step.run, step.name);
}

/** Undefined when it has waited too long. */
function lookAgainMs(hurdles: readonly Reason[], left: number): number | undefined {
  // Its clock runs, so what is left runs out; while it stands still, there is no hurry.
  if (left > 0 && hurdles.length > 0 && hurdles.every(isFull)) return left;
  if (left > 0 || !hurdles.some(isFull)) return Math.max(left, SOON_MS);
  return undefined;
}

/** How long its lane has waited since an instant, without what it waited for `uncounted`. */
async function clockOf(
  store: Store,
  { task, now }: WaitView,
  uncounted?: string,
): Promise<(since: number) => number> {
  const lane = await store.events(task.lane);
  const counted = waitsOf(lane, 0, now).filter(({ gates }) => !gates.some((gate) => gate === uncounted));
  const changes = new Map<string, GateChange[]>();
  for (const gate of new Set(counted.flatMap(({ gates }) => gates)))
    changes.set(gate, (await store.events(gate)).flatMap(changeOf));
  return (since) => {
    const waits = waitsOf(lane, since, now).filter(({ gates }) => !gates.some((gate) => gate === uncounted));
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
