/**
 * The history of a run in one list: the events of the run and of each of its steps, in order. Nothing is
 * stored for it twice: it is derived from the histories of the units, of their lanes (the waits) and of the
 * run's gates.
 */

import type { EventKind } from "../core/event.ts";
import { kindOf, parseKey } from "../core/gate/key.ts";
import { gateTitle } from "../core/gate/kind.ts";
import type { RunEventKind } from "../core/run/event.ts";
import type { Wait } from "../engine/claiming/wait.ts";
import { waitsOf } from "../engine/claiming/wait.ts";
import type { EventRow, ItemCounts } from "../store/store.ts";
import { readable } from "./readable.ts";
import type { WaitStepView } from "./wait-view.ts";

export interface RunEvent {
  readonly at: number;
  readonly kind: RunEventKind;
  readonly step?: string;
  /** The index of an item in its step's list. */
  readonly item?: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A step's unit, with its own history and its lane's. */
export interface StepHistory {
  readonly step: string;
  readonly item?: number;
  readonly pools: readonly string[];
  readonly own: readonly EventRow[];
  readonly lane: readonly EventRow[];
  /** The end of a wait that is still open. */
  readonly now: number;
}

export const OF_RUN: Readonly<Partial<Record<EventKind, RunEventKind>>> = {
  TaskEnqueued: "RunQueued",
  TaskClaimed: "RunDequeued",
  TaskReturned: "RunRequeued",
  TaskReprioritized: "RunReprioritized",
  TaskSucceeded: "RunSucceeded",
  TaskFailed: "RunFailed",
  TaskCancelled: "RunCancelled",
  GatePaused: "RunPaused",
  GateResumed: "RunResumed",
};

export const OF_STEP: Readonly<Partial<Record<EventKind, RunEventKind>>> = {
  TaskEnqueued: "StepReady",
  TaskRetried: "StepRetried",
  TaskReturned: "StepReturned",
  TaskLost: "StepLost",
  TaskSucceeded: "StepSucceeded",
  TaskFailed: "StepFailed",
  TaskCancelled: "StepCancelled",
  TaskExpired: "StepExpired",
  TaskQuarantined: "StepQuarantined",
};

/** The events that end a claim. */
const ENDS = new Set(Object.keys(OF_STEP).filter((kind) => kind !== "TaskEnqueued"));

export function runEvents(
  own: readonly EventRow[],
  gate: readonly EventRow[],
  startedAt: number | null,
  steps: readonly StepHistory[],
  lists: readonly RunEvent[] = [],
): RunEvent[] {
  let priority: unknown = 0;
  const ofRun = [...own, ...gate].flatMap((event): RunEvent[] => {
    const kind = OF_RUN[event.kind];
    if (!kind) return [];
    if (kind === "RunQueued") priority = dataOf(event).priority;
    if (kind === "RunReprioritized") priority = dataOf(event).to;
    const data = kind === "RunQueued" || kind === "RunDequeued" ? { priority } : dataOf(event);
    return [{ at: event.at, kind, data }];
  });
  const started: RunEvent[] = startedAt === null ? [] : [{ at: startedAt, kind: "RunStarted", data: {} }];
  // Within a millisecond, a run begins before its steps and ends after them.
  const [ends, begins] = [ofRun.filter(isEnd), ofRun.filter((event) => !isEnd(event))];
  const all = [...begins, ...started, ...steps.flatMap(stepEvents), ...lists, ...ends];
  return all
    .map((event, index) => ({ event, index }))
    .sort((a, b) => a.event.at - b.event.at || a.index - b.index)
    .map(({ event }) => event);
}

/** The events of some items of a list, in order. */
export function itemEvents(items: readonly StepHistory[]): RunEvent[] {
  return items.flatMap(stepEvents).sort((a, b) => a.at - b.at);
}

/** The events of a list as a whole: when it was put in line, when its first item started, and its end. */
export function listEvents(step: string, state: string, items: ItemCounts): RunEvent[] {
  const { total, enqueuedAt, since, until, succeeded, failed, cancelled } = items;
  const tell = (at: number | null, kind: RunEventKind, data: RunEvent["data"]): RunEvent[] =>
    at === null ? [] : [{ at, kind, step, data }];
  const end = OF_LIST[state];
  return [
    ...tell(enqueuedAt, "StepReady", { items: total }),
    ...tell(since, "StepStarted", {}),
    ...(end ? tell(until, end, { succeeded, failed, cancelled }) : []),
  ];
}

/** The events of a step that waits. A wait that ends with its run has no answer. */
export function waitEvents(
  step: string,
  state: string,
  { since, until: _, answer, ...what }: WaitStepView,
): RunEvent[] {
  const begun: RunEvent = { at: since, kind: "StepWaiting", step, data: what };
  if (!answer) return [begun];
  const { at, ...how } = answer;
  const end = OF_LIST[state];
  return [
    begun,
    { at, kind: "StepAnswered", step, data: how },
    ...(end ? [{ at, kind: end, step, data: {} }] : []),
  ];
}

const OF_LIST: Readonly<Record<string, RunEventKind>> = {
  succeeded: "StepSucceeded",
  failed: "StepFailed",
  cancelled: "StepCancelled",
};

const isEnd = ({ kind }: RunEvent): boolean =>
  kind === "RunSucceeded" || kind === "RunFailed" || kind === "RunCancelled";

/** For each time in line: the wait, if any, then the claim, its renewals and its release. */
function stepEvents(history: StepHistory): RunEvent[] {
  const { step, item, pools, own } = history;
  const isPooled = pools.length > 0;
  const events: RunEvent[] = [];
  let inLineSince: number | undefined;
  let claimed = false;
  const tell = (at: number, kind: RunEventKind, data: RunEvent["data"] = {}): void => {
    events.push({ at, kind, step, ...(item === undefined ? {} : { item }), data });
  };
  for (const event of own) {
    if (event.kind === "TaskClaimed") {
      tellWait(history, inLineSince ?? event.at, event.at, tell);
      if (isPooled) tell(event.at, "StepSlotClaimed", { pools: pools.join(",") });
      tell(event.at, "StepStarted", { attempt: dataOf(event).attempt });
      claimed = true;
      continue;
    }
    if (event.kind === "StepSlotRenewed") tell(event.at, "StepSlotRenewed");
    const kind = OF_STEP[event.kind];
    if (kind) {
      // A wait can also end without slots, by a cancellation or a timeout.
      if (!claimed && inLineSince !== undefined) tellWait(history, inLineSince, event.at, tell);
      if (claimed && ENDS.has(event.kind) && isPooled)
        tell(event.at, "StepSlotReleased", { pools: pools.join(",") });
      tell(event.at, kind, dataOf(event));
      claimed = false;
      inLineSince = event.at + Number(dataOf(event).delayMs ?? 0);
    }
  }
  if (!claimed && inLineSince !== undefined && !isOver(own))
    tellWait(history, inLineSince, history.now, tell);
  return events;
}

const OVER: ReadonlySet<EventKind | undefined> = new Set([
  "TaskSucceeded",
  "TaskFailed",
  "TaskCancelled",
  "TaskExpired",
  "TaskQuarantined",
]);

const isOver = (own: readonly EventRow[]): boolean => OVER.has(own.at(-1)?.kind);

/** Tells each wait once, even if the gates that the unit waited for changed. */
function tellWait(
  { lane }: StepHistory,
  from: number,
  until: number,
  tell: (at: number, kind: RunEventKind, data: RunEvent["data"]) => void,
): void {
  const [first] = waitsOf(lane, from, until);
  if (!first) return;
  const reason = `waiting for ${first.gates.map(gateTitle).join(" and ")}`;
  tell(first.fromMs, "StepSlotWaiting", { reason, gates: first.gates });
}

export interface Waited {
  readonly gate: string;
  readonly forMs: number;
}

/** How long a unit waited for each gate, longest first. A wait for two gates counts for both. */
export function waitedPerGate(waits: readonly Wait[]): Waited[] {
  const total = new Map<string, number>();
  for (const { gates, forMs } of waits)
    for (const gate of gates) total.set(gate, (total.get(gate) ?? 0) + forMs);
  return [...total].map(([gate, forMs]) => ({ gate, forMs })).sort((a, b) => b.forMs - a.forMs);
}

export const poolsIn = (gates: readonly string[]): string[] =>
  gates
    .filter((gate) => kindOf(gate) === "pool")
    .map((gate) => {
      const { name, value } = parseKey(gate);
      return value === null ? name : `${name}=${value}`;
    });

function dataOf(event: EventRow | undefined): Readonly<Record<string, unknown>> {
  if (!event?.data) return {};
  const data = readable(event.data);
  return typeof data === "object" && data !== null ? (data as Record<string, unknown>) : { value: data };
}
