/**
 * Values as JSON, without silent loss. A value that JSON would drop or change is refused, with the path to
 * it.
 *
 * As in JSON, `undefined` in an object is left out, -0 becomes 0, and a Date and anything else with a
 * `toJSON` becomes what that returns.
 */
import { SluiceError } from "./error.ts";

/** The JSON text of a value, or undefined for undefined. `root` is the value's name: `input`, `result`. */
export function jsonText(value: unknown, root: string): string | undefined {
  if (value === undefined) return undefined;
  try {
    // The walk comes first because it names the place. JSON.stringify does not.
    if (typeof value === "object" && value !== null) walk(value, new Path(root), 0);
    else mustBeKept(value, root);
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw notJson(`${root}: ${error instanceof RangeError ? "is nested too deeply" : String(error)}`, error);
  }
}

const notJson = (message: string, cause?: unknown): SluiceError =>
  new SluiceError("NOT_JSON", message, cause === undefined ? {} : { cause });

/** The current path. It becomes text only when there is a problem. */
class Path {
  readonly #root: string;
  readonly keys: (string | number)[] = [];
  /** The objects above. If one occurs again, the value contains itself. */
  readonly above: object[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  toString(): string {
    const step = (key: string | number): string => {
      if (typeof key === "number") return `[${key}]`;
      return /^[A-Za-z_$][\w$]{0,60}$/.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 60))}]`;
    };
    return this.#root + this.keys.map(step).join("");
  }
}

/** A value is checked for containing itself only below this depth, because most values are flat. */
const DEEP = 16;

function walk(value: object, path: Path, depth: number): void {
  if (depth > DEEP) refuseCircle(value, path);
  const shown = asJson(value, path);
  if (typeof shown !== "object" || shown === null) {
    mustBeKept(shown, path);
    return;
  }
  if (depth > DEEP) path.above.push(value);
  if (Array.isArray(shown)) walkList(shown, path, depth);
  else walkRecord(shown as Record<string, unknown>, path, depth);
  if (depth > DEEP) path.above.pop();
}

function walkList(list: readonly unknown[], path: Path, depth: number): void {
  const at = path.keys.length;
  for (let index = 0; index < list.length; index += 1) {
    const each = list[index];
    if (isKept(each)) continue;
    path.keys[at] = index;
    if (typeof each === "object") walk(each as object, path, depth + 1);
    else mustBeKept(each, path);
  }
  path.keys.length = at;
}

function walkRecord(record: Readonly<Record<string, unknown>>, path: Path, depth: number): void {
  const at = path.keys.length;
  for (const key of Object.keys(record)) {
    const each = record[key];
    if (isKept(each) || each === undefined) continue;
    path.keys[at] = key;
    if (typeof each === "object") walk(each as object, path, depth + 1);
    else mustBeKept(each, path);
  }
  path.keys.length = at;
}

/** True for values that are not objects and that JSON does not change. */
const isKept = (value: unknown): boolean =>
  typeof value === "string" ||
  (typeof value === "number" && Number.isFinite(value)) ||
  typeof value === "boolean" ||
  value === null;

function mustBeKept(value: unknown, path: Path | string): void {
  if (!isKept(value)) throw notJson(`${path}: ${nameOf(value)} cannot be stored as JSON`);
}

function nameOf(value: unknown): string {
  if (typeof value === "bigint") return "a BigInt";
  if (typeof value === "function") return "a function";
  if (typeof value === "symbol") return "a symbol";
  return String(value);
}

/** The value that JSON would write for an object: itself, or the result of its `toJSON`. */
function asJson(value: object, path: Path): unknown {
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === Object.prototype || prototype === Array.prototype || prototype === null) {
    const { toJSON } = value as { toJSON?: unknown };
    return typeof toJSON === "function" ? toJSON.call(value, lastKey(path)) : value;
  }
  const lost = lostContent(value);
  if (lost) throw notJson(`${path}: ${lost} cannot be stored as JSON`);
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return toJSON.call(value, lastKey(path));
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
  return value;
}

const lastKey = (path: Path): string => String(path.keys.at(-1) ?? "");

/**
 * Objects whose content is not in their properties, so that only `{}` would be left. They are recognized by
 * their tag, because they may come from another realm.
 */
function lostContent(value: object): string | undefined {
  if (ArrayBuffer.isView(value)) return "binary data";
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  if (tag === "Date") return Number.isNaN((value as Date).getTime()) ? "an invalid Date" : undefined;
  if (tag === "ArrayBuffer" || tag === "SharedArrayBuffer" || tag === "DataView") return "binary data";
  return tag in LOST ? LOST[tag] : undefined;
}

const LOST: Readonly<Record<string, string>> = {
  Map: "a Map",
  Set: "a Set",
  WeakMap: "a WeakMap",
  WeakSet: "a WeakSet",
  WeakRef: "a WeakRef",
  RegExp: "a RegExp",
  Promise: "a Promise",
  Error: "an Error",
  Generator: "a Generator",
};

function refuseCircle(value: object, path: Path): void {
  if (path.above.includes(value)) throw notJson(`${path}: contains itself, which cannot be stored as JSON`);
}
