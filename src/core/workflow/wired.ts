/**
 * Values in which references stand for some of the parts, at any depth: a step's input, and a workflow's
 * result. Everything else in them must be JSON, because they are stored and passed on as JSON.
 */
import { SluiceError } from "../error.ts";
import { isHandle } from "./handle.ts";
import type { ItemScope, Referred, StandsFor } from "./reference.ts";
import { referredBy, saySource } from "./reference.ts";
import type { Source, Template } from "./template.ts";
import { literal, looksTaken, NOTHING, reference } from "./template.ts";

type Primitive = null | undefined | boolean | number | string | bigint | symbol;

/** A T, or a reference that will become one. */
export type Wired<T> = 0 extends 1 & T
  ? // biome-ignore lint/suspicious/noExplicitAny: if anything fits, so does a reference.
    any
  : StandsFor<T> | WiredParts<T>;

type WiredParts<T> = T extends Primitive
  ? T
  : T extends object
    ? { readonly [Part in keyof T]: Wired<T[Part]> }
    : T;

/** The type of a value with references once they are resolved. */
export type Unwired<Value> = 0 extends 1 & Value
  ? Value
  : Value extends StandsFor<infer T>
    ? T
    : Value extends Primitive
      ? Value
      : Value extends object
        ? { -readonly [Part in keyof Value]: Unwired<Value[Part]> }
        : Value;

/** The type of a value after it was stored as JSON. `toJSON` is applied, so a Date becomes a text. */
export type AsJson<T> = 0 extends 1 & T
  ? T
  : T extends { toJSON(): infer Written }
    ? AsJson<Written>
    : T extends Primitive
      ? T
      : T extends (...args: never) => unknown
        ? never
        : T extends object
          ? { [Part in keyof T]: AsJson<T[Part]> }
          : T;

/** A workflow or a group under construction. */
export interface Builder {
  /**
   * The source of a value as the steps of this builder see it. A value from outside of a group becomes a part of the
   * group's input. Undefined for a value of another workflow.
   */
  take(referred: Pick<Referred, "build" | "source">): Source | undefined;
  /** Whether it is this builder, or one that this builder is inside of. */
  knows(build: object): boolean;
  /** The name of the group below this builder to which another builder belongs. Undefined if there is none. */
  groupWith(build: object): string | undefined;
}

/** The place of a value: its build, its name, and the objects that contain it. */
interface Place {
  readonly build: Builder;
  readonly name: string;
  readonly within?: readonly object[];
  /** The step over a list whose item may be used here. */
  readonly item?: ItemScope;
  /** The value will be taken as it is, so it cannot contain a reference. */
  readonly literal?: boolean;
}

/**
 * Turns the value into a template. Refuses a value that is not JSON, or that refers to another workflow or to
 * another step's item.
 */
export function wire(value: unknown, place: Place): Template {
  const referred = referredBy(value);
  if (referred) return reference(own(referred, place));
  if (value === undefined) return NOTHING;
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value !== "object") throw notJson(value, place);
  if (isHandle(value)) throw refused(place, "is a step", `Write ${value.name}.output for what it returns`);
  if (place.within?.includes(value)) throw refused(place, "contains itself", "Leave that part out");
  const parts = { ...place, within: [...(place.within ?? []), value] };
  if (Array.isArray(value)) return Array.from(value, (each, index) => element(each, index, parts));
  if (!isPlain(value)) throw notJson(value, place);
  if (!looksTaken(value) || place.literal) return fields(value, parts);
  return literal(fields(value, { ...parts, literal: true }));
}

function element(value: unknown, index: number, parts: Place): Template {
  const place = { ...parts, name: `${parts.name}[${index}]` };
  if (value === undefined) throw refused(place, "is undefined, which a list cannot hold", "Write null");
  return wire(value, place);
}

/** A field that is undefined is left out, as in JSON. */
function fields(value: object, parts: Place): Record<string, Template> {
  const known = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(
    known.map(([key, each]) => [key, wire(each, { ...parts, name: `${parts.name}.${key}` })]),
  );
}

function own(referred: Referred, place: Place): Source {
  if (place.literal)
    throw refused(place, "is a reference next to a field called $from or $literal", "Rename it");
  if (!referred.item) return referred.build === place.build ? referred.source : outer(referred, place);
  if (!place.build.knows(referred.build)) throw elsewhere(saySource(referred.source), place);
  if (referred.item !== place.item)
    throw refused(
      place,
      `refers to ${saySource(referred.source)} of step "${referred.item.step}", which exists only for that step's own items`,
      "Use it in what its input function returns, and nowhere else",
    );
  return referred.source;
}

/** A value of another builder: what a group takes from outside, or a mistake. */
function outer(referred: Referred, place: Place): Source {
  const said = saySource(referred.source);
  const group = place.build.groupWith(referred.build);
  if (group !== undefined)
    throw refused(
      place,
      `refers to ${said}, which is inside group "${group}"`,
      `Return it from the group, and refer to the group's output`,
    );
  const taken = place.build.take(referred);
  if (!taken) throw elsewhere(said, place);
  return taken;
}

const elsewhere = (said: string, place: Place): SluiceError =>
  refused(
    place,
    `refers to ${said} of another workflow`,
    "Use only what this workflow's own steps and input give",
  );

/**
 * True for an object made by `{}`, in any realm: nothing is above its prototype. Symbols would be lost in
 * JSON.
 */
function isPlain(value: object): boolean {
  if (Object.getOwnPropertySymbols(value).length > 0) return false;
  const above = Object.getPrototypeOf(value);
  return above === null || Object.getPrototypeOf(above) === null;
}

function notJson(value: unknown, place: Place): SluiceError {
  const kind = typeof value === "object" ? `a ${value?.constructor?.name ?? "special object"}` : said(value);
  return refused(
    place,
    `is ${kind}, which JSON cannot represent`,
    "Write it as a string, number, list or plain object",
  );
}

function said(value: unknown): string {
  return typeof value === "number" ? String(value) : `a ${typeof value}`;
}

function refused({ name }: Place, what: string, cure: string): SluiceError {
  return new SluiceError("BAD_WORKFLOW", `${name} ${what}. ${cure}.`);
}
