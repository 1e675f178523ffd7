/**
 * The rule for every text that names or finds something in a store: names, keys, tags and their values, IDs,
 * and who did something. All stores can keep every text that it allows.
 *
 * Two texts are the same if their bytes are. Nothing is trimmed, folded or normalized. The order is also that
 * of their bytes, because PostgreSQL, SQLite and MySQL sort like that, and locks must be taken in one order.
 */
import { SluiceError } from "./error.ts";

/**
 * In bytes of UTF-8. Every store can keep this much in an index. It also bounds a gate's key, with kind and
 * value.
 */
export const LONGEST_TEXT = 191;

/** Bounds the asks of a unit as text, and the tags of a run. */
export const LONGEST_LIST = 4_000;

/**
 * Characters that cannot be stored (half a surrogate pair), that cannot be seen (control characters, line
 * separators, the byte order mark), or that reorder the visible text (the embeddings, overrides and isolates
 * of bidirectional text).
 */
const FORBIDDEN = /[\p{Cc}\p{Surrogate}\u{2028}\u{2029}\u{202a}-\u{202e}\u{2066}-\u{2069}\u{feff}]/u;

/**
 * Printable ASCII needs no further check. Most texts are printable ASCII, and texts are checked at every
 * enqueue.
 */
const PLAIN = /^[\x20-\x7e]+$/;

/** The problem with a text, as the end of a sentence about it. Undefined if there is none. */
export function textProblem(text: unknown, longest = LONGEST_TEXT): string | undefined {
  if (typeof text !== "string") return `must be a string, but is ${kindOf(text)}`;
  if (text === "") return "must not be empty";
  // A code unit takes one to three bytes.
  if (text.length > longest) return tooLong(text, longest);
  if (PLAIN.test(text)) return undefined;
  const found = FORBIDDEN.exec(text);
  if (found) return `must not contain ${characterName(found[0])}, at position ${found.index}`;
  return text.length * 3 > longest && bytesOf(text) > longest ? tooLong(text, longest) : undefined;
}

/**
 * True if every store can keep the text and find it again. This allows more than the rule, so that texts
 * stored before the rule existed keep working.
 */
export function isStorable(text: unknown): text is string {
  return typeof text === "string" && text.length > 0 && text.length <= LONGEST_TEXT && !LOST.test(text);
}

const LOST = /[\0\p{Surrogate}]/u;

/** Refuses a text that no store should have to keep. `what` begins the message: `the idempotency key`. */
export function checkText(what: string, text: unknown, longest = LONGEST_TEXT): asserts text is string {
  const problem = textProblem(text, longest);
  if (problem === undefined) return;
  throw new SluiceError("BAD_TEXT", `${what} ${problem}. Got ${shortly(text)}.`, {
    details: { what, problem },
  });
}

/** Who did something, as the caller says it. */
export const checkBy = (by: unknown): void => checkText("The name in `by`", by);

export const checkId = (id: unknown): void => checkText("An id", id);

/** The number of bytes in UTF-8. */
export function bytesOf(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    // Each half of a surrogate pair counts two bytes. Every other code unit above 0x7ff counts three.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}

/**
 * The order of UTF-8 bytes, which is that of code points. JavaScript would compare halves of surrogate pairs.
 */
export function inByteOrder(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points that come after all others. */
const rank = (unit: number): number => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800);

/** A text as shown in an error. Invisible characters are spelled out, and a long text is cut. */
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
  return Array.isArray(value)
    ? "a list"
    : typeof value === "function"
      ? "a function"
      : `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
}
