/** The keys by which signals and waiting steps find each other. Equal fields and values have equal keys. */
import { createHash } from "node:crypto";
import { inByteOrder } from "../core/text.ts";
import type { Scalar } from "../core/workflow/event.ts";
import { isScalar } from "../core/workflow/event.ts";

type Field = readonly [name: string, value: Scalar];

const hashOf = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 22);

export const fieldKey = (field: Field): string => hashOf(field);

/** The fields must be sorted by their names. */
export const matchKey = (fields: readonly Field[]): string => hashOf(fields);

/** Stands for a list of fields that steps compare. */
export const fieldsKey = (names: readonly string[]): string => hashOf(names);

/** The top-level fields of a payload that steps can compare, sorted by name. */
export function fieldsOf(payload: string): Field[] {
  const value: unknown = JSON.parse(payload);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.entries(value)
    .flatMap(([name, each]): Field[] => (isScalar(each) ? [[name, each]] : []))
    .sort(([a], [b]) => inByteOrder(a, b));
}

/** The key by which steps that compare these fields find the payload. Undefined if it lacks one of them. */
export function keyFor(names: readonly string[], payload: ReadonlyMap<string, Scalar>): string | undefined {
  const fields = names.flatMap((name): Field[] => {
    const value = payload.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  return fields.length === names.length ? matchKey(fields) : undefined;
}
