/**
 * The feed: one ordered stream of what happened to units, runs, gates, workers, lanes and triggers. Each
 * change has a position. Positions are consecutive, so a gap is visible. A later change of a subject has a
 * later position.
 *
 * Changes are recorded only while there are listeners. A listener is a row that says what it wants. A
 * transaction that changes something records, as part of itself, the changes that at least one listener
 * wants; without listeners it records nothing. So a listener that still exists has missed nothing since it
 * began. A listener that is not renewed in time is forgotten. A transaction that recorded something is
 * followed by the hint "feed".
 */
import type { ChangeKind } from "../../core/change.ts";

export interface FeedPort {
  /** Everything these listeners want is recorded after the returned position. */
  follow(listeners: readonly Listener[]): Promise<number>;
  /**
   * Continues from the position that another listener has reached, so that nothing after it is missed. False
   * if that listener is gone, wanted less or began later, or if the changes are gone.
   */
  resume(listener: Listener, from: FeedCursor): Promise<boolean>;
  /**
   * The changes after a position, in order, whichever listener wanted them. All of it is read at one instant.
   */
  changes(look: FeedLook): Promise<Page>;
  /**
   * Renews these listeners and returns those that still exist. Their slowest reader has read up to this
   * position, and may have to resume there: its next change is kept as if it were recorded now.
   */
  keepFollowing(listeners: readonly Renewal[], readUpTo: number): Promise<ReadonlySet<string>>;
  unfollow(listeners: readonly string[]): Promise<void>;
}

/** The changes that a listener wants. A null field excludes nothing. */
export interface Interest {
  /** The sum of the topics' numbers. */
  readonly topics: number;
  /** Only this run and everything in it. */
  readonly run: string | null;
  /** The name of a task or a workflow. */
  readonly task: string | null;
  readonly queue: string | null;
}

export interface Listener extends Interest {
  readonly id: string;
  /**
   * How long its reader can resume after it stopped, however it stopped. The listener and the changes are kept
   * for longer, by `MARGIN_MS`: the last renewal may have been a while before the stop.
   */
  readonly keepMs: number;
}

export type Renewal = Pick<Listener, "id" | "keepMs">;

/** How far a listener has read. */
export interface FeedCursor {
  readonly listener: string;
  readonly position: number;
}

export interface FeedLook {
  readonly after: number;
  readonly limit: number;
  readonly listeners: readonly string[];
}

/** Something that happened. `data` is JSON text. */
export interface NewChange {
  readonly kind: ChangeKind;
  /** A unit, gate, session, lane or trigger. */
  readonly subject: string;
  /** Its number in the history of the subject; null if it is not part of that history. */
  readonly n: number | null;
  readonly run: string | null;
  readonly step: string | null;
  readonly item: number | null;
  /** The name of the unit's task or workflow. */
  readonly task: string | null;
  readonly queue: string | null;
  readonly at: number;
  readonly data: string | null;
}

export interface Change extends NewChange {
  readonly position: number;
}

export interface Page {
  readonly changes: readonly Change[];
  /** There may be more changes. */
  readonly more: boolean;
  /** Changes after the given position are gone: they were older than any listener keeps them. */
  readonly lapsed: boolean;
  /** The listeners that still exist. Only these have missed nothing. */
  readonly alive: ReadonlySet<string>;
}

/** The shortest time for which a listener or a change is kept. */
export const LEAST_KEEP_MS = 30_000;
/**
 * The longest time for which a reader can resume. It is also the longest time by which a reader can be behind
 * and still resume for its whole keep time.
 */
export const MOST_KEEP_MS = 3_600_000;
/** How often a reader renews its listener. */
export const RENEW_MS = 10_000;
/** Kept beyond the keep time: one renewal may be late, and one may fail. */
export const MARGIN_MS = 3 * RENEW_MS;
