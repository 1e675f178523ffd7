/**
 * The one rule for every text that names or finds something in a store: names, keys, tags and their values, ids, and who
 * did it. What is allowed is allowed in all of them, so no store meets a text that it cannot keep.
 *
 * Two texts are the same if their bytes are: nothing is trimmed, folded or normalized. The order is that of their bytes,
 * too, because PostgreSQL, SQLite and MySQL sort like that, and what is locked must be locked in one order.
 */
import { SluiceError } from "./error.ts";

/** In bytes of UTF-8. Every store can keep this in an index; a gate's key, kind and value together, is bound by it. */
export const LONGEST_TEXT = 191;

/** All that a unit asks, written down; and all tags of a run. */
export const LONGEST_LIST = 4_000;

/**
 * What cannot be stored (half a surrogate pair), what cannot be seen (control characters, line separators, the byte
 * order mark), and what turns round what is seen (the embeddings, overrides and isolates of bidirectional text).
 */
const FORBIDDEN = /[\p{Cc}\p{Surrogate}\u{2028}\u{2029}\u{202a}-\u{202e}\u{2066}-\u{2069}\u{feff}]/u;

/** Printable ASCII has nothing to look for: most texts are, and are checked at every enqueue. */
const PLAIN = /^[\x20-\x7e]+$/;

/** What is wrong with a text, as the end of a sentence about it; undefined when nothing is. */
export function textProblem(text: unknown, longest = LONGEST_TEXT): string | undefined {
  if (typeof text !== "string") return `must be a string, but is ${kindOf(text)}`;
  if (text === "") return "must not be empty";
  // A code unit is a byte at least, and three at most.
  if (text.length > longest) return tooLong(text, longest);
  if (PLAIN.test(text)) return undefined;
  const found = FORBIDDEN.exec(text);
  if (found) return `must not contain ${characterName(found[0])}, at position ${found.index}`;
  return text.length * 3 > longest && bytesOf(text) > longest ? tooLong(text, longest) : undefined;
}

/**
 * Whether every store can keep it at all, and find it again. More than the rule allows: what was stored before there was
 * such a rule goes on.
 */
export function isStorable(text: unknown): text is string {
  return typeof text === "string" && text.length > 0 && text.length <= LONGEST_TEXT && !LOST.test(text);
}

const LOST = /[\0\p{Surrogate}]/u;

/** Refuses a text that no store should have to keep. `what` begins the sentence: `the idempotency key`. */
export function checkText(what: string, text: unknown, longest = LONGEST_TEXT): void {
  const problem = textProblem(text, longest);
  if (problem === undefined) return;
  throw new SluiceError("BAD_TEXT", `${what} ${problem}. Got ${shortly(text)}.`, {
    details: { what, problem },
  });
}

/** How many bytes it has in UTF-8. */
export function bytesOf(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    // Both halves of a pair have two bytes each; everything else above is three.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}

/** The order of bytes in UTF-8, which is that of code points. JavaScript compares halves of surrogate pairs. */
export function inByteOrder(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Surrogates stand for what comes after all others. */
const rank = (unit: number): number => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800);

/** A text in an error: what cannot be seen is spelled out, and what is long is cut. */
export function shortly(text: unknown, most = 60): string {
  if (typeof text !== "string") return kindOf(text);
  const cut = text.length > most;
  const spelled = JSON.stringify(cut ? text.slice(0, most) : text).replace(
    new RegExp(FORBIDDEN, "gu"),
    (character) => `\\u${(character.codePointAt(0) as number).toString(16).padStart(4, "0")}`,
  );
  return cut ? `${spelled.slice(0, -1)}…" (${text.length} characters)` : spelled;
}

const tooLong = (text: string, longest: number): string =>
  `is too long: it has ${bytesOf(text)} bytes, and ${longest} are allowed`;

function characterName(character: string): string {
  const code = character.codePointAt(0) as number;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  if (code >= 0xd800 && code <= 0xdfff) return `half of a surrogate pair (${name})`;
  return code < 0xa0 ? `the control character ${name}` : `the invisible character ${name}`;
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === "number" || typeof value === "boolean")
    return String(value);
  return Array.isArray(value) ? "a list" : typeof value === "function" ? "a function" : `a ${typeof value}`;
}
