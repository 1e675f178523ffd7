/**
 * Lists reasons, each with the commands that would change it. If several reasons have commands, only all of
 * them together help, and the order matters: another unit may take a slot that the first command frees. If a
 * reason has no command, its place in the order says what to wait for, and when.
 */
import { describe, waitFor } from "../../core/gate/describe.ts";
import type { Reason } from "../../core/gate/reason.ts";
import { remedies, shelter } from "../../core/gate/remedy.ts";
import { sayRemedy } from "./remedy.ts";
import type { GlobalOptions } from "./settings.ts";
import { colours, safe, safeLines } from "./text.ts";

export function reasonLines(
  reasons: readonly Reason[],
  now: number,
  options: GlobalOptions,
  indent = 2,
): string[] {
  const isPlan = reasons.length > 1 && reasons.some((reason) => remedies(reason).length > 0);
  const below = " ".repeat(indent + 4);
  const command = (text: string): string => `${below}${colours.cyan(safe(text))}`;
  const lines = reasons.flatMap((reason) => {
    const sentence = safeLines(describe(reason, { now, indent }));
    const commands = remedies(reason).map((remedy) => command(sayRemedy(remedy, options)));
    const wait = isPlan && commands.length === 0 ? [`${below}${safe(waitFor(reason))}`] : [];
    return [sentence, ...commands, ...wait];
  });
  const sure = " ".repeat(indent);
  return isPlan ? [...lines, ...together(reasons, options).map((line) => sure + safe(line))] : lines;
}

/** How the commands and waits of several reasons belong together. */
function together(reasons: readonly Reason[], options: GlobalOptions): string[] {
  const isAllCommands = reasons.every((reason) => remedies(reason).length > 0);
  const what = isAllCommands
    ? "The commands count only together"
    : "The commands and waits count only together";
  if (!reasons.some(({ contested }) => contested))
    return [
      `${what}: ${isAllCommands ? "run all of them, in this order" : "go through them in this order"}.`,
    ];
  const around = shelter(reasons);
  const risk = "in any order, other work may take a slot in between";
  if (!around)
    return [
      `${what}, and ${risk}. Run the commands at the same moment${isAllCommands ? "" : ", after the waits"}.`,
    ];
  return [
    `${what}, and ${risk}. To prevent that, begin and end with these two:`,
    `    ${sayRemedy(around.before, options)}`,
    `    ${sayRemedy(around.after, options)}`,
  ];
}
