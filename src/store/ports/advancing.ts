/** The types of `advance`: what it sees of a run under the run's lock, what it may read first, and what it writes. */
import type { LaneSpec } from "../lane.ts";
import type { StepKey } from "./step-key.ts";
import type { Fan, NewUnit, StepMove } from "./steps.ts";
import type { FinalState, NewTask } from "./units.ts";

/** A run in progress that has news, read under its lock. */
export interface RunSeen {
  readonly id: string;
  /** The epoch of its claim. */
  readonly epoch: number;
  readonly started: boolean;
  /** False while its claim holds no slots, because its open steps only wait. */
  readonly holds: boolean;
  /** It was in progress before, gave its slots back, and has been admitted again. */
  readonly resumes: boolean;
  readonly paused: boolean;
  readonly priority: number;
  readonly input: string;
  readonly options: string;
  readonly graph: string;
  /** The key under which its graph is stored. */
  readonly graphId: string;
  readonly steps: readonly StepSeen[];
  /** Steps with items that did not succeed, as far as this news tells. */
  readonly failed: readonly string[];
  /** Items that succeeded in that run do not run again. Null if this run starts from scratch. */
  readonly rerunOf: string | null;
  /** The size of its input and graph if they are too large to be read. Then both are empty here. */
  readonly unread?: number;
  /**
   * Only for a child that has not started and repeats an earlier one: the steps of that one, without their results.
   */
  readonly earlier?: readonly Pick<StepMove, "name" | "state">[];
}

/**
 * A step as `advance` sees it. Of its body only the reason of a skip is read, because it may be large. If its unit was
 * cancelled, the body says by whom.
 */
export interface StepSeen extends Omit<StepMove, "fan" | "wait" | "answered"> {
  /** The answer of a step that waits. */
  readonly answer: "succeeded" | "failed" | null;
  /** How its unit ended, or null if it has not ended. */
  readonly ended: FinalState | null;
  /** `left`: some items are in line, delayed or running. */
  readonly fan: (Fan & { readonly left: boolean }) | null;
}

/** The moves to write, or something to read before deciding. */
export type Advance =
  /** The news of the runs in `later` stays, so the next call looks at them. */
  { readonly moves: readonly RunMove[]; readonly later?: readonly string[] } | { readonly read: Reading };

export type DecideRuns = (runs: readonly RunSeen[], results: Results) => Advance;

export interface RunMove {
  readonly run: string;
  readonly epoch: number;
  /** The run starts now: its own gates are created, and its timeout begins to count. */
  readonly start: {
    readonly gates: readonly { readonly key: string; readonly limit: number }[];
    readonly timeoutMs: number | null;
    /** True if it was in progress before. It keeps the time of its first start. */
    readonly again?: boolean;
    /** Steps to copy from another run: they need not run again. */
    readonly takeOver?: { readonly run: string; readonly steps: readonly string[] };
  } | null;
  /** Gates of the run to create now: the windows of steps over a list. */
  readonly gates: readonly { readonly key: string; readonly limit: number }[];
  readonly steps: readonly StepMove[];
  /**
   * Units to put in line, each for a step of `steps`. `claimTimeoutMs` is how long a unit may wait for its
   * gates.
   */
  readonly enqueue: readonly NewUnit[];
  /** Lists that begin now and ask for gates that may be full: how long each may make no progress. */
  readonly timers: readonly { readonly lane: string; readonly afterMs: number }[];
  /** Steps whose items must not start any more. With `inFlight`, running items are aborted too. */
  readonly endItems: readonly { readonly step: string; readonly inFlight: boolean }[];
  /** A step has failed: other steps and items that are in line must not start, unless they handle failures. */
  readonly endLine: { readonly because: string } | null;
  /**
   * `rest`: the claim gives its slots back, unless code of the run is still stopping. `line`: a claim that rests
   * goes back in line, in its old place.
   */
  readonly claim: "rest" | "line" | null;
  /** There is more to do: the run leaves news of itself. */
  readonly again: boolean;
  /** The end of the run. Units of the run that have not ended are cancelled with it. */
  readonly finish: {
    readonly state: "succeeded" | "failed" | "cancelled";
    readonly body: string | null;
    /** The task that handles the failure of the run. */
    readonly handler?: NewTask | undefined;
  } | null;
}

/** A move that changes nothing; a decision starts from it. */
export const STILL: Omit<RunMove, "run" | "epoch"> = {
  start: null,
  gates: [],
  steps: [],
  enqueue: [],
  timers: [],
  endItems: [],
  endLine: null,
  claim: null,
  again: false,
  finish: null,
};

export interface Reading {
  /** The results of these units. */
  readonly units: readonly string[];
  /** The bodies stored with these steps. */
  readonly bodies: readonly StepKey[];
  /** The outcomes of the items of these steps. */
  readonly items: readonly StepKey[];
  /** Reads only sizes, and texts so short that they cannot add up to much. */
  readonly measure?: boolean;
}

/** A text of up to this many bytes is read together with its size. */
export const SHORT = 4 * 1024;

/** What the outcome of an item adds to the size of its text. */
export const AROUND_ITEM = 33;

/** The data that was read, as JSON text. Only units that succeeded have a result. */
export interface Results {
  readonly units: ReadonlyMap<string, string | null>;
  readonly bodies: ReadonlyMap<string, string | null>;
  readonly items: ReadonlyMap<string, readonly ItemSeen[]>;
  /**
   * The sizes of everything that was measured, in bytes. The keys are those of `units`, and those of `bodies`
   * and `items` as `bodySize` and `itemsSize` write them.
   */
  readonly sizes: ReadonlyMap<string, number>;
}

export const bodySize = (key: string): string => `body ${key}`;
export const itemsSize = (key: string): string => `items ${key}`;

export interface ItemSeen {
  readonly item: number;
  readonly state: FinalState;
  readonly body: string | null;
}

export interface Advanced {
  /** How many news rows were read; 0 if there were none. */
  readonly news: number;
  readonly enqueued: number;
  /**
   * Lanes of runs that ended, gave their slots back or went back in line, or whose last step has stopped. Their
   * gates may now admit other units.
   */
  readonly freed: readonly LaneSpec[];
  /** True if units of child runs were ended after their parents: code may have to stop. */
  readonly cut?: true;
}
