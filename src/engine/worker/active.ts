import type { Claimed } from "../claiming/claims.ts";

/** A claim that runs here. Most tasks never look at their signal, so it is created on first use. */
export class ActiveSlots {
  readonly claim: Claimed;
  /** The store knows that it started. */
  marked: boolean;
  /** When its code started. Undefined until then. */
  begunAt: number | undefined;
  /** Its own lease was not renewed in time, so it no longer counts. */
  isLost = false;
  #controller: AbortController | undefined;
  #reason: unknown;
  #aborted = false;

  constructor(claim: Claimed, marked: boolean) {
    this.claim = claim;
    this.marked = marked;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  /** The reason, if it was aborted. */
  get abortedFor(): unknown {
    return this.#reason;
  }

  abort(reason: unknown): void {
    this.#aborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
