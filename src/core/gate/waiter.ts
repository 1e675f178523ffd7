/** The units in line at the gates, and the marks of the heads of lanes. */
import type { Ask } from "./gate.ts";
import type { Place } from "./order.ts";

/** A unit that asks for admission. */
export interface Waiter extends Place {
  readonly lane: string;
  readonly asks: readonly Ask[];
  /** The mark of its lane. It counts only if it names this unit. */
  readonly mark?: Mark | undefined;
  /**
   * The last unit that the snapshot shows of a longer lane. It is not admitted now. If it could start, the
   * walk ends there, so that no unit overtakes the units that are not shown.
   */
  readonly frontier?: boolean;
  /** The indices of the workers that serve it. Absent if workers play no part. */
  readonly workers?: readonly number[];
  /** The claimer has already claimed it, and it only waits for its slots. */
  readonly claimed?: boolean;
  readonly queue?: string;
  readonly name?: string;
  /**
   * The number of units that wait ahead of it, by gate, and under "" for a worker. Set if the snapshot does
   * not show all of them.
   */
  readonly ahead?: Readonly<Record<string, number>>;
}

/**
 * How often the head of a lane was overtaken at a pool, and since when. It lapses when another unit becomes
 * head.
 */
export interface Mark {
  readonly unit: string;
  readonly passed: number;
  readonly since: number;
}

/** The head of a lane while units behind it take from its pools. */
export interface Watch {
  readonly lane: string;
  readonly mark: Mark;
  overtakes: number;
  /** The last unit that overtook it. A unit that takes from several of its pools counts once. */
  last: string | undefined;
}
