/**
 * Long lists are written by several statements in one transaction. A single statement could exceed what a
 * database accepts (MySQL's packet, the longest value of PostgreSQL and SQLite), and then nothing of the list
 * would be written, however small its rows are.
 */
import type { Value } from "./sql.ts";

/**
 * In code units, each at most three bytes of UTF-8. A statement stays below 1 MB, the smallest default
 * packet.
 */
const A_PORTION = 256 * 1024;

/** The overhead of a row and of each of its values. */
const AROUND_ROW = 32;
const AROUND_VALUE = 8;

type Portable = string | Readonly<Record<string, Value | undefined>>;

/**
 * One statement per portion, in the order of the list; none for an empty list. A larger item goes alone.
 * `times` says how often the statement repeats its list.
 */
export function inPortions<P extends Portable, T>(
  list: readonly P[],
  statement: (portion: readonly P[]) => T,
  times = 1,
): T[] {
  return portionsOf(list, A_PORTION / times).map(statement);
}

export function portionsOf<P extends Portable>(list: readonly P[], most: number): P[][] {
  const portions: P[][] = [];
  let weight = 0;
  for (const one of list) {
    const more = weightOf(one);
    const open = weight + more <= most ? portions.at(-1) : undefined;
    if (open) open.push(one);
    else portions.push([one]);
    weight = open ? weight + more : more;
  }
  return portions;
}

function weightOf(one: Portable): number {
  if (typeof one === "string") return one.length + AROUND_VALUE;
  let weight = AROUND_ROW;
  for (const value of Object.values(one))
    weight += AROUND_VALUE + (typeof value === "string" ? value.length : 8);
  return weight;
}
