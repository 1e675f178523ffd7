import { parseArgs } from "node:util";

export interface Flags {
  /** Names of cases. Undefined for all of them. */
  readonly only: readonly string[] | undefined;
  readonly quick: boolean;
  /** False to measure Sluice alone. */
  readonly peers: boolean;
  readonly rounds: number;
  /** 1 is a full run. */
  readonly scale: number;
  readonly sustainedMs: number;
  readonly markdown: boolean;
  /** Print the results of the last such run instead of measuring. */
  readonly last: boolean;
}

const USAGE = `npm run bench -- [options]
  --quick           the rows that matter, in less than two minutes
  --only a,b        only these cases
  --no-peers        Sluice alone; installs nothing
  --rounds N        how often each case is measured; its figure is the median (default 3, with --quick 1)
  --scale F         how large the cases are (default 1, with --quick 0.2)
  --sustained 10m   how long the sustained run lasts (default 10m)
  --markdown        print the tables as Markdown, for docs/performance.md
  --last            print the results of the last run and measure nothing`;

/** Ends the process if the flags are wrong. */
export function readFlags(args: readonly string[]): Flags {
  try {
    return parsed(args);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

function parsed(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      quick: { type: "boolean", default: false },
      "no-peers": { type: "boolean", default: false },
      rounds: { type: "string" },
      scale: { type: "string" },
      sustained: { type: "string", default: "10m" },
      markdown: { type: "boolean", default: false },
      last: { type: "boolean", default: false },
    },
  });
  const { quick, markdown, last } = values;
  return {
    only: values.only?.split(",").map((name) => name.trim()),
    quick,
    peers: !values["no-peers"],
    rounds: positive("rounds", values.rounds ?? (quick ? "1" : "3")),
    scale: positive("scale", values.scale ?? (quick ? "0.2" : "1")),
    sustainedMs: milliseconds(values.sustained),
    markdown,
    last,
  };
}

function positive(flag: string, given: string): number {
  const value = Number(given);
  if (!(value > 0)) throw new Error(`--${flag} must be a number above 0, not "${given}"`);
  return value;
}

function milliseconds(given: string): number {
  const [, count, unit] = /^(\d+)(s|m)$/.exec(given) ?? [];
  if (count === undefined) throw new Error(`--sustained must be like 90s or 10m, not "${given}"`);
  return Number(count) * (unit === "m" ? 60_000 : 1_000);
}
