/** What a doctor says: one line per check, and below it what was found and what would cure it. */
import type { Remedy } from "../../core/remedy.ts";
import type { Sample } from "../../store/store.ts";

export type Verdict = "ok" | "warn" | "fail";

export interface Finding {
  /** `fail` is a broken invariant; `warn` is a promise that does not hold, or something that waits for you. */
  readonly verdict: Exclude<Verdict, "ok">;
  readonly text: string;
  /** What it was found on, ten at most; `more` says that there are others. */
  readonly ids?: readonly string[];
  readonly more?: boolean;
  readonly cure: string;
  /** What does it, or where to look, where there is such a thing. */
  readonly remedy?: Remedy | undefined;
}

export interface Check {
  readonly check: string;
  readonly verdict: Verdict;
  /** What was looked at, or how much was found. */
  readonly says: string;
  readonly findings: readonly Finding[];
}

/** A check from what it found; `well` is what it says when that is nothing. */
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

/** What is said of so many of them when all is well. */
export const eachOf = (count: number, noun: string, well: string): string =>
  count === 0 ? many(0, noun) : `${many(count, noun)}, ${well}`;

export function many(count: number, noun: string): string {
  return `${count === 0 ? "no" : count} ${noun}${count === 1 ? "" : "s"}`;
}

/** A broken invariant, found on these. None when there are none. */
export function broken({ ids, more }: Sample, text: string, cure: string, remedy?: Remedy): Finding[] {
  return ids.length === 0 ? [] : [{ verdict: "fail", text, ids, more, cure, remedy }];
}

export const warning = (text: string, cure: string, remedy?: Remedy): Finding => ({
  verdict: "warn",
  text,
  cure,
  remedy,
});
