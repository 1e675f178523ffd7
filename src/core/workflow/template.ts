/**
 * Values with holes: JSON in which a reference stands for an earlier output or the run's input. A user's
 * value that happens to look like a reference is wrapped, so any JSON can be expressed.
 */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * JSON, with `{ "$from": [...] }` for a reference and `{ "$literal": value }` for a value that is taken as it
 * is.
 */
export type Template = Json;

/**
 * No value at all, which JSON cannot represent: the input of a task that takes none. It is a reference
 * without a source.
 */
export const NOTHING: Template = Object.freeze({ $from: Object.freeze([]) });

/** The source of a value: an output of a step, the run's input, or an item, and the path into it. */
export type Source =
  | { readonly step: string; readonly path: readonly Key[] }
  /** How each item of a step over a list ended. */
  | { readonly outcomes: string; readonly path: readonly Key[] }
  /** The item itself, inside a step over a list: its value or its index. */
  | { readonly item: "value" | "index"; readonly path: readonly Key[] }
  | { readonly input: true; readonly path: readonly Key[] };

type Key = string | number;

const FROM = "$from";
const LITERAL = "$literal";

export function reference(source: Source): Template {
  return { [FROM]: [...startOf(source), ...source.path] };
}

function startOf(source: Source): readonly Key[] {
  if ("step" in source) return ["step", source.step];
  if ("outcomes" in source) return ["outcomes", source.outcomes];
  return "item" in source ? [source.item === "value" ? "item" : "index"] : ["input"];
}

/** A plain value as a template. */
export function literal(value: Json): Template {
  if (Array.isArray(value)) return value.map(literal);
  if (!isObject(value)) return value;
  if (looksTaken(value)) return { [LITERAL]: value };
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, literal(each)]));
}

/** True if a value would be mistaken for a reference or a literal. */
export function looksTaken(value: object): boolean {
  return Object.hasOwn(value, FROM) || Object.hasOwn(value, LITERAL);
}

export function sourceOf(template: Template): Source | undefined {
  if (!isObject(template) || !Object.hasOwn(template, FROM)) return undefined;
  const [kind, ...rest] = template[FROM] as readonly Key[];
  if (kind === undefined) return undefined;
  if (kind === "input") return { input: true, path: rest };
  if (kind === "item" || kind === "index") return { item: kind === "item" ? "value" : "index", path: rest };
  const [step, ...path] = rest;
  return kind === "outcomes" ? { outcomes: String(step), path } : { step: String(step), path };
}

/** Every reference in the template. */
export function sourcesIn(template: Template): Source[] {
  const source = sourceOf(template);
  if (source) return [source];
  if (Array.isArray(template)) return template.flatMap(sourcesIn);
  if (!isObject(template) || Object.hasOwn(template, LITERAL)) return [];
  return Object.values(template).flatMap(sourcesIn);
}

/** The steps that the template refers to. */
export function stepsNamedIn(template: Template): string[] {
  return sourcesIn(template).flatMap((source) => {
    if ("step" in source) return [source.step];
    return "outcomes" in source ? [source.outcomes] : [];
  });
}

/** The values that references stand for. */
export interface Values {
  readonly input: Json;
  /** Null for a step without an output: skipped, failed, or not begun. */
  output(step: string): Json;
  /** For a step over a list: how each item ended. */
  outcomes?(step: string): Json;
  /** Only inside a step over a list. */
  readonly item?: { readonly value: Json; readonly index: number };
}

/** Fills the holes of a template. A missing value becomes null. */
export function render(template: Template, values: Values): Json {
  return fill(template, values) ?? null;
}

/**
 * Like `render`, but returns undefined for a missing value. As in JSON, a field without a value is left out,
 * and a list keeps its length with null. A path that leads nowhere counts as an optional field that was not
 * given.
 */
export function fill(template: Template, values: Values): Json | undefined {
  if (Array.isArray(template)) return template.map((each) => render(each, values));
  if (!isObject(template)) return template;
  if (Object.hasOwn(template, LITERAL)) return template[LITERAL];
  if (!Object.hasOwn(template, FROM)) return filled(template, values);
  const source = sourceOf(template);
  return source && follow(standsFor(source, values), source);
}

function standsFor(source: Source, values: Values): Json {
  if ("step" in source) return values.output(source.step);
  if ("outcomes" in source) return values.outcomes?.(source.outcomes) ?? null;
  return "item" in source ? (values.item?.[source.item] ?? null) : values.input;
}

function filled(fields: { readonly [key: string]: Template }, values: Values): Json {
  const entries: [string, Json][] = [];
  for (const [key, each] of Object.entries(fields)) {
    const value = fill(each, values);
    if (value !== undefined) entries.push([key, value]);
  }
  return Object.fromEntries(entries);
}

/**
 * Follows own properties only: "constructor" and the like lead nowhere. Every path into a step without an output leads to
 * null.
 */
function follow(value: Json, source: Source): Json | undefined {
  if (value === null && ("step" in source || "outcomes" in source)) return null;
  let at: Json | undefined = value;
  for (const key of source.path) {
    if (at === null || typeof at !== "object" || !Object.hasOwn(at, key)) return undefined;
    at = (at as Readonly<Record<Key, Json>>)[key];
    if (at === undefined) return undefined;
  }
  return at;
}

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
