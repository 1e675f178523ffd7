/** The port through which a worker gets its work. A worker knows only this port and no store. */
import type { EventKind } from "../../core/event.ts";
import type { Hear } from "../../core/hint.ts";
import type { AsideRow, Claimed, Ended, Finished, Stopped } from "../../store/store.ts";

export type { Claimed, Ended, Finished, Stopped };

/** A claimer, with the queues and tasks that it can run. */
export interface Seat {
  readonly name: string;
  readonly slots: number;
  /** How many units it claims ahead of their slots. */
  readonly prefetch: number;
  readonly claimLeaseMs: number;
  /** The most claims of one queue in one exchange. Unbounded if absent. */
  readonly claimBatch?: number | undefined;
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
}

export interface Report {
  readonly finished: readonly Finished[];
  readonly started: readonly { readonly id: string; readonly epoch: number }[];
  /** Slots in use once this report is applied, including those of code that is stopping. */
  readonly active: number;
  /** The most slots to fill in this exchange. */
  readonly appetite: number;
  /** The most new claims, if the number of claims that have not started is bounded. */
  readonly claims?: number | undefined;
  /** Take no new work. */
  readonly draining: boolean;
  /** A hint said that there may be something new. */
  readonly hinted: boolean;
  /** Leave no slots to other workers this time: they had their turn. */
  readonly ownTurn: boolean;
}

export interface Answer {
  /** The store's time, for deadlines. */
  readonly now: number;
  /** New claims. A claim that is not `held` waits for its slots. */
  readonly claimed: readonly Claimed[];
  /** Earlier claims that now have their slots. */
  readonly started: readonly string[];
  /** Reports that came too late: the claims were no longer ours. */
  readonly refused: readonly string[];
  /** Another exchange right away may bring more. */
  readonly more: boolean;
  /** Slots were left to other workers. Look again soon, in case no worker took them. */
  readonly yielded: boolean;
  /** This session has ended and no longer owns what it held. */
  readonly ended: boolean;
  /** Lanes that this exchange set aside because they could not be processed. */
  readonly aside?: readonly AsideRow[];
}

export interface Claims {
  /** How many exchanges may be in flight at once. A second one helps only if the worker has to wait for the first. */
  readonly atOnce: number;
  open(session: string, leaseMs: number): Promise<void>;
  /** False if the session has ended. */
  renew(leaseMs: number): Promise<boolean>;
  /** Tells other workers not to count on this session: it takes nothing new. */
  retire(): Promise<void>;
  /** Renews the claims that have their own lease. Returns the epochs of the claims that still have it. */
  renewClaims(): Promise<readonly number[]>;
  /** Claims of this session that were taken away and whose code may still run. */
  stopping(): Promise<readonly { readonly id: string; readonly epoch: number }[]>;
  exchange(report: Report): Promise<Answer>;
  /** Everything this session holds, read again after an answer was lost. */
  held(): Promise<readonly Claimed[]>;
  /** The IDs of the given claims that are no longer ours. */
  stale(claims: readonly { readonly id: string; readonly epoch: number }[]): Promise<readonly string[]>;
  progress(entries: readonly { id: string; epoch: number; value: string }[]): Promise<void>;
  note(entries: readonly { id: string; epoch: number; kind: EventKind; data: string }[]): Promise<void>;
  listen(hear: Hear): Promise<() => Promise<void>>;
  close(): Promise<void>;
}
