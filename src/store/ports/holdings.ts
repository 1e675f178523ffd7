/**
 * Holdings: who holds slots of a gate, and until when. Slots follow the code: a claim whose unit has moved on keeps them
 * until its code has ended or its lease has lapsed. Gates are a port of their own, so holders may live elsewhere.
 */
import type { FinalState } from "./units.ts";

export interface HoldingPort {
  holders(gate: string): Promise<GateHolder[]>;
  /** Claims whose unit has moved on while their code still runs, oldest first: all of them, or those of one session. */
  stopping(session?: string): Promise<StoppingRow[]>;
  /** Renews the claims of a session that have a lease of their own and still have it, also those of stopping code. Answers their epochs. */
  renewClaims(session: string): Promise<number[]>;
}

/** The same asks, held so many times by one session. Holders that are lost are listed apart and count nowhere. */
export interface Holding {
  /** JSON text: [[gate, slots], …]. */
  readonly asks: string;
  readonly session: string;
  /** False for a claim made ahead of time: it holds no slots yet. */
  readonly held: boolean;
  readonly lost: boolean;
  readonly units: number;
}

/** The holdings of one lane. */
export interface Usage extends Holding {
  readonly lane: string;
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
  /** How long until it counts no more unless it is renewed, by the clock of leases; null where only its session counts. */
  readonly leaseLeftMs: number | null;
  /** Its unit has moved on, and its code has not ended yet. */
  readonly stopping?: Stopping;
}

/** A claim, as the explanation of a wait names it. */
export interface HolderRow {
  readonly id: string;
  readonly name: string;
  readonly lane: string;
  readonly session: string;
  readonly since: number;
  readonly held: boolean;
  /** Its unit has moved on, and its code has not ended yet. */
  readonly stopping?: Stopping;
}

/** Since when code should have ended, and why: the state its unit came to, or its timeout. */
export interface Stopping {
  readonly since: number;
  readonly because: "timeout" | FinalState;
}

/** A claim whose unit has moved on while its code still runs, or a run of which that is true of a step. It holds what it held. */
export interface StoppingRow extends Stopping {
  readonly epoch: number;
  readonly id: string;
  readonly name: string;
  /** The run and the step that it is of, if it is one. */
  readonly run: string | null;
  readonly step: string | null;
  /** Of a step over a list: which of its items. */
  readonly item: number | null;
  readonly asks: string;
  readonly session: string;
  /** The name of its worker; null when that is gone. */
  readonly worker: string | null;
}
