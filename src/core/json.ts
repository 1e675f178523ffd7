/**
 * Values as JSON, and nothing lost without a word: what JSON would drop or turn into something else is refused, with the
 * path to it.
 *
 * As JSON does: `undefined` in an object is left out, -0 is 0, a Date is its text, and so is whatever has a `toJSON`.
 */
import { SluiceError } from "./error.ts";

/** The text of a value; undefined for nothing at all. `root` is how the value is called: `input`, `result`. */
export function jsonText(value: unknown, root: string): string | undefined {
  if (value === undefined) return undefined;
  try {
    // First the walk: it names the place, where JSON only says that there is one.
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

/** Where we are. Written down only when something is wrong. */
class Path {
  readonly #root: string;
  readonly keys: (string | number)[] = [];
  /** The objects on the way: one that comes again goes round in a circle. */
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

/** Beyond this, a value that contains itself is looked for: most are flat. */
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

/** What is no object and stays what it is. */
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

/** What JSON would make of an object: itself, or what its `toJSON` says. */
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

/** Objects whose content is not in their properties; `{}` would be all that is left. By their tag: they may be of another realm. */
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
