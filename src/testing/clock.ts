/** A clock under the control of a test. It stands still until the test advances it. */
import type { SqliteTime } from "../store/sqlite/index.ts";

export class FakeClock {
  #now: number;

  constructor(now = 1_000_000) {
    this.#now = now;
  }

  /** Bound, so that it can be passed on as a function. */
  readonly now = (): number => this.#now;

  advance(ms: number): number {
    this.#now += ms;
    return this.#now;
  }
}

/** The clocks of an embedded store, following a fake one. Waiting for a lock still takes real time. */
export function sqliteTimeOf(clock: FakeClock): SqliteTime {
  return {
    wall: clock.now,
    lease: clock.now,
    bootId: "test",
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}
