/** All types of triggers in one place, and the rule for their ownership. */
import { SluiceError } from "../core/error.ts";

export type { NewTrigger } from "./ports/declarations.ts";
export type * from "./ports/triggers.ts";

/** A trigger's name belongs to the app that declared it first. */
export function triggerTaken(name: string, owner: string, app: string): SluiceError {
  return new SluiceError(
    "TRIGGER_TAKEN",
    `The ${name} belongs to app "${owner}" in this store, so app "${app}" cannot declare one with that name. Give it another id, or deploy "${owner}" without it first.`,
  );
}
