/** Steps of a run, and the items of a step over a list. */
import type { Stay } from "../in-line.ts";
import type { FinalState, NewTask } from "./units.ts";

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

export interface NewUnit extends NewTask {
  readonly step: string;
  readonly claimTimeoutMs: number | null;
  /** Its place in the list, for an item. */
  readonly item?: number | undefined;
}

export interface StepKey {
  readonly run: string;
  readonly step: string;
}

export const keyOfStep = ({ run, step }: StepKey): string => `${run}/${step}`;

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
