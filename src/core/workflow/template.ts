/**
 * Values with holes: JSON in which a reference stands where an earlier output, or the run's input, will be. What a user
 * wrote and happens to look like a reference is wrapped, so any JSON can be said.
 */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** JSON, `{ "$from": [...] }` for a reference, `{ "$literal": value }` for a value that is taken as it stands. */
export type Template = Json;

/** Where a value comes from: an output of a step, or the run's input, and the way into it. */
export type Source =
  | { readonly step: string; readonly path: readonly Key[] }
  | { readonly input: true; readonly path: readonly Key[] };

export type Key = string | number;

const FROM = "$from";
const LITERAL = "$literal";

export function reference(source: Source): Template {
  const start = "step" in source ? ["step", source.step] : ["input"];
  return { [FROM]: [...start, ...source.path] };
}

/** A plain value as a template. */
export function literal(value: Json): Template {
  if (Array.isArray(value)) return value.map(literal);
  if (!isObject(value)) return value;
  if (FROM in value || LITERAL in value) return { [LITERAL]: value };
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, literal(each)]));
}

export function sourceOf(template: Template): Source | undefined {
  if (!isObject(template) || !(FROM in template)) return undefined;
  const [kind, ...rest] = template[FROM] as readonly Key[];
  if (kind === "input") return { input: true, path: rest };
  const [step, ...path] = rest;
  return { step: String(step), path };
}

/** Every reference in it. */
export function sourcesIn(template: Template): Source[] {
  const source = sourceOf(template);
  if (source) return [source];
  if (Array.isArray(template)) return template.flatMap(sourcesIn);
  if (!isObject(template) || LITERAL in template) return [];
  return Object.values(template).flatMap(sourcesIn);
}

/** What references stand for. */
export interface Values {
  readonly input: Json;
  /** Null for a step that has no output: skipped, failed, or not begun. */
  output(step: string): Json;
}

/** The template with its holes filled. A way that leads nowhere gives null: what is missing is refused by the task's schema. */
export function render(template: Template, values: Values): Json {
  const source = sourceOf(template);
  if (source) return follow("step" in source ? values.output(source.step) : values.input, source.path);
  if (Array.isArray(template)) return template.map((each) => render(each, values));
  if (!isObject(template)) return template;
  if (LITERAL in template) return template[LITERAL] as Json;
  return Object.fromEntries(Object.entries(template).map(([key, each]) => [key, render(each, values)]));
}

/** Only what a value has of its own: "constructor" and the like lead nowhere. */
function follow(value: Json, path: readonly Key[]): Json {
  let at: Json = value;
  for (const key of path) {
    if (at === null || typeof at !== "object" || !Object.hasOwn(at, key)) return null;
    at = (at as Readonly<Record<Key, Json>>)[key] ?? null;
  }
  return at;
}

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
