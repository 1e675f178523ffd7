/**
 * Listings of gates leave out idle values: a family such as one gate per tenant may have thousands, and each
 * would repeat the limit of the family.
 */
import type { Command } from "commander";
import { count } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { toPaste } from "./settings.ts";

export type ListOptions = GlobalOptions & { readonly all?: boolean };

export const withFilter = (command: Command, example: string): Command =>
  command
    .argument("[prefix]", `only those whose names begin like this: ${example}`)
    .option("--all", "also those that are idle and have no limit of their own");

interface Listed<T> {
  readonly shown: T[];
  readonly idle: number;
}

export function listed<T>(
  all: readonly T[],
  { all: isAll }: ListOptions,
  isMeant: (each: T) => boolean,
  isIdle: (each: T) => boolean,
): Listed<T> {
  const meant = all.filter(isMeant);
  const shown = isAll ? meant : meant.filter((each) => !isIdle(each));
  return { shown, idle: meant.length - shown.length };
}

export const leftOut = (idle: number, what: string, options: GlobalOptions, command: string): string =>
  idle === 0
    ? ""
    : `\n${count(idle, what)} left out: idle, with only the limit per value. To see all: ${toPaste(options, `${command} --all`)}`;
