/**
 * An environment under the control of a test: time moves when the test says so, and chance is what the test
 * sets.
 */
import type { Cancel, Env } from "../env/env.ts";
import { FakeClock } from "./clock.ts";

interface Timer {
  readonly at: number;
  readonly call: () => void;
}

export class FakeEnv implements Env {
  readonly clock: FakeClock;
  /** The value that `random` returns. */
  chance = 0.5;
  #timers: Timer[] = [];
  #ids = 0;

  constructor(clock = new FakeClock()) {
    this.clock = clock;
  }

  monotonic(): number {
    return this.clock.now();
  }

  wall(): number {
    return this.clock.now();
  }

  random(): number {
    return this.chance;
  }

  /** id0001, id0002, … */
  newId(): string {
    this.#ids += 1;
    return `id${String(this.#ids).padStart(4, "0")}`;
  }

  after(ms: number, call: () => void): Cancel {
    const timer = { at: this.clock.now() + Math.max(0, ms), call };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** The milliseconds until each planned call is due, soonest first. */
  get planned(): number[] {
    return this.#timers.map(({ at }) => at - this.clock.now()).sort((a, b) => a - b);
  }

  /**
   * Lets time pass. Each planned call is made at its own instant, and everything that follows from it
   * happens.
   */
  async advance(ms: number): Promise<void> {
    const until = this.clock.now() + ms;
    await this.settle();
    for (let next = this.#next(until); next; next = this.#next(until)) {
      this.clock.advance(Math.max(0, next.at - this.clock.now()));
      this.#call(next);
      await this.settle();
    }
    this.clock.advance(until - this.clock.now());
  }

  /** Time goes on but nothing is called, as in a frozen process. */
  freeze(ms: number): void {
    this.clock.advance(ms);
  }

  /** Calls what came due while frozen, in order and at once. Nothing else happens in between. */
  thaw(): void {
    const now = this.clock.now();
    for (let next = this.#next(now); next; next = this.#next(now)) this.#call(next);
  }

  /** Lets everything happen that needs no time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 4; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  #call(timer: Timer): void {
    this.#timers = this.#timers.filter((other) => other !== timer);
    timer.call();
  }

  #next(until: number): Timer | undefined {
    const due = this.#timers.filter(({ at }) => at <= until);
    return due.reduce<Timer | undefined>(
      (first, timer) => (!first || timer.at < first.at ? timer : first),
      undefined,
    );
  }
}
