/** The answer to a call of a child's code. An error keeps its code, its remedies and its details. */
import { SluiceError } from "../../core/error.ts";
import { isErrorCode } from "../../core/error-code.ts";
import type { Remedy } from "../../core/remedy.ts";
import type { StoredError } from "../executor.ts";
import { storedError } from "../stored-error.ts";

export type CallAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: StoredError; readonly ours?: OurError };

/** What a SluiceError has beyond its message. */
interface OurError {
  readonly sentence: string;
  readonly remedies: readonly Remedy[];
  readonly details: Readonly<Record<string, unknown>>;
}

export async function answerTo(call: () => Promise<unknown>): Promise<CallAnswer> {
  try {
    return { ok: true, value: await call() };
  } catch (thrown) {
    const error = storedError(thrown);
    if (!(thrown instanceof SluiceError)) return { ok: false, error };
    const { sentence, remedies, details } = thrown;
    return { ok: false, error, ours: { sentence, remedies, details } };
  }
}

export function answered(answer: CallAnswer): unknown {
  if (answer.ok) return answer.value;
  const { error, ours } = answer;
  const { code, name, message } = error;
  if (ours && code !== undefined && isErrorCode(code)) throw new SluiceError(code, ours.sentence, ours);
  throw Object.assign(new Error(message), code === undefined ? { name } : { name, code });
}
