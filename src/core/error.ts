/**
 * What can go wrong, with a stable code for programs and a sentence for people: what was expected, what came,
 * and what to do.
 */
export interface ErrorDetails {
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export class SluiceError extends Error {
  /** Stable, UPPER_SNAKE; a program may branch on it, never on the message. */
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, options: ErrorDetails = {}) {
    super(
      code === CONFIG ? message : bounded(message),
      "cause" in options ? { cause: options.cause } : undefined,
    );
    this.name = "SluiceError";
    this.code = code;
    this.details = options.details ?? {};
  }
}

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
