export interface StopOptions {
  /** How long a stop may take altogether, where code has to end first. */
  readonly graceMs?: number;
}

/** Everything that runs by itself starts and stops the same way. */
export interface Service {
  start(): Promise<void>;
  /** Resolves when nothing of it is running any more; harmless when it never ran. */
  stop(options?: StopOptions): Promise<void>;
}
