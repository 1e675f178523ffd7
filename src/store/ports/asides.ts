/**
 * Lanes that could not be processed. They are set aside with their units, so that everything else goes on.
 */
import type { LaneSpec } from "../lane.ts";
import type { Decide, Scope } from "./passes.ts";

export interface AsidePort {
  /** A pass that is undone at its end. It fails if the real pass would fail. */
  probe(scope: Scope, decide: Decide): Promise<void>;
  /** Takes in arrivals without a pass. Lanes that cannot be taken in are set aside and returned. */
  takeIn(): Promise<AsideRow[]>;
  /** From now on no pass looks at this lane. Its units keep their places. */
  setAside(lane: LaneSpec, error: string): Promise<void>;
  /** Puts back a lane that was set aside, given its own id or a unit's. Undefined if it was not set aside. */
  restore(id: string, by: string): Promise<AsideRow | undefined>;
  /** The first 200 lanes that were set aside. */
  asides(): Promise<AsideRow[]>;
}

/** A lane that was set aside, with the cause and the number of its units that wait. */
export interface AsideRow extends LaneSpec {
  readonly error: string;
  readonly at: number;
  readonly units: number;
}
