/** Everything that runs by itself starts and stops the same way. */
export interface Service {
  start(): Promise<void>;
  /** Resolves when nothing of it is running any more; harmless when it never ran. */
  stop(): Promise<void>;
}
