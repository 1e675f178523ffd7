/** Texts of the store, parsed once where they come again and again. */
import type { Graph } from "../../core/workflow/graph.ts";
import type { Json } from "../../core/workflow/template.ts";

const parsed = new Map<string, Graph>();

/** The same for all runs of a workflow: read once. */
export function graphFrom(text: string): Graph {
  const known = parsed.get(text);
  if (known) return known;
  const graph = JSON.parse(text) as Graph;
  if (parsed.size > 200) parsed.clear();
  parsed.set(text, graph);
  return graph;
}

/** Lists are looked at again with every batch of their items: large texts are parsed once. */
const LARGE = 10_000;
let lastParsed: { readonly text: string; readonly value: Json } | undefined;

export function parse(text: string | null): Json {
  if (text === null || text === "") return null;
  if (text.length < LARGE) return JSON.parse(text) as Json;
  if (lastParsed?.text !== text) lastParsed = { text, value: JSON.parse(text) as Json };
  return lastParsed.value;
}
