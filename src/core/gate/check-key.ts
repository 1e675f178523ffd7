/** What the key of a gate must be, whoever names it: a kind alone, as "cluster", or a kind and a name, neither of them empty. */
import { SluiceError } from "../error.ts";
import { checkText, shortly } from "../text.ts";
import { parseKey } from "./key.ts";

export function checkKey(key: unknown): void {
  checkText("The key of a gate", key);
  const { kind, name, value } = parseKey(key as string);
  const endsEarly = (name.trim() === "" && (key as string).includes(":")) || value === "";
  if (kind === "" || endsEarly) throw noKey(key);
}

/** Whether anybody could ask for it, or set its limit. */
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
