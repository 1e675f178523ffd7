/**
 * The sync database: four tables through which several engines share locks. Each engine is a controller. All
 * times are those of this database.
 *
 * | row | says | written by |
 * |---|---|---|
 * | limit | how many slots a semaphore has | people |
 * | controller | when this controller was last heard, and which process speaks for it | that process |
 * | state, pending | a unit of the controller stands in the line of this lock | that process |
 * | state, held | a unit of the controller holds the lock | that process takes and releases; a person may release |
 * | lock | somebody is deciding about the lock | lives only inside the transaction that takes |
 */

import type { SharedView } from "../../core/shared/line.ts";
import type { SharedLock } from "../../core/shared/lock.ts";

/** The names of the four tables. */
export interface SyncTables {
  readonly limits: string;
  readonly controllers: string;
  readonly states: string;
  readonly locks: string;
}

/** A process that speaks for a controller. */
export interface Speaker {
  readonly controller: string;
  /** The session of the process. A later process of the same engine replaces it, and then it is refused. */
  readonly instance: string;
}

interface Joining extends Speaker {
  /** The engine: all processes of one store have the same one. */
  readonly engine: string;
}

export type Joined =
  | { readonly joined: true; readonly now: number }
  /** Another engine of this name was heard so long ago. */
  | { readonly joined: false; readonly heardMsAgo: number };

/** A unit in line. */
export interface SharedEntry {
  readonly key: string;
  readonly priority: number;
  /** By the clock of the sync database. */
  readonly at: number;
  readonly locks: readonly SharedLock[];
}

/** A unit that wants to take its locks, all or none. */
export interface LockTaking {
  readonly key: string;
  /** The number of its intent. It grows with each try, so a late release cannot free what was taken since. */
  readonly intent: number;
  readonly locks: readonly string[];
}

export type TakeAnswer =
  /** Keys of the units that now hold all of their locks. */
  | { readonly kind: "taken"; readonly keys: readonly string[] }
  /** Another process speaks for this controller now. */
  | { readonly kind: "replaced" }
  /** The controller has not been heard for so long that others may have stopped counting its units. */
  | { readonly kind: "inactive" };

/** Says which units of the view may take their locks, by `sharedId`. */
export type DecideTake = (view: SharedView) => ReadonlySet<string>;

export interface ControllerRow {
  readonly name: string;
  readonly engine: string;
  readonly heardAt: number;
  readonly live: boolean;
  readonly held: number;
  readonly pending: number;
}

export interface SyncDatabase {
  /** Its URL. It is shown without the password. */
  readonly where: string;
  /** Creates missing tables. */
  create(): Promise<void>;
  now(): Promise<number>;
  /** Begins to speak for a controller. A process of the same engine is replaced. */
  join(joining: Joining): Promise<Joined>;
  /** False if another process speaks for this controller now. */
  heartbeat(speaker: Speaker): Promise<boolean>;
  /** Puts units in line. A unit that is there already keeps its place, and gets its new priority. */
  enter(speaker: Speaker, entries: readonly SharedEntry[]): Promise<boolean>;
  /** Takes units out of every line. What they hold stays. */
  leave(speaker: Speaker, keys: readonly string[]): Promise<boolean>;
  /** Decides about these units and no others, under the guard rows of their locks. */
  take(speaker: Speaker, units: readonly LockTaking[], decide: DecideTake): Promise<TakeAnswer>;
  /** Frees what was taken for these intents. */
  release(controller: string, taken: readonly Pick<LockTaking, "key" | "intent">[]): Promise<void>;
  /** The given locks, or all of them. */
  look(locks?: readonly string[]): Promise<SharedView>;
  /**
   * All rows of the speaker's controller; undefined if another process speaks for it now. It waits for a
   * transaction of this controller whose answer was lost, so what it does not show was never taken.
   */
  own(speaker: Speaker): Promise<SharedView["rows"] | undefined>;
  controllers(): Promise<readonly ControllerRow[]>;
  /** Sets the limit of a semaphore; null removes it. */
  setLimit(name: string, limit: number | null): Promise<void>;
  /** Deletes held rows by hand. Returns how many there were. */
  releaseByHand(
    lock: string,
    holder?: { readonly key: string; readonly controller: string },
  ): Promise<number>;
  /** Deletes everything of a controller. Refused (undefined) while it is alive. */
  removeController(name: string): Promise<{ readonly held: number; readonly pending: number } | undefined>;
  close(): Promise<void>;
}
