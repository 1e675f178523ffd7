/**
 * Time, randomness and IDs enter through this one object, which is passed in at the top, so a test or a
 * simulator can control them.
 */

/** Cancels a planned call. Has no effect if it already happened or was cancelled. */
export type Cancel = () => void;

export interface AfterOptions {
  /**
   * If true, the process stays alive until the timer fires. Otherwise a timer never keeps a process alive.
   */
  readonly keepsAlive?: boolean;
}

export interface Env {
  /** A clock that never goes back, in milliseconds. For durations only. */
  monotonic(): number;
  wall(): number;
  random(): number;
  newId(): string;
  /** Calls back once after this time. */
  after(ms: number, call: () => void, options?: AfterOptions): Cancel;
  /** Resolves after this time. The process stays alive until then. */
  sleep(ms: number): Promise<void>;
}
