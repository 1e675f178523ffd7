/**
 * A clock that all processes of a machine share and nobody can set: milliseconds of CLOCK_MONOTONIC. Node's
 * `performance.now()` is the same clock but counts from the start of its own process.
 */

export function machineNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * Converts an instant of this process's `performance.now()` to the shared clock. The result is never later.
 */
export function machineTimeOf(monotonicMs: number): number {
  return Math.floor(machineNow() + (monotonicMs - performance.now()));
}
