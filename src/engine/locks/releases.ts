/** Releases that the store may not know of yet. */
interface Telling {
  readonly done: Promise<void>;
  resolve(): void;
}

export class Releases {
  readonly #open = new Map<string, Telling>();

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Resolves when the store knows that this request is over, or will never know it from us. */
  of(id: string): Promise<void> {
    let resolve = (): void => {};
    const done = new Promise<void>((resolved) => {
      resolve = resolved;
    });
    this.#open.set(id, { done, resolve });
    return done;
  }

  forget(id: string): void {
    this.#open.get(id)?.resolve();
    this.#open.delete(id);
  }

  forgetAll(): void {
    for (const id of [...this.#open.keys()]) this.forget(id);
  }
}
