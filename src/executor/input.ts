/** An input between enqueue and run: as text, and read back the same way in both places. */

/** Nothing at all is not the same as null, and JSON has no word for it. */
const NOTHING = "";

export function inputText(input: unknown): string {
  return JSON.stringify(input) ?? NOTHING;
}

export function inputOf(text: string): unknown {
  return text === NOTHING ? undefined : JSON.parse(text);
}
