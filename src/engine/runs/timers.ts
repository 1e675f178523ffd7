/**
 * Times that run out: a run that takes too long, a step that waited too long for its pools.
 *
 * What counts is how long a step waited for a gate that was full, or behind others; while a gate is paused or has no
 * limit, nobody could have let it in, and its clock stands still. That is known from what its lane waited for. So a timer
 * that rings is only a reason to look, and is set again for what is left.
 */
import { describe } from "../../core/gate/describe.ts";
import type { Reason } from "../../core/gate/reason.ts";
import { eachFrontOnce } from "../../core/gate/reason.ts";
import type { GateChange } from "../../core/run/claim-clock.ts";
import { countedWait } from "../../core/run/claim-clock.ts";
import { sayDuration } from "../../core/time.ts";
import type { EventRow, Store, Timer, WaitView } from "../../store/store.ts";
import { hurdlesOf, reasonsOf, waitsOf } from "../claiming/wait.ts";

/** Where a clock stands still, a timer that rings is not set again sooner than this. */
const SOON_MS = 1_000;

/** Answers in how long to look again. */
export async function lookAtTimers(store: Store, claimTimeoutMs: number): Promise<number | undefined> {
  const { due, nextAt, now } = await store.timers();
  for (const timer of due) await ring(store, timer, claimTimeoutMs);
  if (due.length > 0) return 0;
  return nextAt === null ? undefined : Math.max(0, nextAt - now);
}

async function ring(store: Store, timer: Timer, claimTimeoutMs: number): Promise<void> {
  if (timer.kind === "run") await endRun(store, timer);
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
  const waitedMs = await countedWaitOf(store, view);
  const hurdles = hurdlesOf(view);
  const left = claimTimeoutMs - waitedMs;
  // Its clock runs, so what is left runs out; while it stands still, there is no hurry.
  if (left > 0 && hurdles.length > 0 && hurdles.every(isFull)) return store.resetTimer(timer, left);
  if (left > 0 || !hurdles.some(isFull)) return store.resetTimer(timer, Math.max(left, SOON_MS));
  await store.failWaiting(timer.id, JSON.stringify(tooLong(reasonsOf(view), waitedMs, view.now)));
  store.hint("runs");
}

async function countedWaitOf(store: Store, { task, now }: WaitView): Promise<number> {
  const waits = waitsOf(await store.events(task.lane), task.at, now).map(({ gates, fromMs, forMs }) => ({
    gates,
    from: fromMs,
    until: fromMs + forMs,
  }));
  const changes = new Map<string, GateChange[]>();
  for (const gate of new Set(waits.flatMap(({ gates }) => gates)))
    changes.set(gate, (await store.events(gate)).flatMap(changeOf));
  return countedWait(waits, changes);
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
