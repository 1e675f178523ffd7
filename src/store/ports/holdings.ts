/**
 * Holdings: who holds slots of a gate, and until when. Slots follow the code: if a unit has moved on, its
 * claim keeps the slots until the code has ended or the lease has expired. Gates are a separate port, so
 * holders may live elsewhere.
 */
import type { FinalState } from "./units.ts";

export interface HoldingPort {
  holders(gate: string): Promise<GateHolder[]>;
  /**
   * Claims whose unit has moved on while their code still runs, oldest first: all of them, or those of one
   * session.
   */
  stopping(session?: string): Promise<StoppingRow[]>;
  /**
   * Renews the claims of a session that have a lease of their own which has not expired, including those of
   * stopping code. Returns their epochs.
   */
  renewClaims(session: string): Promise<number[]>;
}

/** How many times one session holds the same asks. Lost holders are listed separately and count nowhere. */
export interface Holding {
  /** JSON text: [[gate, slots], …]. */
  readonly asks: string;
  readonly session: string;
  /** False for a prefetched claim: it holds no slots yet. */
  readonly held: boolean;
  readonly lost: boolean;
  readonly units: number;
}

/** The holdings of one lane. */
export interface Usage extends Holding {
  readonly lane: string;
}

/** A holder of slots of a gate. */
export interface GateHolder {
  readonly id: string;
  readonly name: string;
  readonly run: string | null;
  readonly step: string | null;
  readonly slots: number;
  readonly session: string;
  readonly claimedAt: number;
  /**
   * The time until it no longer counts unless renewed, by the clock of leases; null if only its session's
   * lease counts.
   */
  readonly leaseLeftMs: number | null;
  /** Its unit has moved on, but its code has not ended yet. */
  readonly stopping?: Stopping;
}

/** A claim, as the explanation of a wait shows it. */
export interface HolderRow {
  readonly id: string;
  readonly name: string;
  readonly lane: string;
  readonly session: string;
  readonly since: number;
  readonly held: boolean;
  /** Its unit has moved on, but its code has not ended yet. */
  readonly stopping?: Stopping;
}

/** Since when code should have ended, and why: the final state of its unit, or its timeout. */
export interface Stopping {
  readonly since: number;
  /** `parent`: a child run that ended with its parent, and whose own units have yet to be ended. */
  readonly because: "timeout" | "parent" | FinalState;
}

/**
 * A claim whose unit has moved on while its code still runs, or a run with such a step. It keeps its slots.
 */
export interface StoppingRow extends Stopping {
  readonly epoch: number;
  readonly id: string;
  readonly name: string;
  /** Its run and step, if it belongs to one. */
  readonly run: string | null;
  readonly step: string | null;
  /** For a step over a list: the number of the item. */
  readonly item: number | null;
  readonly asks: string;
  readonly session: string;
  /** The name of its worker; null if the worker is gone. */
  readonly worker: string | null;
}
