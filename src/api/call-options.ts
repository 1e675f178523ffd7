/**
 * The options of a call. Callers may not be type-checked, and a misspelt option would silently do nothing, so
 * unknown options are refused. The compiler keeps these lists complete.
 */
import { didYouMean } from "../core/app/near.ts";
import { SluiceError } from "../core/error.ts";
import { shortly } from "../core/text.ts";
import type { SubmitOptions } from "./new-run.ts";
import type { EnqueueOptions } from "./new-task.ts";

type Known<Of> = Readonly<Record<keyof Of, true>>;

export type Within = { readonly within?: unknown };

export const WITHIN: Known<Within> = { within: true };

const OF_TASK: Known<EnqueueOptions> = {
  queue: true,
  priority: true,
  delay: true,
  runAt: true,
  goodUntil: true,
  idempotencyKey: true,
};

export const OF_ENQUEUE: Known<EnqueueOptions & Within> = { ...OF_TASK, ...WITHIN };

/** One call of many has no `within` of its own: all of them share one transaction. */
export const OF_ENQUEUING: Known<EnqueueOptions> = OF_TASK;

export const OF_EXECUTE: Known<Omit<SubmitOptions, "delay" | "runAt">> = {
  priority: true,
  tags: true,
  idempotencyKey: true,
  source: true,
};

export const OF_SUBMIT: Known<SubmitOptions & Within> = {
  ...OF_EXECUTE,
  ...WITHIN,
  delay: true,
  runAt: true,
};

/** Returns the options, or throws if one is unknown. `whose` begins the message: `task "mail"`. */
export function knownOptions<Of extends object>(whose: string, options: Of, fields: Known<Required<Of>>): Of {
  if (typeof options !== "object" || options === null || Array.isArray(options))
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
