/**
 * Makes text safe and aligned on a terminal. Stored text may contain anything, including escape sequences.
 */
import pc from "picocolors";

const UNSAFE = /[\p{Cc}\u{202a}-\u{202e}\u{2066}-\u{2069}\u{2028}\u{2029}]/gu;

/** Nobody reads a longer text, and a terminal would be slow to print it. */
const MOST_SHOWN = 2_000;

/** One line, without control characters. A long text is cut. */
export function safe(text: string): string {
  return shorten(text)
    .replace(/[\r\n\t]+/g, " ")
    .replace(UNSAFE, "");
}

/** A stack or a list of problems has many lines, so it may be longer. */
const shortenAll = (text: string): string => (text.length > 20 * MOST_SHOWN ? shorten(text) : text);

function shorten(text: string): string {
  if (text.length <= MOST_SHOWN) return text;
  // Does not cut a surrogate pair in half.
  const end = /[\ud800-\udbff]$/.test(text.slice(0, MOST_SHOWN)) ? MOST_SHOWN - 1 : MOST_SHOWN;
  return `${text.slice(0, end)}… (${text.length} characters; --json prints all of it)`;
}

/** Like `safe`, but keeps line breaks. */
export function safeLines(text: string): string {
  return shortenAll(text).split(/\r?\n/).map(safe).join("\n");
}

const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|^\p{Emoji_Presentation}/u;

/** Created on first use, because that takes longer than printing a table of plain letters. */
let segmenter: Intl.Segmenter | undefined;

function graphemes(text: string): Iterable<{ readonly segment: string }> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/** The number of terminal columns that the text takes. */
export function widthOf(text: string): number {
  if (isPlain(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes(text))
    width += WIDE.test(segment) ? 2 : /^\p{M}/u.test(segment) ? 0 : 1;
  return width;
}

export function padTo(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** A sign may consist of many characters, but of no more than this. */
const LONGEST_SIGN = 20;

/** Cuts the text to this many columns and marks the cut with "…". */
export function cutTo(text: string, width: number): string {
  const most = (width + 1) * LONGEST_SIGN;
  const begin = text.length > most ? text.slice(0, most) : text;
  if (begin === text && widthOf(text) <= width) return text;
  let kept = "";
  for (const { segment } of graphemes(begin)) {
    if (widthOf(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Colours for people at a terminal. None in pipes, files and CI logs. */
export const colours = pc.createColors(process.stdout.isTTY === true && !process.env.NO_COLOR);
