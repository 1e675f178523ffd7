/**
 * Long lists are written by several statements. One alone could be larger than what a database takes at a time (MySQL's
 * packet, PostgreSQL's and SQLite's longest value), and then nothing of the list would be written, however small each of
 * its rows is. All of them stay in one transaction.
 */
import type { Value } from "./sql.ts";

/** In code units, which have three bytes of UTF-8 at most: a statement stays below a packet of 1 MB, the smallest default. */
const A_PORTION = 256 * 1024;

/** What stands around a row and around each value of it. */
const AROUND_ROW = 32;
const AROUND_VALUE = 8;

type Portable = string | Readonly<Record<string, Value | undefined>>;

/**
 * One statement for each portion, in the order of the list; none where it is empty. What is larger goes alone. `times`: how
 * often the statement says its list.
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
