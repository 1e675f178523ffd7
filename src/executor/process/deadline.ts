/**
 * In the child: how long its jobs are known to be held. The parent may be frozen while the child goes on, so
 * the child watches the clock itself. One timer is enough: when it fires, it first asks for the newest
 * deadline.
 */
import { after } from "../../env/timers.ts";
import { machineNow } from "./machine-time.ts";

export class Deadline {
  readonly #newest: () => number;
  readonly #passed: () => void;
  #isWaiting = false;

  /**
   * `newest` returns 0 while there is no deadline. `passed` may be called more than once for the same
   * deadline.
   */
  constructor(newest: () => number, passed: () => void) {
    this.#newest = newest;
    this.#passed = passed;
  }

  isOver(): boolean {
    const until = this.#newest();
    return until > 0 && machineNow() >= until;
  }

  /** Looks for a newer deadline. */
  look(): void {
    if (this.#isWaiting || this.#newest() === 0) return;
    if (this.isOver()) this.#passed();
    else this.#wait(Math.ceil(this.#newest() - machineNow()));
  }

  #wait(ms: number): void {
    this.#isWaiting = true;
    after(ms, () => {
      this.#isWaiting = false;
      this.look();
    });
  }
}
