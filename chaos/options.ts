import { parseArgs } from "node:util";
import type { StoreName } from "./place/place.ts";

export interface Options {
  readonly stores: readonly StoreName[];
  readonly seed: number;
  readonly kills: number;
  readonly pauses: number;
  readonly restarts: number;
  readonly cuts: number;
  readonly terms: number;
  readonly cancels: number;
  readonly outageMs: number;
  /** The most tasks to enqueue. */
  readonly tasks: number;
  /** How many tasks kill their own process. */
  readonly poison: number;
  readonly workers: number;
  /** How many stores are tested at the same time. */
  readonly atOnce: number;
  readonly mutants: boolean;
  /** Selects the mutants with this text in their name. */
  readonly only: string | undefined;
  /** The command that repeats this run. */
  readonly again: string;
}

const STORES = ["postgres", "installed", "mariadb", "sqlite"] as const;

/** For CI: every lane, but less of each. Most of a storm's time goes into starting processes. */
const SHORT = {
  kills: 8,
  pauses: 4,
  restarts: 1,
  cuts: 8,
  terms: 3,
  cancels: 4,
  poison: 1,
  outage: 4,
  workers: 4,
  atOnce: 2,
};
const WHOLE = {
  kills: 200,
  pauses: 30,
  restarts: 3,
  cuts: 50,
  terms: 30,
  cancels: 60,
  poison: 3,
  outage: 120,
  workers: 5,
  atOnce: 1,
};

const USAGE = `npm run chaos -- [--store postgres|installed|mariadb|sqlite|all] [--seed N] [--kills 200] [--pauses 30] [--restarts 3]
                 [--cuts 50] [--terms 30] [--cancels 60] [--outage SECONDS] [--tasks N] [--at-once 1] [--short] [--mutants [--only NAME]]`;

export function optionsOf(args: readonly string[]): Options {
  const number = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: "string", default: "all" },
      seed: number,
      kills: number,
      pauses: number,
      restarts: number,
      cuts: number,
      terms: number,
      cancels: number,
      outage: number,
      tasks: number,
      "at-once": number,
      short: flag,
      mutants: flag,
      only: { type: "string" },
    },
  });
  const measure = values.short ? SHORT : WHOLE;
  const seed = whole("seed", values.seed, Math.floor(Math.random() * 2 ** 31));
  const stores = STORES.filter((store) => values.store === "all" || values.store === store);
  if (stores.length === 0) throw new Error(`--store ${values.store}: there is no such store\n${USAGE}`);
  const said = args.filter(
    (_, index) =>
      args[index] !== "--seed" && args[index - 1] !== "--seed" && !args[index]?.startsWith("--seed="),
  );
  return {
    stores,
    seed,
    kills: whole("kills", values.kills, measure.kills),
    pauses: whole("pauses", values.pauses, measure.pauses),
    restarts: whole("restarts", values.restarts, measure.restarts),
    cuts: whole("cuts", values.cuts, measure.cuts),
    terms: whole("terms", values.terms, measure.terms),
    cancels: whole("cancels", values.cancels, measure.cancels),
    outageMs: 1_000 * whole("outage", values.outage, measure.outage),
    tasks: whole("tasks", values.tasks, 1_000_000),
    poison: measure.poison,
    workers: measure.workers,
    atOnce: whole("at-once", values["at-once"], measure.atOnce),
    mutants: values.mutants,
    only: values.only,
    again: ["npm run chaos --", ...said.map(quoted), `--seed ${seed}`].join(" "),
  };
}

const quoted = (word: string): string => (/^[\w=,./:-]+$/.test(word) ? word : `'${word}'`);

function whole(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Error(`--${name} must be a whole number, but is ${text}\n${USAGE}`);
  return value;
}
