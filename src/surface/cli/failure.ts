/** How every failure ends: one sentence on stderr, a code that scripts can trust, a stack only when asked for. */
import { CommanderError } from "commander";
import type { SluiceError } from "../../core/error.ts";
import { safeLines } from "./text.ts";

/** Something the person at the keyboard wrote wrongly. */
export class UsageError extends Error {}

/** How a command is written so that it can be pasted. */
type Paste = (command: string) => string;

/** Writes what went wrong to stderr and returns the exit code. */
export function reportError(error: unknown, paste: Paste = (command) => command): number {
  if (error instanceof CommanderError) return reportUsage(error);
  if (error instanceof UsageError) return say("USAGE", error.message, error, 2);
  // Not instanceof: the app may have loaded another copy of the package than ours.
  const { code, message, name } = error as Partial<SluiceError>;
  const known = name === "SluiceError" || name === "ConfigError";
  const sentence = pasteable(message || String(code ?? error), paste);
  return say(known && code ? code : "UNEXPECTED", sentence, error, 1);
}

/** Up to the comma or the full stop behind it; what is quoted may hold both. */
const COMMAND = /: (sluice [a-z](?:'[^'\n]*'|[^,\n'])*?)(?=,|\.?$|\. )/gm;

/** The rooms below speak of `sluice limits list`; here it is known how that is called, and for which store. */
function pasteable(message: string, paste: Paste): string {
  return message.replace(COMMAND, (_, command) => `: ${paste(command)}`);
}

function reportUsage(error: CommanderError): number {
  // Help and version have been printed already; a group without a command has printed its help.
  if (error.exitCode === 0) return 0;
  if (error.code === "commander.help") return 2;
  return say("USAGE", `${error.message.replace(/^error: /, "")}\nSee: sluice --help`, error, 2);
}

function say(code: string, message: string, error: unknown, exitCode: number): number {
  process.stderr.write(`error ${code}: ${safeLines(message)}\n`);
  if (process.env.SLUICE_DEBUG) process.stderr.write(`${stackOf(error)}\n`);
  return exitCode;
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\ncaused by ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}

/** Ends the process once everything it has printed is out. */
export function endWith(exitCode: number): void {
  process.stdout.write("", () => process.exit(exitCode));
}
