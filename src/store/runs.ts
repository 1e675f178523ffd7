/**
 * What a store remembers of runs. A run is a unit like a task: it waits in the line of the queue `@runs`, asks the gates
 * `runs` and `tag:…`, and its claim is what holds them. So its place is its state:
 *
 *   waiting, later → queued · running, not started → notStarted · running, started → started · outcome → the rest
 *
 * Its claim belongs to a session of its own that never ends (`RUNS`), because a run ends with its last step and not with
 * the process that let it in. A claim that nobody starts within its lease, the start timeout, is lost like any other.
 *
 * Steps are tasks that know their run. Whatever ends a step, admits a run or asks for a look leaves a row of news in the
 * same transaction; `advance` reads the news, locks the runs, and writes what has to follow. News that is lost with a
 * process is found by the next one.
 *
 * A run that has ended while code of its steps is still stopping holds what it held, as that code does: its claim is a
 * row of `stopping` until the last of its units has stopped.
 */
import type { Stay } from "./in-line.ts";
import type { LaneSpec } from "./lane.ts";
import type {
  AsideRow,
  Enqueued,
  FinalState,
  GateInfo,
  HeadRow,
  LaneRow,
  NewTask,
  SessionRow,
  Stopping,
  Usage,
} from "./store.ts";

/** The queue of runs, and the session that holds those in progress. No queue of an app can have this name. */
export const RUNS = "@runs";

// ── what goes in ───────────────────────────────────────────────────────────────────────────────────────────────

/** A run to be queued, or with `direct` to be in progress at once, past the run gates and counted at them. */
export interface NewRun extends NewTask {
  readonly direct: boolean;
  /** JSON text of core's Graph; stored once per content. */
  readonly graph: string;
  /** JSON text of an object: key to value. */
  readonly tags: string;
  /** Who submitted it: "code", "cli", "schedule nightly", … */
  readonly source: string;
  /** The run whose finished steps it takes over. */
  readonly rerunOf: string | null;
  /** Steps that need not run again: what is true of them, and the unit that has their result. */
  readonly steps: readonly StepMove[];
}

/** Where a step is: no row is `pending`, `open` has a unit in line or at work. */
export type StepState = "open" | "succeeded" | "failed" | "skipped" | "cancelled";

export interface StepMove {
  readonly name: string;
  readonly state: StepState;
  readonly unit: string | null;
  /** JSON text: why it was skipped; of a step over a list, how its items ended. */
  readonly body: string | null;
  /** Of a step over a list. */
  readonly fan?: Fan | null | undefined;
}

/** The items of a step: their lane, how many there are, and how many of them have been put in line. */
export interface Fan {
  readonly lane: string;
  readonly total: number;
  readonly created: number;
}

/** Something to look at: a run, and the step of which an item did not succeed. */
export interface News {
  readonly run: string;
  readonly failed: string | null;
  /** No item of that step is to start any more: those in line end with the same transaction. */
  readonly stops?: true | undefined;
  /**
   * Of an item that succeeded, its lane: where the same pass claims another of this lane, under a gate that it has for
   * itself, there is nothing to look at before that one has ended, and no news is left.
   */
  readonly lane?: string | undefined;
}

/** Of a run that is done again, and takes over nothing: said in its options. */
export const isFromNothing = (options: string): boolean => options.includes('"fromNothing":true');

// ── moving a run on ────────────────────────────────────────────────────────────────────────────────────────────

/** A step as `advance` sees it. The body of a step over a list is not read: it may be large. */
export interface StepSeen extends Omit<StepMove, "fan"> {
  /** How its unit has ended, if it has. */
  readonly ended: FinalState | null;
  /** `left`: items are in line, delayed or at work. */
  readonly fan: (Fan & { readonly left: boolean }) | null;
}

/** A run in progress that there is news of, under its lock. */
export interface RunSeen {
  readonly id: string;
  /** The epoch of its claim. */
  readonly epoch: number;
  readonly started: boolean;
  readonly paused: boolean;
  readonly priority: number;
  readonly input: string;
  readonly graph: string;
  readonly steps: readonly StepSeen[];
  /** Steps of which items did not succeed, as far as this news says. */
  readonly failed: readonly string[];
  /** Items that succeeded there need not run again; null where it begins from nothing. */
  readonly rerunOf: string | null;
}

export interface RunMove {
  readonly run: string;
  readonly epoch: number;
  /** From now on it has started: its own gates come into being, and its time runs. */
  readonly start: {
    readonly gates: readonly { readonly key: string; readonly limit: number }[];
    readonly timeoutMs: number | null;
  } | null;
  /** Gates of the run that come into being now: the windows of steps over a list. */
  readonly gates: readonly { readonly key: string; readonly limit: number }[];
  readonly steps: readonly StepMove[];
  /** Units to put in line, each for a step of `steps`. `claimTimeoutMs`: how long it may wait for its gates. */
  readonly enqueue: readonly NewUnit[];
  /** Lists that begin now and ask for something that may be full: how long they may stand still for it. */
  readonly timers: readonly { readonly lane: string; readonly afterMs: number }[];
  /** Items that are not to start any more; with `inFlight`, those at work are aborted too. */
  readonly endItems: readonly { readonly step: string; readonly inFlight: boolean }[];
  /** There is more to do: it is news for itself. */
  readonly again: boolean;
  /** Its end: units that are still somewhere are cancelled with it. */
  readonly finish: {
    readonly state: "succeeded" | "failed" | "cancelled";
    readonly body: string | null;
  } | null;
}

