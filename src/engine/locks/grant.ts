/** A lock that is held: its epoch, and the code that waits for its release. All permits of one holder share it. */
export class LockGrant {
  readonly fence: number;
  readonly #abort = new AbortController();
  readonly #end: () => void;
  readonly #told: Promise<void>;
  #uses = 0;

  /** `end` lets the unit end. `told` resolves when the store knows of it, or never needs to. */
  constructor(fence: number, end: () => void, told: Promise<void>) {
    this.fence = fence;
    this.#end = end;
    this.#told = told;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  abort(reason: unknown): void {
    this.#abort.abort(reason);
  }

  use(): void {
    this.#uses += 1;
  }

  /** True if this was the last use. Then the slots are on their way back. */
  unuse(): boolean {
    this.#uses -= 1;
    if (this.#uses > 0) return false;
    this.#end();
    return true;
  }

  /** Resolves when another holder may have it. If others use it still, that is not awaited. */
  over(): Promise<void> {
    return this.#uses > 0 ? Promise.resolve() : this.#told;
  }
}
