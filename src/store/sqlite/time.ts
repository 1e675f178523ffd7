/** The clocks of a SQLite store: they are the host's, because the file has none of its own. */
export interface SqliteTime {
  /** Wall clock, milliseconds. */
  wall(): number;
  /** The host's clock that cannot be set back, shared by all its processes, milliseconds. */
  lease(): number;
  /** Tells one start of the host from the next: leases of an earlier one are void. */
  readonly bootId: string;
  sleep(ms: number): Promise<void>;
}
