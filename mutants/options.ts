import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";

export interface Options {
  /** Selects the defects with one of these words in their id, list, file or test. */
  readonly words: readonly string[];
  /** Print the defects and plant nothing. */
  readonly list: boolean;
  readonly jobs: number;
}

const USAGE = "npm run mutants -- [--list] [--jobs N] [WORD …]";

export function optionsOf(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { list: { type: "boolean", default: false }, jobs: { type: "string" } },
  });
  const jobs = Number(values.jobs ?? Math.min(4, availableParallelism()));
  if (!Number.isSafeInteger(jobs) || jobs < 1)
    throw new Error(`--jobs must be a whole number from 1 on, but is ${values.jobs}\n${USAGE}`);
  return { words: positionals, list: values.list, jobs };
}
