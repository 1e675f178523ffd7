/** For names that were not found: lists the known names and suggests the likely one. */
import { LONGEST_TEXT } from "../text.ts";

/** " (known: a, b; did you mean "a"?)", to be appended to the unknown name. */
export function unknownAmong(name: string, known: readonly string[]): string {
  if (known.length === 0) return " (none are declared)";
  const meant = nearest(name, known);
  return ` (known: ${known.join(", ")}${meant === undefined ? "" : `; did you mean "${meant}"?`})`;
}

/** " Did you mean "a"?" if a known name is close, else "". */
export function didYouMean(name: unknown, known: readonly string[]): string {
  const meant = typeof name === "string" ? nearest(name, known) : undefined;
  return meant === undefined ? "" : ` Did you mean "${meant}"?`;
}

/** The closest name, if it is close enough to be a typo. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  // No known name is this long, and the comparison would be slow.
  if (name.length > LONGEST_TEXT) return undefined;
  let best: string | undefined;
  let least = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editsBetween(name.toLowerCase(), candidate.toLowerCase());
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** The number of letters to add, drop, change, or swap with a neighbour. */
function editsBetween(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      row[j] = Math.min(
        (last[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (last[j - 1] as number) + (same ? 0 : 1),
        swapped ? (beforeLast[j - 2] as number) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [beforeLast, last] = [last, row];
  }
  return last[to.length] as number;
}
