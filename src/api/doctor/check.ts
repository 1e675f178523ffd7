/** The report of the doctor: one line per check, with its findings and their cures below. */
import type { Remedy } from "../../core/remedy.ts";
import type { Sample } from "../../store/store.ts";

export type Verdict = "ok" | "warn" | "fail";

export interface Finding {
  /** `fail` is a broken invariant. `warn` is a promise that does not hold, or something that needs your attention. */
  readonly verdict: Exclude<Verdict, "ok">;
  readonly text: string;
  /** The IDs that the finding is about, at most ten. `more` says that there are others. */
  readonly ids?: readonly string[];
  readonly more?: boolean;
  readonly cure: string;
  /** The action that cures it or shows more about it, if there is one. */
  readonly remedy?: Remedy | undefined;
}

export interface Check {
  readonly check: string;
  readonly verdict: Verdict;
  /** A summary: all is well, the only finding, or the number of findings. */
  readonly says: string;
  readonly findings: readonly Finding[];
}

/** Makes a check from its findings. `well` is its summary if there are none. */
export function checkOf(check: string, findings: readonly Finding[], well: string): Check {
  const worst = findings.some(({ verdict }) => verdict === "fail") ? "fail" : "warn";
  const [only] = findings;
  if (!only) return { check, verdict: "ok", says: well, findings };
  return {
    check,
    verdict: worst,
    says: findings.length === 1 ? only.text : many(findings.length, "finding"),
    findings,
  };
}

/** The summary of a check without findings: `3 gates, none above its limit`. */
export const eachOf = (count: number, noun: string, well: string): string =>
  count === 0 ? many(0, noun) : `${many(count, noun)}, ${well}`;

export function many(count: number, noun: string): string {
  return `${count === 0 ? "no" : count} ${noun}${count === 1 ? "" : "s"}`;
}

/** A broken invariant, with the IDs where it was found. Empty if there are no IDs. */
export function broken({ ids, more }: Sample, text: string, cure: string, remedy?: Remedy): Finding[] {
  return ids.length === 0 ? [] : [{ verdict: "fail", text, ids, more, cure, remedy }];
}

export const warning = (text: string, cure: string, remedy?: Remedy): Finding => ({
  verdict: "warn",
  text,
  cure,
  remedy,
});
