/** Finds the ID of a task or a run from any unambiguous prefix. */
import type { Sluice } from "../../api/sluice.ts";
import { SluiceError } from "../../core/error.ts";
import type { GlobalOptions } from "./settings.ts";
import { toPaste } from "./settings.ts";

type Kind = "task" | "run";

interface Found {
  readonly id: string;
  readonly kind: Kind;
}

export async function findTask(sluice: Sluice, given: string, options: GlobalOptions): Promise<string> {
  return (await find(sluice, given, options, ["task"])).id;
}

export async function findRun(sluice: Sluice, given: string, options: GlobalOptions): Promise<string> {
  return (await find(sluice, given, options, ["run"])).id;
}

export function findEither(sluice: Sluice, given: string, options: GlobalOptions): Promise<Found> {
  return find(sluice, given, options, ["task", "run"]);
}

/** The task or the run that a step is. A step without one is explained with its run. */
export async function findBelow(sluice: Sluice, top: string, path: string): Promise<Found> {
  const { run, unit } = await sluice.runs.find(top, path);
  return unit === null ? { id: run, kind: "run" } : known(sluice, unit);
}

async function find(
  sluice: Sluice,
  given: string,
  options: GlobalOptions,
  wanted: readonly Kind[],
): Promise<Found> {
  const begins = given === "" ? [] : await sluice.find(given);
  const ids = begins[0] === given ? [given] : begins;
  const found = await Promise.all(ids.map((id) => known(sluice, id)));
  const fitting = found.filter(({ kind }) => wanted.includes(kind));
  const [first, second] = fitting;
  // A truncated list may hide more IDs that fit.
  const isAll = ids.length < MOST_LISTED;
  if (first && !second && isAll) return first;
  if (first || !isAll) throw ambiguous(given, wanted, first ? fitting : found);
  throw unknown(given, wanted, found, options);
}

async function known(sluice: Sluice, id: string): Promise<Found> {
  return { id, kind: (await sluice.runs.get(id)) ? "run" : "task" };
}

function unknown(
  given: string,
  wanted: readonly Kind[],
  [other, another]: readonly Found[],
  options: GlobalOptions,
): SluiceError {
  if (other && !another)
    return new SluiceError(
      "UNKNOWN_ID",
      `${other.id} is a ${other.kind}, not a ${wanted[0]}. See: ${toPaste(options, `${other.kind}s show ${other.id}`)}`,
    );
  const list = toPaste(options, `${wanted[0]}s list`);
  return new SluiceError(
    "UNKNOWN_ID",
    `There is no ${wanted.join(" or ")} ${given} in this store. See: ${list}`,
  );
}

function ambiguous(given: string, wanted: readonly Kind[], found: readonly Found[]): SluiceError {
  const ids = found.map(({ id }) => id);
  const kinds = wanted.filter((kind) => found.some((each) => each.kind === kind));
  const listed = found.map(({ id, kind }) => `  ${id}${kinds.length > 1 ? `  ${kind}` : ""}`).join("\n");
  const more = found.length >= MOST_LISTED ? "\n  …" : "";
  return new SluiceError(
    "AMBIGUOUS_ID",
    `More than one ${(kinds.length > 0 ? kinds : wanted).join(" or ")} starts with ${given}; type more of it:\n${listed}${more}`,
    { details: { ids } },
  );
}

/** The store returns at most this many IDs. */
const MOST_LISTED = 10;
