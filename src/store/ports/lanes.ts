/** Lanes as a pass sees and moves them, and the units at their heads. */

export interface LaneRow {
  readonly id: string;
  readonly queue: string;
  readonly task: string;
  /** JSON text: [[gate, slots], …]. */
  readonly asks: string;
  readonly rank: number;
  readonly state: LaneState;
  readonly parked: string | null;
  /** A lower bound of its first unit's place; exact after every change. */
  readonly head: { readonly priority: number; readonly at: number; readonly id: string };
  readonly stamp: number;
  readonly mark: { readonly unit: string; readonly passed: number; readonly since: number } | null;
  /** The gates its head waited for after the last pass that changed them: JSON text of keys. */
  readonly blocked: string;
}

/** `aside`: it could not be processed, and nobody looks at it until it is put back. */
export type LaneState = "idle" | "open" | "parked" | "aside";

export interface LaneMove {
  readonly lane: string;
  /** The move is dropped when somebody else changed the lane since it was read. */
  readonly stamp: number;
  readonly state: LaneState;
  readonly parked: string | null;
  /** What it asks of the gate that it is parked on; 1 unless said. */
  readonly slots?: number;
  readonly mark: LaneRow["mark"];
  readonly blocked: string;
  /** Its new first place, where it is known for sure; null leaves the old one. */
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
