export interface StopOptions {
  /** How long the whole stop may take if code has to end first. */
  readonly graceMs?: number;
}

/** Everything that runs by itself starts and stops the same way. */
export interface Service {
  start(): Promise<void>;
  /** Resolves when nothing of it runs any more. Harmless if it never ran. */
  stop(options?: StopOptions): Promise<void>;
}
