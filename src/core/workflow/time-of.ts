/** Reads the time of a step that waits until then. */
import { INSTANTS, isWithin } from "../number.ts";
import { dateOf } from "../time.ts";

/** A text without a time zone would mean something else on each machine. A date alone is midnight UTC. */
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** JavaScript reads the 30th of February as a day in March. */
function isDay(text: string): boolean {
  const midnight = Date.parse(text.slice(0, 10));
  return Number.isFinite(midnight) && dateOf(midnight / A_DAY).day === Number(text.slice(8, 10));
}

const A_DAY = 86_400_000;

/** Milliseconds since 1970, or undefined if the value is not a time. */
export function timeOf(value: unknown): number | undefined {
  const ms = typeof value === "string" && ISO.test(value) && isDay(value) ? Date.parse(value) : value;
  return isWithin(ms, INSTANTS) ? ms : undefined;
}
