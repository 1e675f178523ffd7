/**
 * Every failure ends the same way: one sentence on stderr, a stable exit code, and a stack only on request.
 */
import { CommanderError } from "commander";
import type { SluiceError } from "../../core/error.ts";
import { sayError } from "./remedy.ts";
import type { GlobalOptions } from "./settings.ts";
import { safeLines } from "./text.ts";
import { UsageError } from "./usage-error.ts";

/** Writes the error to stderr and returns the exit code. */
export function reportError(error: unknown, options: GlobalOptions = {}): number {
  if (error instanceof CommanderError) return reportUsage(error);
  if (error instanceof UsageError) return say("USAGE", error.message, error, 2);
  // Not instanceof: the app may have loaded another copy of this package.
  const { code, name } = error as Partial<SluiceError>;
  const known = name === "SluiceError" || name === "ConfigError";
  return say(known && code ? code : "UNEXPECTED", sayError(error, options), error, 1);
}

function reportUsage(error: CommanderError): number {
  // Help and version have already been printed. A group without a command has printed its help.
  if (error.exitCode === 0) return 0;
  if (error.code === "commander.help") return 2;
  const text = error.message.startsWith(PREFIX) ? error.message.slice(PREFIX.length) : error.message;
  return say("USAGE", `${text}\nSee: sluice --help`, error, 2);
}

/** Commander's messages begin with it. It is removed, because our output begins with "error" too. */
const PREFIX = "error: ";

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

/** Ends the process once all of its output is written. */
export function endWith(exitCode: number): void {
  process.stdout.write("", () => process.exit(exitCode));
}