/** A move that moves nothing: what a decision starts from. */
export const STILL: Omit<RunMove, "run" | "epoch"> = {
  start: null,
  gates: [],
  steps: [],
  enqueue: [],
  timers: [],
  endItems: [],
  again: false,
  finish: null,
};

export interface NewUnit extends NewTask {
  readonly step: string;
  readonly claimTimeoutMs: number | null;
  /** Its place in the list, for an item. */
  readonly item?: number | undefined;
}

/** Moves to write; or, first, something to look at. */
export type Advance = { readonly moves: readonly RunMove[] } | { readonly read: Reading };

export interface Reading {
  /** The results of these units. */
  readonly units: readonly string[];
  /** What is written with these steps. */
  readonly bodies: readonly StepKey[];
  /** How the items of these steps ended. */
  readonly items: readonly StepKey[];
}

export interface StepKey {
  readonly run: string;
  readonly step: string;
}

export const keyOfStep = ({ run, step }: StepKey): string => `${run}/${step}`;

/** What was read, JSON text. Only units that succeeded have a result. */
export interface Results {
  readonly units: ReadonlyMap<string, string | null>;
  readonly bodies: ReadonlyMap<string, string | null>;
  readonly items: ReadonlyMap<string, readonly ItemSeen[]>;
}

export interface ItemSeen {
  readonly item: number;
  readonly state: FinalState;
  readonly body: string | null;
}

export interface Advanced {
  /** How much news was read; 0 when there is none. */
  readonly news: number;
  readonly enqueued: number;
  /** The lanes of runs that ended, or whose last step has stopped: their gates may let others in now. */
  readonly freed: readonly LaneSpec[];
}

// ── what people ask ────────────────────────────────────────────────────────────────────────────────────────────

export type RunState = "queued" | "notStarted" | "started" | "succeeded" | "failed" | "cancelled";

export interface RunRow {
  readonly id: string;
  readonly workflow: string;
  readonly state: RunState;
  readonly paused: boolean;
  /** Its place in line has a time, and it has not come. */
  readonly later: boolean;
  readonly priority: number;
  readonly tags: string;
  readonly source: string;
  readonly rerunOf: string | null;
  readonly input: string;
  readonly key: string | null;
  readonly createdAt: number;
  /** When it stands in line from, when it was let in, when its first steps were put in line, when it ended. */
  readonly queuedAt: number;
  readonly dequeuedAt: number | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** JSON text: the result, or what went wrong. */
  readonly body: string | null;
}

export interface RunFilter {
  readonly state?: RunState | undefined;
  readonly workflow?: string | undefined;
  /** "key" or "key=value". */
  readonly tag?: string | undefined;
  readonly before?: string | undefined;
  /** These alone. */
  readonly ids?: readonly string[] | undefined;
  readonly limit: number;
}

/** A step with what its unit tells. */
export interface StepRow extends StepMove {
  /** How its unit has ended, while the step does not know it yet. */
  readonly ended: FinalState | null;
  /** Of a step over a list: how its items stand. */
  readonly items: ItemCounts | null;
  readonly task: string | null;
  /** The run that put its unit in line: another one than this where it was taken over. */
  readonly ofRun: string | null;
  /** Where its unit is. */
  readonly place: "later" | "waiting" | "claimed" | "running" | FinalState | null;
  readonly attempt: number;
  readonly enqueuedAt: number | null;
  readonly claimedAt: number | null;
  readonly finishedAt: number | null;
  /** Every time its unit stood in line. */
  readonly inLine: readonly Stay[];
  readonly progress: string | null;
  /** JSON text of its unit's result or error. */
  readonly result: string | null;
}

export interface ItemCounts {
  readonly total: number;
  readonly created: number;
  readonly waiting: number;
  readonly running: number;
  readonly succeeded: number;
  /** Failed, cancelled, expired, quarantined. */
  readonly failed: number;
  /** Those among the failed that did not fail by themselves. */
  readonly cancelled: number;
  /** When the first of them was put in line, when the first was claimed for the first time, and when one of them ended last. */
  readonly enqueuedAt: number | null;
  readonly since: number | null;
  readonly until: number | null;
}

