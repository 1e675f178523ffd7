/** How a run moves on: what is seen of it under its lock, what may be read first, and what is written. */
import type { LaneSpec } from "../lane.ts";
import type { Fan, NewUnit, StepKey, StepMove } from "./steps.ts";
import type { FinalState } from "./units.ts";

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

/** A step as `advance` sees it. The body of a step over a list is not read: it may be large. */
export interface StepSeen extends Omit<StepMove, "fan"> {
  /** How its unit has ended, if it has. */
  readonly ended: FinalState | null;
  /** `left`: items are in line, delayed or at work. */
  readonly fan: (Fan & { readonly left: boolean }) | null;
}

/** Moves to write; or, first, something to look at. */
export type Advance = { readonly moves: readonly RunMove[] } | { readonly read: Reading };

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

export interface Reading {
  /** The results of these units. */
  readonly units: readonly string[];
  /** What is written with these steps. */
  readonly bodies: readonly StepKey[];
  /** How the items of these steps ended. */
  readonly items: readonly StepKey[];
}

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
