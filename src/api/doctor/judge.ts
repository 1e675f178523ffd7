/** Finds settings of a database under which one of our promises does not hold, and says what that means. */
import type { Finding } from "./check.ts";
import { warning } from "./check.ts";

/** Values by the database's own names for its settings. */
export type StoreSettings = Readonly<Record<string, string>>;

export interface Judge {
  /** The name and the version of the database, in words. */
  readonly title: (is: StoreSettings) => string;
  readonly version: (is: StoreSettings) => Finding[];
  readonly durability: (is: StoreSettings) => Finding[];
  readonly locks: (is: StoreSettings) => Finding[];
  /** The summary if nothing is wrong with the locks. */
  readonly cutOff: string;
  /** Set if a setting can make this database slow. */
  readonly speed?: Aspect;
  /** Set if a setting can make this database refuse large values. */
  readonly values?: Aspect;
}

interface Aspect {
  readonly found: (is: StoreSettings) => Finding[];
  readonly well: (is: StoreSettings) => string;
}

/** A warning with its cure if a promise is broken. Empty otherwise. */
export const where = (broken: boolean, text: string, cure: string): Finding[] =>
  broken ? [warning(text, cure)] : [];

/** Compares the numbers between the dots, from the left. A version that is not made of numbers is never older. */
export function isOlder(version: string, wanted: string): boolean {
  const [have, want] = [version, wanted].map((text) => text.split(".").map(Number)) as [number[], number[]];
  if (have.some(Number.isNaN)) return false;
  for (const [index, part] of want.entries()) {
    const mine = have[index] ?? 0;
    if (mine !== part) return mine < part;
  }
  return false;
}
