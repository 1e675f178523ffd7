/** Reads the time of a step that waits until then. */
import { INSTANTS, isWithin } from "../number.ts";

/** A text without a time zone would mean something else on each machine. A date alone is midnight UTC. */
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Milliseconds since 1970, or undefined if the value is not a time. */
export function timeOf(value: unknown): number | undefined {
  const ms = typeof value === "string" && ISO.test(value) ? Date.parse(value) : value;
  return isWithin(ms, INSTANTS) ? ms : undefined;
}
