/**
 * A step over a list: its items, how many may be in flight, and its outcome. The step's end is the aggregate
 * of its items, never the end of the item that happened to finish last.
 */
import { SluiceError } from "../error.ts";
import { UNLIMITED } from "../gate/gate.ts";
import { templatesIn } from "../workflow/each.ts";
import type { GraphEach, GraphStep } from "../workflow/graph.ts";
import type { Json, Values } from "../workflow/template.ts";
import { fill, render, stepsNamedIn } from "../workflow/template.ts";

export type ItemOutcome =
  | { readonly state: "succeeded"; readonly result: Json }
  /** `cancelled`: not started, or aborted, because another item failed. */
  | { readonly state: "failed" | "cancelled"; readonly error: Json };

/** The steps whose outputs determine the items. */
export function stepsOfEach(step: GraphStep): string[] {
  return templatesIn(step).flatMap(stepsNamedIn);
}

/** The items, in order. Refuses a value that is not a list, and shows it. */
export function itemsOf({ name, each }: GraphStep, values: Values): readonly Json[] {
  const { items } = each as GraphEach;
  if ("entries" in items) return entriesOf(name, render(items.entries, values));
  if ("list" in items) return listOf(name, "its items", render(items.list, values));
  const lists = items.zip.map((list, index) =>
    listOf(name, `list ${index + 1} of its items`, render(list, values)),
  );
  const lengths = lists.map(({ length }) => length);
  if (new Set(lengths).size > 1)
    throw refused(name, `lists in zip(…) must have the same length, but have ${lengths.join(", ")}`);
  return (lists[0] ?? []).map((_, index) => lists.map((list) => list[index] as Json));
}

function listOf(step: string, what: string, value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  throw refused(step, `${what} must be a list, but got ${shown(value)}`);
}

function entriesOf(step: string, value: Json): readonly Json[] {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw refused(step, `its items must be an object, but got ${shown(value)}`);
  return Object.entries(value).map(([key, each]) => ({ key, value: each as Json }));
}

/** How many items may be in flight. -1 means as many as the other gates admit. */
export function windowOf({ name, each }: GraphStep, values: Values): number {
  const concurrency = each?.concurrency ?? null;
  if (concurrency === null) return UNLIMITED;
  const value = render(concurrency, values);
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return value;
  throw refused(name, `its concurrency must be a whole number of 1 or more, but is ${shown(value)}`);
}

/** The input of an item. */
export function itemInput(
  { input }: GraphStep,
  values: Values,
  value: Json,
  index: number,
): Json | undefined {
  return fill(input, { ...values, item: { value, index } });
}

interface Aggregate {
  readonly state: "succeeded" | "failed";
  readonly failed: number;
}

/** An item without an outcome was never started. */
export function aggregate(outcomes: readonly Pick<ItemOutcome, "state">[]): Aggregate {
  const failed = outcomes.filter(({ state }) => state !== "succeeded").length;
  return { state: failed === 0 ? "succeeded" : "failed", failed };
}

/** The `output` of such a step: the results in the order of the items, null for items without a result. */
export function resultsOf(outcomes: Json): Json {
  if (!Array.isArray(outcomes)) return null;
  return (outcomes as readonly ItemOutcome[]).map((each) => ("result" in each ? each.result : null));
}

const refused = (step: string, what: string): SluiceError =>
  new SluiceError("BAD_ITEMS", `step "${step}": ${what}.`);

function shown(value: Json): string {
  const text = JSON.stringify(value) ?? "nothing";
  const kind = value === null ? "" : Array.isArray(value) ? "a list: " : `${sayType(value)}: `;
  return `${kind}${text.length > 80 ? `${text.slice(0, 79)}…` : text}`;
}

const sayType = (value: Json): string => (typeof value === "object" ? "an object" : `a ${typeof value}`);
