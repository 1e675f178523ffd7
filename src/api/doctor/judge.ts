/** Settings of a database under which a promise of ours does not hold: from what it says to what that means. */
import type { Finding } from "./check.ts";
import { warning } from "./check.ts";

/** By the database's own names. */
export type StoreSettings = Readonly<Record<string, string>>;

export interface Judge {
  /** What the database is, as people call it. */
  readonly title: (is: StoreSettings) => string;
  readonly version: (is: StoreSettings) => Finding[];
  readonly durability: (is: StoreSettings) => Finding[];
  readonly locks: (is: StoreSettings) => Finding[];
  /** What is said of the locks when all is well. */
  readonly cutOff: string;
  /** Where it can be lost by a setting. */
  readonly speed?: Aspect;
  /** Where large values can be refused by a setting. */
  readonly values?: Aspect;
}

interface Aspect {
  readonly found: (is: StoreSettings) => Finding[];
  readonly well: (is: StoreSettings) => string;
}

/** What to say, and what would cure it, where a promise is broken. */
export const where = (broken: boolean, text: string, cure: string): Finding[] =>
  broken ? [warning(text, cure)] : [];

/** Numbers between dots, from the left. What has no number is not judged. */
export function isOlder(version: string, wanted: string): boolean {
  const [have, want] = [version, wanted].map((text) => text.split(".").map(Number)) as [number[], number[]];
  if (have.some(Number.isNaN)) return false;
  for (const [index, part] of want.entries()) {
    const mine = have[index] ?? 0;
    if (mine !== part) return mine < part;
  }
  return false;
}
