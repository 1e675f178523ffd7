/** Reasons one below the other, each with the command that would change it. */
import { describe, remedy } from "../../core/gate/describe.ts";
import type { Reason } from "../../core/gate/reason.ts";
import type { GlobalOptions } from "./settings.ts";
import { toPaste } from "./settings.ts";
import { colours, safe, safeLines } from "./text.ts";

export function reasonLines(
  reasons: readonly Reason[],
  now: number,
  options: GlobalOptions,
  indent = 2,
): string[] {
  return reasons.flatMap((reason) => {
    const command = remedy(reason);
    const sentence = safeLines(describe(reason, { now, indent }));
    const below = " ".repeat(indent + 4);
    return command ? [sentence, `${below}${colours.cyan(safe(toPaste(options, command)))}`] : [sentence];
  });
}