/** An item, as a list of them shows it. */
export interface ItemRow {
  readonly item: number;
  readonly unit: string;
  readonly place: "later" | "waiting" | "claimed" | "running" | FinalState;
  readonly attempt: number;
  readonly input: string;
  readonly result: string | null;
  readonly enqueuedAt: number;
  /** Of its last attempt. */
  readonly claimedAt: number | null;
  readonly finishedAt: number | null;
  /** Every time it stood in line. */
  readonly inLine: readonly Stay[];
}

/** A list that may have stood still for too long. */
export interface Standstill {
  /** Its step goes on. */
  readonly open: boolean;
  /** When one of its items was last claimed. */
  readonly claimedAt: number | null;
  /** Those in line, the first 200 in order, and since when each of them stands there, whatever its place. */
  readonly waiting: readonly { readonly id: string; readonly at: number }[];
}

export interface RunDetail {
  readonly run: RunRow;
  readonly graph: string;
  readonly steps: readonly StepRow[];
}

/** A page of one line as it stands: enough for `admit` to say of each unit in it whether it may start, and why not. */
export interface LineView {
  readonly now: number;
  readonly gates: readonly GateInfo[];
  readonly usage: readonly Usage[];
  readonly lanes: readonly LaneRow[];
  /** The units of the page, in order. */
  readonly heads: readonly HeadRow[];
  /** Units ahead of the page: all of them, or where they are very many the first of each lane. */
  readonly front: readonly HeadRow[];
  /** How many stand ahead of the page, lane by lane; all of them. */
  readonly ahead: readonly { readonly lane: string; readonly asks: string; readonly units: number }[];
  readonly sessions: readonly SessionRow[];
  /** There are more units in this line. */
  readonly cut: boolean;
  /** Those of its lanes that were set aside. */
  readonly aside: readonly AsideRow[];
  /** How many stand in this line, and how many will when their time comes. */
  readonly total: number;
  readonly later: number;
}

/** Who holds slots of a gate. */
export interface GateHolder {
  readonly id: string;
  readonly name: string;
  readonly run: string | null;
  readonly step: string | null;
  readonly slots: number;
  readonly session: string;
  readonly claimedAt: number;
  /** On the clock of leases, from now: how long until it counts no more unless it is renewed; null where only its session counts. */
  readonly leaseLeftMs: number | null;
  /** Its unit has moved on, and its code has not ended yet. */
  readonly stopping?: Stopping;
}

/** A wait that has become too long, a list that stands still (`id` is its lane), or a run that takes too long. */
export interface Timer {
  readonly id: string;
  readonly kind: "claim" | "items" | "run";
  readonly at: number;
}

export interface RunVerbs {
  /** Like `enqueue`: only inserts, and a second one with the same key is the first. */
  submit(runs: readonly NewRun[], within?: unknown): Promise<Enqueued[]>;
  /** Takes some news, locks its runs, and writes what `decide` says; all in one transaction. `decide` is synchronous, and called again when it asked to read. */
  advance(decide: (runs: readonly RunSeen[], results: Results) => Advance): Promise<Advanced>;
  /** Exactly one of cancel, dequeue and finish wins. Undefined when there is no such run. */
  cancelRun(
    id: string,
    by: string,
    /** Leaves alone what was let in. */
    only?: "queued",
  ): Promise<{ readonly was: RunState } | undefined>;
  /** Ends a run in progress as failed. False when it is not in progress. */
  failRun(id: string, error: string): Promise<boolean>;
  /** None of its steps starts from now on, or again. False when it is not in progress. */
  pauseRun(id: string, paused: boolean, by: string): Promise<boolean>;
  /** Another place in line, for what is still in line. Undefined when nothing of this name waits. */
  reprioritize(id: string, priority: number, by: string): Promise<{ readonly from: number } | undefined>;
  /** Ends a unit that waits. False when it does not wait any more. */
  failWaiting(id: string, error: string): Promise<boolean>;
  /** Timers that have run out, and when the next one does. */
  timers(): Promise<{ readonly due: readonly Timer[]; readonly nextAt: number | null; readonly now: number }>;
  /** Lets a timer run again from now, or with null forgets it. */
  resetTimer(timer: Timer, afterMs: number | null): Promise<void>;

  /** Whether there is news, and whether a run stands in line: for a look before a look. */
  stirring(): Promise<{ readonly news: boolean; readonly queued: boolean }>;
  run(id: string): Promise<RunDetail | undefined>;
  runs(filter: RunFilter): Promise<RunRow[]>;
  /** Items of a step by their places, from `after` on. */
  items(
    run: string,
    step: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<ItemRow[]>;
  /** Undefined when no step has its items in this lane. */
  standstill(lane: string): Promise<Standstill | undefined>;
  /** What waits in one queue, in order: `limit` units behind the first `offset`. */
  line(queue: string, limit: number, offset?: number): Promise<LineView>;
  /** Runs that are put off, the first to come first: `limit` of them behind the first `offset`. */
  laterRuns(limit: number, offset: number): Promise<RunRow[]>;
  holders(gate: string): Promise<GateHolder[]>;
}
