/** A task's id from as much of it as tells it apart. */
import type { Sluice } from "../../api/sluice.ts";
import { SluiceError } from "../../core/error.ts";
import type { GlobalOptions } from "./settings.ts";
import { toPaste } from "./settings.ts";

export async function findTask(sluice: Sluice, given: string, options: GlobalOptions): Promise<string> {
  const found = given === "" ? [] : await sluice.store.find(given);
  const [first] = found;
  if (first !== undefined && (found.length === 1 || first === given)) return first;
  if (first === undefined)
    throw new SluiceError(
      "UNKNOWN_ID",
      `There is no task ${given} in this store. See: ${toPaste(options, "sluice tasks list")}`,
    );
  const ids = found.map((id) => `  ${id}`).join("\n");
  const more = found.length >= MOST_LISTED ? "\n  …" : "";
  const message = `More than one task begins with ${given}; write more of it:\n${ids}${more}`;
  throw new SluiceError("AMBIGUOUS_ID", message, { details: { ids: found } });
}

/** The store names no more than this. */
const MOST_LISTED = 10;
