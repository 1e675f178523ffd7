/** What a caller gets: proof that it holds the lock, and the way to give it back. */
import type { LockGrant } from "./grant.ts";

export class Permit implements AsyncDisposable {
  /** The ID of its request. `why` and the listings of holders show it. */
  readonly id: string;
  readonly #grant: LockGrant;
  readonly #unuse: () => void;
  #over: Promise<void> | undefined;

  constructor(id: string, grant: LockGrant, unuse: () => void) {
    this.id = id;
    this.#grant = grant;
    this.#unuse = unuse;
  }

  /** A number that grows with every grant. An outside system refuses writes with a smaller one than it has seen. */
  get fence(): number {
    return this.#grant.fence;
  }

  /** Aborted when the lock is lost: its lease could not be renewed, somebody cancelled it, or the client closes. */
  get signal(): AbortSignal {
    return this.#grant.signal;
  }

  /**
   * Gives the lock back. Resolves when the store knows it. A second release does nothing. The release of a lock
   * that was lost changes nothing, because another holder may have it.
   */
  release(): Promise<void> {
    if (!this.#over) {
      this.#unuse();
      this.#over = this.#grant.over();
    }
    return this.#over;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}
