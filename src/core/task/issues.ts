/** What a schema found wrong, in words. */
import type { StandardSchemaV1 } from "@standard-schema/spec";

/** "to.name: must be a string". An issue of the whole value is said of the input. */
export const sayIssues = (issues: readonly StandardSchemaV1.Issue[]): string[] =>
  issues.map(({ path, message }) => `${(path ?? []).map(stepOf).join(".") || "input"}: ${message}`);

const stepOf = (step: unknown): string =>
  String(typeof step === "object" && step !== null && "key" in step ? step.key : step);
