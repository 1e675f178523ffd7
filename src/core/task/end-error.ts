/**
 * The error of a unit that did not succeed. A unit that failed by itself has stored an error. A unit that was
 * ended from outside has stored only who ended it, or nothing. The result always has a name and a message,
 * however the unit ended.
 */
interface EndError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  /**
   * An operator, "run" if its run cancelled it, "onFailure" if another item of its list failed, or "failFast" if a step
   * of its run failed.
   */
  readonly by?: string;
  /** For "failFast": the step that failed. */
  readonly step?: string;
}

export function endError(state: string, body: unknown): EndError {
  const stored = typeof body === "object" && body !== null ? (body as Partial<EndError>) : {};
  if (typeof stored.message === "string")
    return { ...stored, name: stored.name ?? "Error", message: stored.message };
  if (state === "cancelled") return cancelled(stored);
  if (state === "expired")
    return { name: "Error", code: "EXPIRED", message: "Its deadline passed before it could start." };
  return { name: "Error", message: typeof body === "string" ? body : `It ended as ${state}.` };
}

function cancelled({ by, step }: { readonly by?: unknown; readonly step?: unknown }): EndError {
  const error = { name: "Error", code: "CANCELLED", message: sayCancelled(by, step) };
  if (typeof by !== "string") return error;
  return { ...error, by, ...(typeof step === "string" ? { step } : {}) };
}

function sayCancelled(by: unknown, step: unknown): string {
  if (by === "onFailure") return "It was cancelled because another item failed.";
  if (by === "failFast" && typeof step === "string") return `It did not start because step ${step} failed.`;
  if (by === "run") return "It was cancelled with its run.";
  return typeof by === "string" ? `It was cancelled by ${by}.` : "It was cancelled.";
}
