/** An input as text between enqueue and run. Both ends read and write it the same way. */

import { jsonText } from "../core/json.ts";

/** An absent input is not the same as null, and JSON cannot express it. */
const NOTHING = "";

/** Refuses a value that JSON would not preserve, and names its path. */
export function inputText(input: unknown): string {
  return jsonText(input, "input") ?? NOTHING;
}

export function inputOf(text: string): unknown {
  return text === NOTHING ? undefined : JSON.parse(text);
}
