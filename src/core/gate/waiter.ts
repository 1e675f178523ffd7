/** Who stands in line before the gates, and what is remembered of the head of a lane. */
import type { Ask } from "./gate.ts";
import type { Place } from "./order.ts";

/** A unit that asks for admission. */
export interface Waiter extends Place {
  readonly lane: string;
  readonly asks: readonly Ask[];
  /** The mark of its lane; counts only when it names this unit. */
  readonly mark?: Mark | undefined;
  /** The last unit the snapshot knows of a longer lane: never admitted now, but nobody passes it unseen. */
  readonly frontier?: boolean;
  /** Which of the snapshot's workers serve it; absent where workers play no part. */
  readonly workers?: readonly number[];
  /** The claimer has claimed it before, and it only waits for its slots. */
  readonly claimed?: boolean;
  readonly queue?: string;
  readonly name?: string;
  /** Waiting units ahead of it per gate, and under "" for a worker, where the snapshot does not hold them all. */
  readonly ahead?: Readonly<Record<string, number>>;
}

/** How often the head of a lane was overtaken at a pool, and since when; it lapses when another unit is head. */
export interface Mark {
  readonly unit: string;
  readonly passed: number;
  readonly since: number;
}

/** The head of a lane while those behind it take from its pools. */
export interface Watch {
  readonly lane: string;
  readonly mark: Mark;
  overtakes: number;
  /** The last that overtook it: a unit that takes from several of its pools counts once. */
  last: string | undefined;
}
