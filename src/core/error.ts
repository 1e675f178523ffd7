/**
 * An error has a stable code for programs, a sentence for people, and remedies as data. The message is the
 * sentence with each remedy written as a call. A surface takes the sentence and writes the remedies its own
 * way.
 */
import type { ErrorCode } from "./error-code.ts";
import type { Remedy } from "./remedy.ts";
import { callOf, withRemedies } from "./remedy.ts";

interface ErrorDetails {
  /** The remedies, the most likely first. */
  readonly remedies?: readonly Remedy[];
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export class SluiceError extends Error {
  /** Stable, UPPER_SNAKE. A program may branch on it, never on the message. */
  readonly code: ErrorCode;
  /** Says what was expected and what came instead, without the remedies. */
  readonly sentence: string;
  readonly remedies: readonly Remedy[];
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, text: string, options: ErrorDetails = {}) {
    const sentence = code === CONFIG ? text : bounded(text);
    const { remedies = [] } = options;
    super(
      withRemedies(sentence, remedies, callOf),
      "cause" in options ? { cause: options.cause } : undefined,
    );
    this.name = "SluiceError";
    this.code = code;
    this.sentence = sentence;
    this.remedies = remedies;
    this.details = options.details ?? {};
  }
}

/** True if the opened store no longer exists and will not come back, so a retry is pointless. */
export const isStoreGone = (error: unknown): boolean =>
  error instanceof SluiceError && error.code === "STORE_GONE";

/** An error may quote a refused value, which may have any length. */
const LONGEST_MESSAGE = 2_000;
/** Exempt from the bound: its message is a list of problems, each of them short. */
const CONFIG = "BAD_CONFIG";

const bounded = (message: string): string =>
  message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message;

/** One problem in a configuration: where it is, which rule it breaks, and how to cure it. */
export interface Problem {
  readonly field: string;
  readonly rule: string;
  readonly cure: string;
}

/** All problems of a configuration at once, so that they can be fixed in one go. */
export class ConfigError extends SluiceError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options: Pick<ErrorDetails, "cause"> = {}) {
    super(CONFIG, messageOf(problems), { ...options, details: { problems } });
    this.name = "ConfigError";
    this.problems = problems;
  }
}

function messageOf(problems: readonly Problem[]): string {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const lines = problems.map(({ field, rule, cure }) => `  ${short(field)}: ${short(rule)}. ${short(cure)}.`);
  return [`this app cannot start, ${count}:`, ...lines].join("\n");
}

/** Problems contain names, and a wrong name may have any length. */
const short = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)}…` : text);
