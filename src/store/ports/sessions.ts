/**
 * Sessions: a session may hold claims for as long as it renews its lease. Every write of a holder names the
 * epoch of its claim, and changes nothing if another epoch is current.
 */
import type { EventKind } from "../../core/event.ts";

export interface SessionPort {
  openSession(session: NewSession): Promise<void>;
  /** False if the session is gone: its claims may belong to another session by now. */
  renewSession(id: string, leaseMs: number): Promise<boolean>;
  /** The session takes no more work and serves nothing. It keeps the claims it has until it ends. */
  retireSession(id: string): Promise<void>;
  /** Ends a session. Claims it still holds are lost, and the next pass recovers them. */
  closeSession(id: string): Promise<void>;
  sessions(): Promise<(SessionRow & { readonly name: string; readonly expiresAt: number })[]>;
  /**
   * The claims of this session, in the order they were made. A worker asks again after an answer was lost.
   */
  claimsOf(session: string): Promise<Claimed[]>;
  /** The claims among these that their holders have lost. */
  stale(claims: readonly Epoch[]): Promise<string[]>;
  progress(entries: readonly (Epoch & { readonly value: string })[]): Promise<void>;
  /** Adds lines to the history of claimed units. */
  note(entries: readonly (Epoch & { readonly kind: EventKind; readonly data: string })[]): Promise<void>;
}

/** The `serves` of a retired session. */
export const NOTHING_SERVED = '{"queues":[],"tasks":[]}';

export interface NewSession {
  readonly id: string;
  readonly name: string;
  readonly slots: number;
  /** JSON text: { queues: string[], tasks: string[] }. Both are empty for a retired session. */
  readonly serves: string;
  readonly leaseMs: number;
}

export interface SessionRow {
  readonly id: string;
  readonly slots: number;
  readonly serves: string;
}

/**
 * One claim of a unit. The epoch grows with every claim, so it tells a claim from all others of the same
 * unit.
 */
export interface Epoch {
  readonly id: string;
  readonly epoch: number;
}

export interface Claimed extends Epoch {
  readonly name: string;
  readonly lane: string;
  readonly attempt: number;
  readonly losses: number;
  readonly held: boolean;
  readonly input: string;
  readonly options: string;
  readonly goodUntil: number | null;
  /** Its own lease, in addition to its session's; null if it has none. */
  readonly leaseMs: number | null;
}
