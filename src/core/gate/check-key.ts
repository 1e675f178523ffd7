/** Checks the key of a gate: a kind alone, like "cluster", or a kind and a name. Neither may be empty. */
import { SluiceError } from "../error.ts";
import { checkText, shortly } from "../text.ts";
import { parseKey } from "./key.ts";

export function checkKey(key: unknown): void {
  checkText("The key of a gate", key);
  const { kind, name, value } = parseKey(key as string);
  const endsEarly = (name.trim() === "" && (key as string).includes(":")) || value === "";
  if (kind === "" || endsEarly) throw noKey(key);
}

/** True if a unit could ask for this key, or an operator set its limit. */
export function isKey(key: string): boolean {
  try {
    checkKey(key);
    return true;
  } catch {
    return false;
  }
}

export const noKey = (key: unknown): SluiceError =>
  new SluiceError("BAD_GATE", `${shortly(key)} cannot be a gate: it is a kind and a name, like pool:gpu.`);
