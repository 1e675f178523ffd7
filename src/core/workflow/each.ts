/**
 * The options of a step over a list: how many items run at once, what a failure means, and each item's input.
 */
import type { Lock } from "../gate/lock.ts";
import type { Items, OnItemFailure } from "./graph.ts";
import type { ItemScope, Reference } from "./reference.ts";
import { referTo } from "./reference.ts";
import type { StepOptions } from "./step-options.ts";
import type { Template } from "./template.ts";
import type { Wired } from "./wired.ts";

export interface EachOptions<Item = never, Input = unknown> extends StepOptions {
  /** How many items run at once. By default as many as the other limits allow. */
  readonly concurrency?: Wired<number>;
  /** The default is "run-all": every item runs, then the step fails if any item did. */
  readonly onFailure?: OnItemFailure;
  /** Makes the task's input from an item. The default is the item itself. */
  readonly input?: (item: Reference<Item>, index: Reference<number>) => Wired<Input>;
}

/** `input` is required if the items do not fit the input of the task or workflow. */
export type EachArguments<Item, Input, Options> =
  Fits<Item, Input> extends true ? [options?: Options] : [options: Options & MadeInput<Item, Input>];

type MadeInput<Item, Input> = Required<Pick<EachOptions<Item, Input>, "input">>;

/** A task that takes no input accepts any item. */
// biome-ignore lint/suspicious/noConfusingVoidType: such an input has the type void; undefined is a value.
type Fits<Item, Input> = [Item] extends [Input] ? true : void extends Input ? true : false;

export interface PlannedEach {
  readonly items: Items;
  /** As written; the app check validates them. */
  readonly concurrency: Template | undefined;
  readonly onFailure: OnItemFailure | undefined;
}

/** The common shape of all steps, planned or stored. */
export interface RenderedItem {
  readonly input: Template;
  /** Only a waiting step has one. */
  readonly otherwise?: Template;
  readonly each?: { readonly items: Items; readonly concurrency?: Template | null | undefined } | null;
  readonly locks?: readonly Pick<Lock<Template>, "name" | "namespace">[] | undefined;
}

/** All templates that are filled in before the step can begin. */
export function templatesIn({ input, each, otherwise, ...rest }: RenderedItem): readonly Template[] {
  const named = namesIn(rest);
  if (each) return [...listsIn(each.items), each.concurrency ?? null, input, ...named];
  return otherwise === undefined ? [input, ...named] : [input, otherwise, ...named];
}

/** The names of its locks. */
export const namesIn = ({ locks = [] }: Pick<RenderedItem, "locks">): readonly Template[] =>
  locks.flatMap(({ name, namespace }) => [name, namespace]);

export function listsIn(items: Items): readonly Template[] {
  if ("zip" in items) return items.zip;
  return ["list" in items ? items.list : items.entries];
}

/** The references to the item and its index that are passed to `input`. */
export function itemReferences(build: object, item: ItemScope): [Reference<never>, Reference<number>] {
  const refer = (part: "value" | "index") => referTo({ build, item, source: { item: part, path: [] } });
  return [refer("value") as Reference<never>, refer("index") as Reference<number>];
}
