/** How a unit ended: with its result, or with an error that has a name and a message. */
import { endError } from "../core/task/end-error.ts";
import type { StoredError } from "../executor/executor.ts";
import { readable } from "./readable.ts";

interface End<Output> {
  readonly result?: Output;
  readonly error?: StoredError;
}

const ENDED_BADLY: ReadonlySet<string> = new Set(["failed", "cancelled", "expired", "quarantined"]);

export function endOf<Output>(state: string, text: string | null): End<Output> {
  const body = text === null ? undefined : readable(text);
  if (state === "succeeded") return { result: body as Output };
  return ENDED_BADLY.has(state) ? { error: endError(state, body) } : {};
}
