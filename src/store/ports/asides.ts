/** Lanes that could not be processed. They are set aside, so that everything else goes on, and keep their units. */
import type { LaneSpec } from "../lane.ts";
import type { Decide, Scope } from "./passes.ts";

export interface AsidePort {
  /** A pass that is undone at its end: it fails where the pass would. */
  probe(scope: Scope, decide: Decide): Promise<void>;
  /** Takes in what has arrived without a pass. Lanes that cannot be taken in are set aside, and answered. */
  takeIn(): Promise<AsideRow[]>;
  /** From now on nobody looks at this lane. Its units keep their places. */
  setAside(lane: LaneSpec, error: string): Promise<void>;
  /** Puts a lane back that was set aside, by its own id or that of a unit. Undefined when it was not. */
  restore(id: string, by: string): Promise<AsideRow | undefined>;
  /** Lanes that were set aside, the first 200. */
  asides(): Promise<AsideRow[]>;
}

/** A lane that was set aside, why, and how many of its units wait there. */
export interface AsideRow extends LaneSpec {
  readonly error: string;
  readonly at: number;
  readonly units: number;
}
