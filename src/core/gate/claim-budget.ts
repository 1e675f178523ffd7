/**
 * How many units a claimer may take in one pass, in addition to its slots: in total, and per queue. Units
 * that it has already claimed only start now, and do not count.
 */
export interface ClaimBounds {
  /** New claims in total. Absent: no bound. */
  readonly inAll?: number | undefined;
  /** New claims in any one queue. Absent: no bound. */
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
