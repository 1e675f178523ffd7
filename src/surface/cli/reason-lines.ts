/** Lists reasons, each with the commands that would change it. */
import { describe } from "../../core/gate/describe.ts";
import type { Reason } from "../../core/gate/reason.ts";
import { remedies } from "../../core/gate/remedy.ts";
import { sayRemedy } from "./remedy.ts";
import type { GlobalOptions } from "./settings.ts";
import { colours, safe, safeLines } from "./text.ts";

export function reasonLines(
  reasons: readonly Reason[],
  now: number,
  options: GlobalOptions,
  indent = 2,
): string[] {
  return reasons.flatMap((reason) => {
    const sentence = safeLines(describe(reason, { now, indent }));
    const below = " ".repeat(indent + 4);
    const commands = remedies(reason).map((remedy) => safe(sayRemedy(remedy, options)));
    return [sentence, ...commands.map((command) => `${below}${colours.cyan(command)}`)];
  });
}
