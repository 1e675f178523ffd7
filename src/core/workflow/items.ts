/**
 * The items of a step over a list: a list, several lists taken together with `zip`, or the fields of an
 * object with `entries`. Each may be a value, a reference, or a value that contains references.
 */
import type { Items } from "./graph.ts";
import type { StandsFor } from "./reference.ts";
import { referredBy } from "./reference.ts";
import type { Template } from "./template.ts";
import type { Unwired } from "./wired.ts";

declare const holds: unique symbol;

/** Registered, so that two copies of this package in one process recognize each other's items. */
const READ = Symbol.for("sluice.items");

/** Turns a user's value into a template. `part` says which of several values it is. */
type Reading = (value: unknown, part?: string) => Template;

/** Items made with `zip` or `entries`. */
export interface Gathered<Item> {
  readonly [holds]: Item;
  readonly [READ]: (reading: Reading) => Items;
}

type Listed = StandsFor<readonly unknown[]> | readonly unknown[];

export type GivenItems = Listed | Gathered<unknown>;

/** The type of one item. */
export type ItemOf<Given> = 0 extends 1 & Given
  ? // biome-ignore lint/suspicious/noExplicitAny: the task left the type open, so nothing is known.
    any
  : Given extends Gathered<infer Item>
    ? Item
    : Unwired<Given> extends readonly (infer Item)[]
      ? Item
      : never;

/** Takes lists of the same length together. Item n is made of the nth elements of all lists. */
export function zip<const Lists extends readonly [Listed, ...Listed[]]>(
  ...lists: Lists
): Gathered<{ -readonly [Place in keyof Lists]: ItemOf<Lists[Place]> }> {
  return gathered((reading) => ({ zip: lists.map((list, index) => reading(list, `[${index}]`)) }));
}

type Entry<Fields> = Fields extends unknown
  ? { key: Extract<keyof Fields, string>; value: Required<Fields>[keyof Fields] }
  : never;

/** A list has indices, not keys. */
type Unlisted<Fields> = Fields extends readonly unknown[] ? never : unknown;

/** The fields of an object, in its own order. Each item is a key with its value. */
export function entries<Fields extends object>(
  map: StandsFor<Fields> & Unlisted<Fields>,
): Gathered<Entry<Fields>>;
export function entries<const Fields extends Readonly<Record<string, unknown>>>(
  map: Fields,
): Gathered<Entry<Unwired<Fields>>>;
export function entries(map: unknown): Gathered<never> {
  return gathered((reading) => ({ entries: reading(map) }));
}

function gathered<Item>(read: (reading: Reading) => Items): Gathered<Item> {
  return Object.freeze({ [READ]: read }) as Gathered<Item>;
}

/** The items as they are stored. A list is validated by the app check, or once its value is known. */
export function readItems(given: unknown, reading: Reading): Items {
  const read = referredBy(given)
    ? undefined
    : (given as Partial<Gathered<unknown>> | null | undefined)?.[READ];
  return read ? read(reading) : { list: reading(given) };
}
