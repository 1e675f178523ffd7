/**
 * An error as it is stored: strings only, whatever was thrown. Code can throw anything: a string, undefined,
 * an object whose getters throw. The cause of an error is stored with it.
 */
import { readableJson } from "../core/readable.ts";
import type { StoredError } from "./executor.ts";

const DEEPEST = 4;
const MOST_ERRORS = 10;
/** Nobody reads further than this, and every attempt stores its own error. */
const LONGEST = 20_000;

export function storedError(thrown: unknown): StoredError {
  return stored(thrown, 0);
}

function stored(thrown: unknown, depth: number): StoredError {
  if (typeof thrown === "string") return { name: "Error", message: cut(thrown) };
  if (typeof thrown !== "object" || thrown === null)
    return { name: "Error", message: `${saidOf(thrown)} was thrown` };
  const name = textOf(thrown, "name");
  const message = textOf(thrown, "message");
  const code = textOf(thrown, "code");
  const stack = textOf(thrown, "stack");
  if (message === undefined)
    return { name: name ?? "Error", message: cut(readableJson(thrown)), ...(code ? { code } : {}) };
  return {
    name: name ?? "Error",
    message: cut(message),
    ...(code === undefined ? {} : { code }),
    ...(stack ? { stack: cut(stack) } : {}),
    ...(depth < DEEPEST ? ledBy(thrown, depth) : {}),
  };
}

/** Its cause, and the errors of an AggregateError. */
function ledBy(thrown: object, depth: number): Pick<StoredError, "cause" | "errors"> {
  const cause = partOf(thrown, "cause");
  const errors = partOf(thrown, "errors");
  return {
    ...(cause === undefined ? {} : { cause: stored(cause, depth + 1) }),
    ...(Array.isArray(errors) && errors.length > 0
      ? { errors: errors.slice(0, MOST_ERRORS).map((each) => stored(each, depth + 1)) }
      : {}),
  };
}

/** Code can throw anything, also null, and an object whose getters throw. */
export function partOf(thrown: unknown, part: string): unknown {
  try {
    return (thrown as Record<string, unknown> | null)?.[part];
  } catch {
    return undefined;
  }
}

function textOf(thrown: object, part: string): string | undefined {
  const text = partOf(thrown, part);
  return typeof text === "string" ? text : undefined;
}

const saidOf = (thrown: unknown): string => (typeof thrown === "function" ? "a function" : String(thrown));

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
