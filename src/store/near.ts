/** How much of a long line is read to explain one place in it; what is counted is always counted to the end. */

/** Lanes that are looked at, the best first. */
export const LANES_NEAR = 1_000;
const UNITS_NEAR = 2_000;

/** Units of each lane: enough to fill most gates, and never more than a look can bear. */
export const wantEach = (lanes: number): number =>
  Math.max(2, Math.min(500, Math.floor(UNITS_NEAR / Math.max(1, lanes))));
