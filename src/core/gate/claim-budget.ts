/**
 * How many units a claimer may take in one pass, beside its slots: so many altogether, so many of each queue. Units
 * it has claimed before only start now, and cost nothing here.
 */
export interface ClaimBounds {
  /** New claims altogether; no bound when absent. */
  readonly inAll?: number | undefined;
  /** New claims of any one queue; no bound when absent. */
  readonly perQueue?: number | undefined;
}

export class ClaimBudget {
  readonly #bounds: ClaimBounds;
  readonly #perQueue = new Map<string, number>();
  #inAll = 0;

  constructor(bounds: ClaimBounds) {
    this.#bounds = bounds;
  }

  allows(queue: string): boolean {
    const { inAll = Number.POSITIVE_INFINITY, perQueue = Number.POSITIVE_INFINITY } = this.#bounds;
    return this.#inAll < inAll && (this.#perQueue.get(queue) ?? 0) < perQueue;
  }

  spend(queue: string): void {
    this.#inAll += 1;
    this.#perQueue.set(queue, (this.#perQueue.get(queue) ?? 0) + 1);
  }
}
