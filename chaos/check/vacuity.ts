/**
 * C10: these things must have happened for the other checks to mean anything. A run without them proves
 * nothing.
 */
import type { Finding } from "../history.ts";

/** How often each thing happened. Undefined if it cannot happen on this store. */
export function checkVacuity(happened: Readonly<Record<string, number | undefined>>): Finding {
  const there = Object.entries(happened).flatMap(([what, times]) =>
    times === undefined ? [] : [{ what, times }],
  );
  return {
    check: "C10 not vacuous",
    figures: there.map(({ what, times }) => `${what} ${times}`).join(", "),
    violations: there.filter(({ times }) => times === 0).map(({ what }) => `vacuous: ${what} never happened`),
  };
}
