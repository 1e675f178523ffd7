/** One corrupt row must not hide the others: text that cannot be read is shown as it is. */
export function readable(text: string, read: (text: string) => unknown = JSON.parse): unknown {
  try {
    return read(text);
  } catch {
    return text;
  }
}
