/**
 * A clock that all processes of one machine share and nobody can set: milliseconds of CLOCK_MONOTONIC. Node's
 * `performance.now()` is the same clock, but counts from the start of its own process.
 */

export function machineNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** An instant of this process's `performance.now()`, as every process reads it; never later than it is. */
export function machineTimeOf(monotonicMs: number): number {
  return Math.floor(machineNow() + (monotonicMs - performance.now()));
}
