/** The report printed at the end. */
import type { Verdict } from "./judge.ts";

const MOST_SHOWN = 8;

export function reportOf({ store, faults, findings, ok }: Verdict): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, figures, violations }) => [
    `  ${violations.length === 0 ? "ok  " : "FAIL"}  ${check.padEnd(width)}  ${figures}`,
    ...violations.slice(0, MOST_SHOWN).map((each) => `          ${each}`),
    ...(violations.length > MOST_SHOWN ? [`          … and ${violations.length - MOST_SHOWN} more`] : []),
  ]);
  return [`${store}: ${ok ? "passed" : "FAILED"}`, `  faults: ${faults}`, ...lines].join("\n");
}
