/**
 * What a step over a list goes through: a list, several lists taken together with `zip`, or an object by its fields with
 * `entries`. Each of them may be there already, be referred to, or hold references.
 */
import type { Items } from "./graph.ts";
import type { StandsFor } from "./reference.ts";
import { referredBy } from "./reference.ts";
import type { Template } from "./template.ts";
import type { Unwired } from "./wired.ts";

declare const holds: unique symbol;

/** Registered, so that two copies of this package in one process know each other's. */
const READ = Symbol.for("sluice.items");

/** Turns what a user wrote into a template; `part` says which of several it was. */
type Reading = (value: unknown, part?: string) => Template;

/** Items that are no list yet; made with `zip` or `entries`. */
export interface Gathered<Item> {
  readonly [holds]: Item;
  readonly [READ]: (reading: Reading) => Items;
}

type Listed = StandsFor<readonly unknown[]> | readonly unknown[];

export type GivenItems = Listed | Gathered<unknown>;

/** What one item of them is. */
export type ItemOf<Given> = 0 extends 1 & Given
  ? // biome-ignore lint/suspicious/noExplicitAny: of what the task's author left open nothing is known.
    any
  : Given extends Gathered<infer Item>
    ? Item
    : Unwired<Given> extends readonly (infer Item)[]
      ? Item
      : never;

/** Lists of one length, taken together: an item is what stands at its place in each of them. */
export function zip<const Lists extends readonly [Listed, ...Listed[]]>(
  ...lists: Lists
): Gathered<{ -readonly [Place in keyof Lists]: ItemOf<Lists[Place]> }> {
  return gathered((reading) => ({ zip: lists.map((list, index) => reading(list, `[${index}]`)) }));
}

type Entry<Fields> = Fields extends unknown
  ? { key: Extract<keyof Fields, string>; value: Required<Fields>[keyof Fields] }
  : never;

/** A list has places, not keys. */
type Unlisted<Fields> = Fields extends readonly unknown[] ? never : unknown;

/** The fields of an object, in its own order: an item is a key with its value. */
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

/** The items as they are stored. Whether a list is one is checked with the app, or where it comes to be. */
export function readItems(given: unknown, reading: Reading): Items {
  const read = referredBy(given)
    ? undefined
    : (given as Partial<Gathered<unknown>> | null | undefined)?.[READ];
  return read ? read(reading) : { list: reading(given) };
}
