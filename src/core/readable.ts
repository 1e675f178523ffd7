/**
 * Turns any value into JSON that a person can read, for values that are only looked at: logs, progress and
 * thrown values. It never fails. Values that JSON cannot express are described in words.
 */
import { jsonText } from "./json.ts";

/** Returns valid JSON values unchanged. In others, every part that is not JSON becomes a text. */
export function readableJson(value: unknown): string {
  try {
    return jsonText(value, "") ?? "null";
  } catch {
    return JSON.stringify(told(value, [])) ?? "null";
  }
}

const DEEPEST = 8;
const MOST_PARTS = 1_000;

function told(value: unknown, above: readonly object[]): unknown {
  if (typeof value === "object" && value !== null) return toldObject(value, above);
  if (typeof value === "function") return value.name ? `[function ${value.name}]` : "[function]";
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (typeof value === "symbol") return value.toString();
  return value === undefined ? "undefined" : value;
}

function toldObject(value: object, above: readonly object[]): unknown {
  if (above.includes(value)) return "[circular]";
  if (above.length >= DEEPEST) return "[…]";
  const path = [...above, value];
  try {
    return parts(value, path);
  } catch (error) {
    // A getter, a toJSON or a proxy threw.
    return `[could not be read: ${messageOf(error)}]`;
  }
}

function parts(value: object, path: readonly object[]): unknown {
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (ArrayBuffer.isView(value)) return `[binary data, ${value.byteLength} bytes]`;
  if (value instanceof Map) return { Map: firstOf([...value]).map((pair) => told(pair, path)) };
  if (value instanceof Set) return { Set: firstOf([...value]).map((each) => told(each, path)) };
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return told(toJSON.call(value, ""), path);
  if (Array.isArray(value)) return firstOf(value).map((each) => told(each, path));
  const known = firstOf(Object.keys(value)).filter((key) => (value as never)[key] !== undefined);
  return Object.fromEntries(known.map((key) => [key, told((value as never)[key], path)]));
}

const firstOf = <T>(list: readonly T[]): T[] => Array.from(list.slice(0, MOST_PARTS));

function messageOf(error: unknown): string {
  return error instanceof Error && typeof error.message === "string" ? error.message : "something was thrown";
}
