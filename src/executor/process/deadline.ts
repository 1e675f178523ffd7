/**
 * In the child: until when its jobs may be trusted to be held. The parent may be frozen while the child goes on, so
 * the child looks at the clock itself. One timer is enough: when it rings, it asks for the newest deadline first.
 */
import { after } from "../../env/timers.ts";
import { machineNow } from "./machine-time.ts";

export class Deadline {
  readonly #newest: () => number;
  readonly #passed: () => void;
  #isWaiting = false;

  /** `newest` answers 0 while there is none; `passed` may be called more than once for one that has passed. */
  constructor(newest: () => number, passed: () => void) {
    this.#newest = newest;
    this.#passed = passed;
  }

  isOver(): boolean {
    const until = this.#newest();
    return until > 0 && machineNow() >= until;
  }

  /** There may be a newer one. */
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
