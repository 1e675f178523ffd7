/**
 * Units that need locks shared with other engines. The locks are in another database, so nothing here is one
 * transaction with them. A unit asks for a gate of its own, `shared:UNIT`, which is born closed. One process
 * of the engine, its leader, takes the locks and then opens the gate.
 *
 * | gate | intent | unit | what it means |
 * |---|---|---|---|
 * | closed | none | in line | it holds none of its locks |
 * | closed | n | in line | it may hold its locks: the leader of n was taking them, or gives them back |
 * | open | n | in line | it holds its locks, and the next pass may admit it |
 * | open | n | in progress | it holds its locks |
 * | any | n | gone | its locks are to be released. The transaction that ends a unit needs no other write |
 * | any | none | gone | its gate and its lane are to be deleted |
 *
 * An intent is written before the first lock is taken, and deleted after the last one was released. So a
 * crash leaves no lock without an intent.
 */
export interface SharingPort {
  /**
   * Makes a session the leader, or renews it. Another session leads once this one was not renewed for so
   * long; with 0 at once. `engine` names the store if it has no name yet.
   */
  lead(session: string, leaseMs: number, engine: string): Promise<Leading>;
  /** Every unit with such a gate or an intent. */
  sharing(): Promise<SharingUnit[]>;
  /** Writes intents for units in line with a closed gate. Returns those written; none if another session leads. */
  intend(session: string, units: readonly string[]): Promise<Intent[]>;
  /** Opens the gates of units that still have this intent. Returns their IDs. */
  openShared(session: string, intents: readonly Intent[]): Promise<string[]>;
  /**
   * Closes the gates of units that are not in progress. Returns the IDs of those that are closed now: no pass
   * can admit them.
   */
  closeShared(session: string, intents: readonly Intent[]): Promise<string[]>;
  /** Deletes intents whose locks were released, and the gates and lanes of these units that are gone. */
  forgetShared(session: string, intents: readonly Intent[], gone: readonly string[]): Promise<void>;
}

export interface Leading {
  readonly leads: boolean;
  /** The name that this store has for ever. */
  readonly engine: string;
  readonly now: number;
}

export interface Intent {
  readonly unit: string;
  /** It grows with every intent and is never used again. */
  readonly n: number;
}

export interface SharingUnit {
  readonly unit: string;
  readonly priority: number;
  readonly createdAt: number;
  readonly options: string;
  /** `later`: it is delayed. `claimed`: it is in progress, or its code is still stopping. */
  readonly place: "waiting" | "later" | "claimed" | "gone";
  readonly open: boolean;
  /** Null if it has none. */
  readonly intent: number | null;
  /** The session that wrote the intent. */
  readonly session: string | null;
}
