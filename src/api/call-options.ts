/**
 * The options of a call. Callers may not be type-checked, and a misspelt option would silently do nothing, so
 * unknown options are refused. The compiler keeps these lists complete.
 */
import { didYouMean } from "../core/app/near.ts";
import { SluiceError } from "../core/error.ts";
import type { EnqueueOptions } from "../core/task/enqueue-options.ts";
import { shortly } from "../core/text.ts";
import type { SubmitOptions } from "../core/workflow/submit-options.ts";
import type { StopOptions } from "../engine/service.ts";

export type OptionNames<Of> = Readonly<Record<keyof Of, true>>;

export type Within = { readonly within?: unknown };

export const WITHIN: OptionNames<Within> = { within: true };

const OF_TASK: OptionNames<EnqueueOptions> = {
  queue: true,
  priority: true,
  delay: true,
  runAt: true,
  goodUntil: true,
  idempotencyKey: true,
};

export const OF_ENQUEUE: OptionNames<EnqueueOptions & Within> = { ...OF_TASK, ...WITHIN };

/** One call of many has no `within` of its own: all of them share one transaction. */
export const OF_ENQUEUING: OptionNames<EnqueueOptions> = OF_TASK;

export const OF_EXECUTE: OptionNames<Omit<SubmitOptions, "delay" | "runAt">> = {
  priority: true,
  tags: true,
  namespace: true,
  idempotencyKey: true,
  source: true,
};

export const OF_SUBMIT: OptionNames<SubmitOptions & Within> = {
  ...OF_EXECUTE,
  ...WITHIN,
  delay: true,
  runAt: true,
};

/** A wait for an end. */
export interface WaitOptions {
  /** Ends the wait, and nothing else. */
  readonly signal?: AbortSignal;
}

const OF_WAIT: OptionNames<WaitOptions> = { signal: true };

export function signalOf(whose: string, options: WaitOptions): AbortSignal | undefined {
  const { signal } = knownOptions(whose, options, OF_WAIT);
  checkSignal(whose, signal);
  return signal;
}

/** A signal of another realm or a polyfill is a signal too. */
export function checkSignal(whose: string, signal: unknown): void {
  if (signal === undefined) return;
  if (typeof signal === "object" && signal !== null && "throwIfAborted" in signal) return;
  throw new SluiceError("BAD_OPTIONS", `${whose}: signal must be an AbortSignal, but is ${shortly(signal)}.`);
}

const OF_STOP: OptionNames<StopOptions> = { graceMs: true };

/** `whose` is "close" or "stop". */
export function stopOptions(whose: string, given: StopOptions): StopOptions {
  const { graceMs } = knownOptions(whose, given, OF_STOP);
  if (graceMs !== undefined && !(typeof graceMs === "number" && graceMs >= 0))
    throw new SluiceError(
      "BAD_OPTIONS",
      `${whose}: graceMs must be a number of milliseconds, 0 or more, but is ${shortly(graceMs)}.`,
    );
  return given;
}

/** `what` begins the message: "worker: queues". */
export function checkList(what: string, value: unknown): void {
  if (Array.isArray(value)) return;
  throw new SluiceError("BAD_OPTIONS", `${what} must be a list, but got ${shortly(value)}.`);
}

/** Refuses a value that is not one of a known set. `what` begins the message: "list: state". */
export function checkChoice(what: string, value: unknown, known: readonly string[]): void {
  if (value === undefined || known.some((each) => each === value)) return;
  throw new SluiceError(
    "BAD_OPTIONS",
    `${what} must be one of ${known.join(", ")}, but is ${shortly(value)}.${didYouMean(value, known)}`,
  );
}

/** Returns the options, or throws if one is unknown. `whose` begins the message: `task "mail"`. */
export function knownOptions<Of extends object>(
  whose: string,
  options: Of,
  fields: OptionNames<Required<Of>>,
): Of {
  if (!isOptions(options))
    throw new SluiceError(
      "BAD_OPTIONS",
      `${whose}: the options must be an object, but are ${shortly(options)}. Leave them out where there are none.`,
    );
  const names = Object.keys(fields);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name] of given)
    if (!names.includes(name))
      throw new SluiceError(
        "BAD_OPTIONS",
        `${whose}: ${shortly(name)} is not a known option.${didYouMean(name, names)} Known: ${names.join(", ")}.`,
      );
  return options;
}

/**
 * A signal, a URL, a store or a promise in the place of the options has no fields of its own. It would count as
 * options with nothing in them.
 */
function isOptions(given: unknown): boolean {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return false;
  return isPlain(given) || Object.keys(given).length > 0;
}

/** Also true for an object of another realm, such as a test runner's. */
function isPlain(given: object): boolean {
  const parent: unknown = Object.getPrototypeOf(given);
  return parent === null || Object.getPrototypeOf(parent) === null;
}
