/** Time in the hands of a test: it stands still until somebody moves it. */
import type { SqliteTime } from "../store/sqlite/index.ts";

export class FakeClock {
  #now: number;

  constructor(now = 1_000_000) {
    this.#now = now;
  }

  /** Bound, so that it can be handed on as a function. */
  readonly now = (): number => this.#now;

  advance(ms: number): number {
    this.#now += ms;
    return this.#now;
  }
}

/** The clocks of an embedded store that follow a fake one. Waiting for a lock still takes its real time. */
export function sqliteTimeOf(clock: FakeClock): SqliteTime {
  return {
    wall: clock.now,
    lease: clock.now,
    bootId: "test",
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}
