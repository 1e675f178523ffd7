export interface StopOptions {
  /** How long the whole stop may take if code has to end first. */
  readonly graceMs?: number;
}

/** A part that runs until it is stopped. All services start and stop in the same way. */
export interface Service {
  start(): Promise<void>;
  /** Resolves when nothing of it runs any more. Harmless if it never ran. */
  stop(options?: StopOptions): Promise<void>;
}
