/** The clocks of a SQLite store. They are the host's, because the file has none of its own. */
export interface SqliteTime {
  /** Wall clock, in milliseconds. */
  wall(): number;
  /** The host's monotonic clock, shared by all its processes, in milliseconds. */
  lease(): number;
  /** Identifies one start of the host. Leases from an earlier start are void. */
  readonly bootId: string;
  sleep(ms: number): Promise<void>;
}
