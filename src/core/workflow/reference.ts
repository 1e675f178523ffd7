/**
 * A reference stands for a value that does not exist yet: an output of a step, the run's input, or an item of
 * a list. It has the fields of that value, each of them a reference too. Any other use of it is refused,
 * because a workflow is built once, before any of its runs exists.
 */
import { SluiceError } from "../error.ts";
import type { Source } from "./template.ts";

declare const stands: unique symbol;

/** Lets a reference of type T be used where a T is wanted. */
export interface StandsFor<T> {
  readonly [stands]: T;
}

/** Nothing is known about `any`, so nothing is refused. */
export type Reference<T> = 0 extends 1 & T
  ? // biome-ignore lint/suspicious/noExplicitAny: a type that the task's author left open stays open.
    any
  : StandsFor<T> & Inside<NonNullable<T>, Gap<T>>;

/** A part of a value that may be missing may be missing too. */
type Gap<T> = null extends T ? undefined : undefined extends T ? undefined : never;

type Inside<T, Missing> = T extends readonly unknown[]
  ? number extends T["length"]
    ? List<Reference<T[number] | Missing>, Reference<number | Missing>>
    : { readonly [Index in Exclude<keyof T, keyof []>]: Reference<T[Index] | Missing> }
  : T extends object
    ? { readonly [Field in keyof T]-?: Reference<T[Field] | Missing> }
    : unknown;

/**
 * The first elements are named. Under `noUncheckedIndexedAccess`, a plain index could always be undefined.
 */
type List<Element, Length> = { readonly [Index in First]: Element } & {
  readonly [index: number]: Element;
  readonly length: Length;
};

type First = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

/** The owner of a reference, and the value that it stands for. */
export interface Referred {
  /** The workflow under construction. The reference may be used only there. */
  readonly build: object;
  readonly source: Source;
  /** For an item: the step over a list in whose `input` it may be used. */
  readonly item?: ItemScope;
}

/** Compared by identity. The name is only for messages. */
export interface ItemScope {
  readonly step: string;
}

/** Registered, so that two copies of this package in one process recognize each other's references. */
const REFERRED = Symbol.for("sluice.reference");

export function referTo(referred: Referred): Reference<unknown> {
  const refuse = (): never => {
    throw noValueYet(referred.source);
  };
  const proxy = new Proxy(Object.create(null), {
    get(_, key) {
      if (key === REFERRED) return referred;
      if (key === Symbol.toPrimitive || key === Symbol.iterator) return refuse;
      return typeof key === "symbol" ? undefined : referTo(into(referred, key));
    },
    // Without these traps, JSON.stringify, Object.keys, `{ ...it }` and `"a" in it` would all see an empty
    // object.
    ownKeys: refuse,
    has: refuse,
    set: refuse,
  });
  return proxy as Reference<unknown>;
}

function into(referred: Referred, key: string): Referred {
  const { source } = referred;
  return { ...referred, source: { ...source, path: [...source.path, key] } };
}

export function referredBy(value: unknown): Referred | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as { readonly [REFERRED]?: Referred })[REFERRED];
}

/** The source as its author wrote it: `users.output.total`, `synced.outcomes`, `input.day`, `item.id`. */
export function saySource(source: Source): string {
  if ("text" in source) return "a text with references";
  return [...startOf(source), ...source.path].join(".");
}

function startOf(source: Exclude<Source, { text: unknown }>): string[] {
  if ("step" in source) return [source.step, "output"];
  if ("outcomes" in source) return [source.outcomes, "outcomes"];
  return "item" in source ? [source.item === "value" ? "item" : "index"] : ["input"];
}

function noValueYet(source: Source): SluiceError {
  const cure =
    "item" in source
      ? "Pass it on to the task, and let that compute."
      : `Pass it to a step, and let that step's task compute; to decide by it, use the option "when".`;
  return new SluiceError(
    "NO_VALUE_YET",
    `${saySource(source)} has no value while the workflow is being built, so you cannot compute with it. ${cure}`,
  );
}
