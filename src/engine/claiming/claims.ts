/**
 * What a worker needs from wherever the work is: one port, so that a worker on the store and a worker far away are
 * the same worker.
 */
import type { EventKind } from "../../core/event.ts";
import type { Hear } from "../../core/hint.ts";
import type { AsideRow, Claimed, Ended, Finished, Stopped } from "../../store/store.ts";

export type { Claimed, Ended, Finished, Stopped };

/** Who claims, and what it can run. */
export interface Seat {
  readonly name: string;
  readonly slots: number;
  /** Claims taken ahead of their slots; 0 is the hard cap. */
  readonly prefetch: number;
  readonly claimLeaseMs: number;
  /** The most claims of one queue in one exchange; no bound when absent. */
  readonly claimBatch?: number | undefined;
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
}

export interface Report {
  readonly finished: readonly Finished[];
  readonly started: readonly { readonly id: string; readonly epoch: number }[];
  /** Slots in use after what is reported here; code that is stopping uses one. */
  readonly active: number;
  /** How many slots to fill at most in this exchange. */
  readonly appetite: number;
  /** How many units to claim anew at most, where what is claimed and has not begun is bounded. */
  readonly claims?: number | undefined;
  /** Take no new work. */
  readonly draining: boolean;
  /** Somebody said that there may be something new. */
  readonly hinted: boolean;
  /** Do not leave slots to others this time: they had their turn. */
  readonly ownTurn: boolean;
}

export interface Answer {
  /** The store's own time, for deadlines. */
  readonly now: number;
  /** New claims; those not `held` wait for their slots. */
  readonly claimed: readonly Claimed[];
  /** Earlier claims that now have their slots. */
  readonly started: readonly string[];
  /** Reports that came too late: their claims were somebody else's. */
  readonly refused: readonly string[];
  /** Asking again at once may bring more. */
  readonly more: boolean;
  /** Slots were left for others; look again soon, in case nobody took them. */
  readonly yielded: boolean;
  /** This session has ended: nothing it holds is its own any more. */
  readonly ended: boolean;
  /** Lanes that could not be processed, and were set aside by this exchange. */
  readonly aside?: readonly AsideRow[];
}

export interface Claims {
  /** How many exchanges may be on their way at once: a second one helps only where the first is waited for. */
  readonly atOnce: number;
  open(session: string, leaseMs: number): Promise<void>;
  /** False when the session has ended. */
  renew(leaseMs: number): Promise<boolean>;
  /** Others are not to count on this session any more: it takes nothing new. */
  retire(): Promise<void>;
  /** Renews claims that have a lease of their own; the epochs of those that still have it are answered. */
  renewClaims(): Promise<readonly number[]>;
  /** Claims of this session that were taken away, and whose code is not known to have ended. */
  stopping(): Promise<readonly { readonly id: string; readonly epoch: number }[]>;
  exchange(report: Report): Promise<Answer>;
  /** Everything this session holds, read again after an answer was lost. */
  held(): Promise<readonly Claimed[]>;
  /** Which of these claims are no longer ours. */
  stale(claims: readonly { readonly id: string; readonly epoch: number }[]): Promise<readonly string[]>;
  progress(entries: readonly { id: string; epoch: number; value: string }[]): Promise<void>;
  note(entries: readonly { id: string; epoch: number; kind: EventKind; data: string }[]): Promise<void>;
  listen(hear: Hear): Promise<() => Promise<void>>;
  close(): Promise<void>;
}
