/** C10: what must have happened for the other checks to mean anything. A run without it proves nothing. */
import type { Finding } from "../history.ts";

/** How often each thing happened; undefined where the store has no such thing. */
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
