/** The upkeep of a store: its schema, its clock, and the changes that the passing of time causes. */
export interface MaintenancePort {
  /** Brings the schema to the current version. Does nothing if it is current. */
  migrate(): Promise<void>;
  /** Fails with SCHEMA_MISSING or SCHEMA_NEWER if the schema is not the one this code was written for. */
  verify(): Promise<void>;
  now(): Promise<number>;
  /**
   * Moves delayed units that are due into line, and expires units that are past their deadline. Lists gates
   * with parked lanes, from the first key after `parkedAfter`.
   */
  tend(parkedAfter?: string): Promise<Tended>;
}

export interface Tended {
  readonly now: number;
  readonly promoted: number;
  readonly expired: number;
  /** When the next delayed unit is due; null if there is none. */
  readonly nextDueAt: number | null;
  /** Gates that lanes are parked on, in order, at most 200. */
  readonly parkedOn: readonly string[];
}
