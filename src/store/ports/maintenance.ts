/** What keeps a store in order: its schema, its clock, and what happens because time has passed. */
export interface MaintenancePort {
  /** Brings the schema to the current version; does nothing when it is there. */
  migrate(): Promise<void>;
  /** Fails with SCHEMA_MISSING or SCHEMA_NEWER when the schema is not the one this code was written for. */
  verify(): Promise<void>;
  now(): Promise<number>;
  /** Moves what became due and expires what is past its deadline. Lists gates with parked lanes whose key comes after this one. */
  tend(parkedAfter?: string): Promise<Tended>;
}

export interface Tended {
  readonly now: number;
  readonly promoted: number;
  readonly expired: number;
  /** When the next delayed unit is due, if any. */
  readonly nextDueAt: number | null;
  /** Gates that lanes are parked on, in order, 200 at most. */
  readonly parkedOn: readonly string[];
}
