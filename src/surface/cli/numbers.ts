/**
 * Arguments that are numbers, times or lists. Invalid ones are refused as wrong usage before anything is
 * opened.
 */
import { InvalidArgumentError } from "commander";
import { UsageError } from "./usage-error.ts";

export function wholeNumber(text: string): number {
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(Number(text)))
    throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

export function atLeastOne(text: string): number {
  const value = wholeNumber(text);
  if (value < 1) throw new InvalidArgumentError("It must be 1 or more.");
  return value;
}

export function zeroOrMore(text: string): number {
  const value = wholeNumber(text);
  if (value < 0) throw new InvalidArgumentError("It must be 0 or more.");
  return value;
}

/** A limit may be a number, or a word for -1. */
export function limitNumber(text: string): number {
  if (text === "unlimited" || text === "∞") return -1;
  const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < -1)
    throw new InvalidArgumentError("It must be 1 or more, 0 to pause, or -1 (unlimited).");
  return value;
}

function list(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** Requires at least one name. An empty option is a mistake, such as an unset variable. */
export function names(text: string): string[] {
  const all = list(text);
  if (all.length === 0)
    throw new InvalidArgumentError("It is empty. Name at least one, or leave the option out.");
  return all;
}

export function timeOf(option: string, text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new UsageError(`${option} "${text}" is not a time. Write it like 2026-11-16T03:00:00Z`);
  return time;
}

/** For an option that may be given several times, like "env=prod". A key without a value is refused. */
export function tag(
  text: string,
  others: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const equals = text.indexOf("=");
  if (equals < 1 || equals === text.length - 1)
    throw new InvalidArgumentError("It must be a key and a value, like env=prod.");
  return { ...others, [text.slice(0, equals)]: text.slice(equals + 1) };
}
