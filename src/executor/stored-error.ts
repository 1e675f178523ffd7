/** An error as it is kept: texts only, whatever was thrown. */
import type { StoredError } from "./executor.ts";

export function storedError(error: unknown): StoredError {
  if (!(error instanceof Error)) return { name: "Error", message: textOf(error) };
  const code = (error as { code?: unknown }).code;
  return {
    name: error.name,
    message: error.message,
    ...(typeof code === "string" ? { code } : {}),
    ...(error.stack ? { stack: error.stack } : {}),
  };
}

/** Anything can be thrown, even what has no text. */
function textOf(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return "Something without a text was thrown.";
  }
}
