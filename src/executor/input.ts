/** An input between enqueue and run: as text, and read back the same way in both places. */

import { jsonText } from "../core/json.ts";

/** Nothing at all is not the same as null, and JSON has no word for it. */
const NOTHING = "";

/** Refuses, with its place, what would not come back as it is. */
export function inputText(input: unknown): string {
  return jsonText(input, "input") ?? NOTHING;
}

export function inputOf(text: string): unknown {
  return text === NOTHING ? undefined : JSON.parse(text);
}
