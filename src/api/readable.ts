/** One row that somebody has spoilt must not hide the others: what cannot be read is shown as it is. */
export function readable(text: string, read: (text: string) => unknown = JSON.parse): unknown {
  try {
    return read(text);
  } catch {
    return text;
  }
}
