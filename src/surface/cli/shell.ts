/**
 * Quotes a word of a command that is meant to be pasted into a shell. Names and values can contain anything.
 */
export function quoted(word: string): string {
  return /^[\w:=.,/@+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
