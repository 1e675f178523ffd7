/** Words of a command that is meant to be pasted into a shell. Names and values can hold anything. */
export function quoted(word: string): string {
  return /^[\w:=.,/@+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
