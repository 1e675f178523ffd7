/** The part of a long line that is read to explain one place in it. Counts always cover the whole line. */

/** The most lanes looked at, best first. */
export const LANES_NEAR = 1_000;
const UNITS_NEAR = 2_000;

/** Units read per lane: enough to fill most gates, and few enough for one look. */
export const wantEach = (lanes: number): number =>
  Math.max(2, Math.min(500, Math.floor(UNITS_NEAR / Math.max(1, lanes))));
