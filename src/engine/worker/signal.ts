/** A flag that can be awaited. Setting it twice before it is seen is the same as setting it once. */
export class Signal {
  #set = false;
  #waiting: (() => void) | undefined;

  set(): void {
    this.#set = true;
    this.#waiting?.();
    this.#waiting = undefined;
  }

  /** Resolves when the flag is set, and clears it. */
  async wait(): Promise<void> {
    if (!this.#set) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    this.#set = false;
  }
}
