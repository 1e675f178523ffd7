/**
 * The feed: one ordered stream of what happened to units, runs, gates, workers, lanes and triggers. A change has a
 * position; positions are consecutive, so a gap shows. A later change of a subject has a later position.
 *
 * Changes are recorded only while somebody wants them. A listener is a row that says what it wants. A transaction that
 * moves something records, as part of itself, what at least one listener wants; with no listener it records nothing. So a
 * listener that is still there has missed nothing since it began. One that is not renewed in time is forgotten. After a
 * transaction that has recorded something, the hint "feed" is given.
 */
import type { ChangeKind } from "../../core/change.ts";

export interface FeedPort {
  /** From the answered position on, everything is recorded that these want. */
  follow(listeners: readonly Listener[]): Promise<number>;
  /**
   * Goes on where another listener has come to: nothing after the position is missed. False when that one is gone, wanted
   * less, began later, or the changes are gone.
   */
  resume(listener: Listener, from: FeedCursor): Promise<boolean>;
  /** Changes after a position, in order, whoever wanted them. One look at one instant. */
  changes(look: FeedLook): Promise<Page>;
  /** Answers which of them are still there. */
  keepFollowing(listeners: readonly string[]): Promise<ReadonlySet<string>>;
  unfollow(listeners: readonly string[]): Promise<void>;
}

/** What somebody wants to hear of. A field that is null leaves nothing out. */
export interface Interest {
  /** The sum of topics. */
  readonly topics: number;
  /** A run and everything in it. */
  readonly run: string | null;
  /** The name of a task or a workflow. */
  readonly task: string | null;
  readonly queue: string | null;
}

export interface Listener extends Interest {
  readonly id: string;
  /** How long it is kept after its last renewal, and how long changes are kept for it. */
  readonly keepMs: number;
}

/** How far a listener has come. */
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
  /** Its number in the history of the subject; null where it is not part of one. */
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
  /** There are more. */
  readonly more: boolean;
  /** Changes after the given position are gone: they were older than anybody's keep. */
  readonly lapsed: boolean;
  /** Which of the listeners are still there. Only these have missed nothing. */
  readonly alive: ReadonlySet<string>;
}

/** No listener is forgotten sooner, and no change. */
export const LEAST_KEEP_MS = 30_000;
/** No listener is kept longer than this without a sign of life, and no change is kept longer. */
export const MOST_KEEP_MS = 3_600_000;
