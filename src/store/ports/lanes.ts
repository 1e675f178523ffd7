/** Lanes as a pass sees and moves them, and the units at their heads. */

export interface LaneRow {
  readonly id: string;
  readonly queue: string;
  readonly task: string;
  /** JSON text: [[gate, slots], …], as `laneOf` writes it. */
  readonly asks: string;
  readonly rank: number;
  readonly state: LaneState;
  readonly parked: string | null;
  /** A lower bound of its first unit's place. Exact after every change. */
  readonly head: { readonly priority: number; readonly at: number; readonly id: string };
  readonly stamp: number;
  readonly mark: { readonly unit: string; readonly passed: number; readonly since: number } | null;
  /** JSON text: the keys of the gates its head waited for after the last pass that changed them. */
  readonly blocked: string;
}

/** `aside`: the lane could not be processed, and no pass looks at it until it is put back. */
export type LaneState = "idle" | "open" | "parked" | "aside";

export interface LaneMove {
  readonly lane: string;
  /** The move is dropped if the lane was changed after it was read. */
  readonly stamp: number;
  readonly state: LaneState;
  readonly parked: string | null;
  /** Its `parkedSlots` at the gate it is parked on; 1 if absent. */
  readonly slots?: number;
  readonly mark: LaneRow["mark"];
  readonly blocked: string;
  /** Its new first place, if known for sure; null keeps the old one. */
  readonly head: LaneRow["head"] | null;
}

/** A unit in line. */
export interface HeadRow {
  readonly id: string;
  readonly lane: string;
  readonly priority: number;
  readonly at: number;
  readonly goodUntil: number | null;
}
