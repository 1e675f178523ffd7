/** Our own small generator: the same seed gives the same schedule on every machine and every Node version. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to `count` - 1. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  chance(part: number): boolean {
    return this.next() < part;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** A separate generator for one purpose, so that more draws for one purpose change nothing for another. */
  fork(purpose: string): Random {
    let seed = this.#state;
    for (const char of purpose) seed = Math.imul(seed ^ char.charCodeAt(0), 0x01000193) >>> 0;
    return new Random(seed);
  }
}
