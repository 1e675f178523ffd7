/** What a step over a list is told beside its items: how many at once, what a failure means, and what each item is given. */
import type { AnyTask, InputOf } from "../task/definition.ts";
import type { Items, OnItemFailure } from "./graph.ts";
import type { ItemScope, Reference } from "./reference.ts";
import { referTo } from "./reference.ts";
import type { StepOptions } from "./step-options.ts";
import type { Template } from "./template.ts";
import type { Wired } from "./wired.ts";

export interface EachOptions<Item = never, Input = unknown> extends StepOptions {
  /** How many items at once; as many as everything else lets in, unless said otherwise. */
  readonly concurrency?: Wired<number>;
  /** "run-all" unless said otherwise: every item has its turn, then the step fails if one of them did. */
  readonly onFailure?: OnItemFailure;
  /** What the task is given for an item; the item itself unless said otherwise. */
  readonly input?: (item: Reference<Item>, index: Reference<number>) => Wired<Input>;
}

/** Items that are no input of the task must be made one. */
export type EachArguments<Item, Task extends AnyTask> =
  Fits<Item, InputOf<Task>> extends true
    ? [options?: EachOptions<Item, InputOf<Task>>]
    : [options: EachOptions<Item, InputOf<Task>> & MadeInput<Item, InputOf<Task>>];

type MadeInput<Item, Input> = Required<Pick<EachOptions<Item, Input>, "input">>;

/** A task that takes nothing does not look at what it is given. */
// biome-ignore lint/suspicious/noConfusingVoidType: void is how such a task says it; undefined would be a value.
type Fits<Item, Input> = [Item] extends [Input] ? true : void extends Input ? true : false;

export interface PlannedEach {
  readonly items: Items;
  /** As they were written: checked with the app. */
  readonly concurrency: Template | undefined;
  readonly onFailure: OnItemFailure | undefined;
}

/** What a step and one over a list have in common, planned or stored. */
export interface RenderedItem {
  readonly input: Template;
  readonly each?: { readonly items: Items; readonly concurrency?: Template | null | undefined } | null;
}

/** All that is filled in before the step can begin. */
export function templatesIn({ input, each }: RenderedItem): readonly Template[] {
  return each ? [...listsIn(each.items), each.concurrency ?? null, input] : [input];
}

export function listsIn(items: Items): readonly Template[] {
  if ("zip" in items) return items.zip;
  return ["list" in items ? items.list : items.entries];
}

/** What stands for the item and for its place, while `input` is asked what to make of them. */
export function itemReferences(build: object, item: ItemScope): [Reference<never>, Reference<number>] {
  const refer = (part: "value" | "index") => referTo({ build, item, source: { item: part, path: [] } });
  return [refer("value") as Reference<never>, refer("index") as Reference<number>];
}
