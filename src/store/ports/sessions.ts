/**
 * Sessions: who may hold claims, for as long as it renews its lease. Every write of a holder names the epoch of its claim,
 * and changes nothing when another epoch is current.
 */
import type { EventKind } from "../../core/event.ts";

export interface SessionPort {
  openSession(session: NewSession): Promise<void>;
  /** False when the session is gone: its claims may be somebody else's by now. */
  renewSession(id: string, leaseMs: number): Promise<boolean>;
  /** It takes nothing more, and serves nothing; what it holds stays its own until it ends. */
  retireSession(id: string): Promise<void>;
  /** Ends a session; what it still held is lost, and recovered by the next pass. */
  closeSession(id: string): Promise<void>;
  sessions(): Promise<(SessionRow & { readonly name: string; readonly expiresAt: number })[]>;
  /** What this session has claimed, in the order of the claims: asked again after an answer was lost. */
  claimsOf(session: string): Promise<Claimed[]>;
  /** Which of these claims their holders have lost. */
  stale(claims: readonly Epoch[]): Promise<string[]>;
  progress(entries: readonly (Epoch & { readonly value: string })[]): Promise<void>;
  /** Adds lines to the history of what is claimed. */
  note(entries: readonly (Epoch & { readonly kind: EventKind; readonly data: string })[]): Promise<void>;
}

/** What a retired session serves. */
export const NOTHING_SERVED = '{"queues":[],"tasks":[]}';

export interface NewSession {
  readonly id: string;
  readonly name: string;
  readonly slots: number;
  /** JSON text: { queues: string[], tasks: string[] }. Of a retired session, both are empty. */
  readonly serves: string;
  readonly leaseMs: number;
}

export interface SessionRow {
  readonly id: string;
  readonly slots: number;
  readonly serves: string;
}

/** One claim of a unit. The epoch grows with every claim, so it tells a claim from all others of the same unit. */
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
  /** A lease of its own, beside its session's; null where it has none. */
  readonly leaseMs: number | null;
}
