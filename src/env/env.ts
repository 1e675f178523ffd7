/** Time, chance and ids enter through this one object, which is handed in at the top: a test or a simulator can own them. */

/** Cancels what was planned. Harmless when it has happened already, and twice. */
export type Cancel = () => void;

export interface AfterOptions {
  /** The process stays alive until the timer rings. Without it, a timer never keeps a process alive. */
  readonly keepsAlive?: boolean;
}

export interface Env {
  /** A clock that cannot be set back, in milliseconds: for durations only. */
  monotonic(): number;
  wall(): number;
  random(): number;
  newId(): string;
  /** Calls back once after so long. */
  after(ms: number, call: () => void, options?: AfterOptions): Cancel;
  /** Resolves after so long. The process stays alive until then. */
  sleep(ms: number): Promise<void>;
}
