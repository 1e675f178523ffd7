/** Steps of a run, and the items of a step over a list. */
import type { Stay } from "../in-line.ts";
import type { FinalState, NewTask } from "./units.ts";
import type { NewWait, WaitRow } from "./waiting.ts";

/**
 * The state of a step. A step without a row is `pending`; an `open` step has a unit in line or running, or it
 * waits for a time, an event or a person.
 */
export type StepState = "open" | "succeeded" | "failed" | "skipped" | "cancelled";

export interface StepMove {
  readonly name: string;
  readonly state: StepState;
  readonly unit: string | null;
  /** JSON text: why it was skipped or, for a step over a list, how its items ended. */
  readonly body: string | null;
  /** Only for a step over a list. */
  readonly fan?: Fan | null | undefined;
  /** The step begins to wait. */
  readonly wait?: NewWait | undefined;
  /** The step ends with the answer that it waited for. The answer becomes its body. */
  readonly answered?: boolean | undefined;
}

/** The items of a step: their lane, how many there are, and how many were put in line so far. */
export interface Fan {
  readonly lane: string;
  readonly total: number;
  readonly created: number;
}

export interface NewUnit extends NewTask {
  readonly step: string;
  readonly claimTimeoutMs: number | null;
  /** For an item: its place in the list. */
  readonly item?: number | undefined;
  /** Set if the unit is a run. */
  readonly child?: NewChild | undefined;
}

/** A run that a step starts. */
export interface NewChild {
  /** The number of its graph among those of this run. */
  readonly graph: number;
  /** The run at the top of its tree. Null for a run of its own, which is no unit of this run. */
  readonly root: string | null;
  readonly depth: number;
  /** Whether its end is news for this run. */
  readonly tells: boolean;
  /**
   * The run that this run repeats. The child takes over the finished steps of the child that the same step or item had
   * there, if that one had the same input and did not succeed.
   */
  readonly rerunOf: string | null;
  /** JSON text, like those of a run that is submitted. */
  readonly tags: string;
  readonly source: string;
  /** The default is "default". */
  readonly namespace?: string;
}

/** A step, with the state of its unit. */
export interface StepRow extends Omit<StepMove, "wait" | "answered"> {
  /** For a step that waits, or has waited. */
  readonly wait: WaitRow | null;
  /** How its unit ended, if the step does not know it yet. */
  readonly ended: FinalState | null;
  /** For a step over a list: how many items are in which state. */
  readonly items: ItemCounts | null;
  readonly task: string | null;
  /** The run that put its unit in line. It is another run if the unit was taken over. */
  readonly ofRun: string | null;
  /** The place of its unit. */
  readonly place: "later" | "waiting" | "claimed" | "running" | FinalState | null;
  readonly attempt: number;
  readonly enqueuedAt: number | null;
  readonly claimedAt: number | null;
  readonly finishedAt: number | null;
  /** Every stay of its unit in line. */
  readonly inLine: readonly Stay[];
  readonly progress: string | null;
  /** JSON text: its unit's result or error. */
  readonly result: string | null;
}

/** No item counts in two states. */
export interface ItemCounts {
  /** The length of the list. */
  readonly total: number;
  /** How many items were put in line so far. A rerun counts those that it took over here, and in no state. */
  readonly created: number;
  readonly waiting: number;
  readonly running: number;
  readonly succeeded: number;
  /** Failed, expired or quarantined. */
  readonly failed: number;
  readonly cancelled: number;
  /**
   * When the first item was put in line, when the first item was first claimed, and when the last item so far
   * ended.
   */
  readonly enqueuedAt: number | null;
  readonly since: number | null;
  readonly until: number | null;
}

/** Whether its unit, or an item of its list, is in line or delayed. */
export const isOpenAndInLine = ({ state, items, place }: StepRow): boolean =>
  state === "open" && (items ? items.waiting > 0 : place === "waiting" || place === "later");

/** The unit of a step that comes next: its only one, or the next item of its list. */
export interface NextUnit {
  readonly unit: string;
  /** Null for a step that is one task. */
  readonly item: number | null;
}

/** An item, as a list of items shows it. */
export interface ItemRow {
  readonly item: number;
  readonly unit: string;
  readonly place: "later" | "waiting" | "claimed" | "running" | FinalState;
  readonly attempt: number;
  readonly input: string;
  readonly result: string | null;
  readonly enqueuedAt: number;
  /** When its last attempt was claimed. */
  readonly claimedAt: number | null;
  readonly finishedAt: number | null;
  /** Every stay of the item in line. */
  readonly inLine: readonly Stay[];
}

/** A list that may have made no progress for too long. */
export interface Standstill {
  /** Its step is still open. */
  readonly open: boolean;
  /** When one of its items was last claimed. */
  readonly claimedAt: number | null;
  /** The first 200 items in line, in order, and since when each has been there, whatever its place. */
  readonly waiting: readonly { readonly id: string; readonly at: number }[];
}
