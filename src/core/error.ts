/**
 * What can go wrong: a stable code for programs, a sentence for people, and remedies as data. The message is the sentence
 * with each remedy as a call; a surface takes the sentence and says the remedies its own way.
 */
import type { ErrorCode } from "./error-code.ts";
import type { Remedy } from "./remedy.ts";
import { callOf, withRemedies } from "./remedy.ts";

interface ErrorDetails {
  /** What would help, the likeliest first. */
  readonly remedies?: readonly Remedy[];
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export class SluiceError extends Error {
  /** Stable, UPPER_SNAKE; a program may branch on it, never on the message. */
  readonly code: ErrorCode;
  /** What was expected and what came, without the remedies. */
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

/** The store that was opened is not there any more and will not come back: nothing is gained by asking again. */
export const isStoreGone = (error: unknown): boolean =>
  error instanceof SluiceError && error.code === "STORE_GONE";

/** An error may quote what it refuses, and that may be of any length. */
const LONGEST_MESSAGE = 2_000;
/** A list of problems, each of them short. */
const CONFIG = "BAD_CONFIG";

const bounded = (message: string): string =>
  message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message;

/** One thing that is wrong with a configuration: where, which rule it breaks, and what would cure it. */
export interface Problem {
  readonly field: string;
  readonly rule: string;
  readonly cure: string;
}

/** Everything that is wrong with a configuration, all at once, so that it is mended in one go. */
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

/** Names are part of these, and a wrong one may be of any length. */
const short = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)}…` : text);
