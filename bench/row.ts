/** What one task cost. Null where it cannot be measured: no /proc, no server, or a server without a log. */
export interface Cost {
  /** Processor time of the workers' Node processes, in microseconds. */
  readonly nodeUs: number | null;
  /** Processor time of all processes of the database server, in microseconds. */
  readonly serverUs: number | null;
  /** What the server wrote to its log: WAL of PostgreSQL, redo log of MariaDB. */
  readonly logBytes: number | null;
}

/** One printed line. `value` is null if nothing was measured. Then `note` says why. */
export interface Row {
  name: string;
  /** What was measured, with its version. */
  system?: string | undefined;
  /** The database, with its version. */
  on?: string | undefined;
  /** When finished work survives a crash of the database's host. */
  durable?: string | undefined;
  slots?: number | undefined;
  tasks?: number | undefined;
  value: number | null;
  unit: string;
  cost?: Cost | undefined;
  /** The figure of each round. `value` is their median. */
  runs?: number[];
  note?: string | undefined;
}
