/**
 * Lists reasons, each with the commands that would change it. If several reasons have commands, only all of
 * them together help: another unit may take a slot that the first command frees.
 */
import { describe } from "../../core/gate/describe.ts";
import type { Reason } from "../../core/gate/reason.ts";
import { remedies } from "../../core/gate/remedy.ts";
import { sayRemedy } from "./remedy.ts";
import type { GlobalOptions } from "./settings.ts";
import { colours, safe, safeLines } from "./text.ts";

const TOGETHER = "The commands count only together: run all of them, in this order.";

export function reasonLines(
  reasons: readonly Reason[],
  now: number,
  options: GlobalOptions,
  indent = 2,
): string[] {
  const isMany = reasons.filter((reason) => remedies(reason).length > 0).length > 1;
  const together = isMany ? [`${" ".repeat(indent)}${TOGETHER}`] : [];
  const lines = reasons.flatMap((reason) => {
    const sentence = safeLines(describe(reason, { now, indent }));
    const below = " ".repeat(indent + 4);
    const commands = remedies(reason).map((remedy) => safe(sayRemedy(remedy, options)));
    return [sentence, ...commands.map((command) => `${below}${colours.cyan(command)}`)];
  });
  return [...lines, ...together];
}
