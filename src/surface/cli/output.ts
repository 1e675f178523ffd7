/** Writes to stdout: text for people, or data for scripts. */
import type { GlobalOptions } from "./settings.ts";

/** Prints `data` with --json, else the result of `text`. */
export function print(options: GlobalOptions, data: unknown, text: () => string): void {
  process.stdout.write(options.json ? `${JSON.stringify(data, null, 2)}\n` : withNewline(text()));
}

function withNewline(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
