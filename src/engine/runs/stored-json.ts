/** Parses texts of the store, and remembers those that come again and again. */
import { jsonLength, tooLarge } from "../../core/run/load.ts";
import type { Graph } from "../../core/workflow/graph.ts";
import type { Json } from "../../core/workflow/template.ts";

const parsed = new Map<string, Graph>();

/** All runs of a workflow share one graph, so it is parsed once. */
export function graphFrom(text: string): Graph {
  const known = parsed.get(text);
  if (known) return known;
  const graph = JSON.parse(text) as Graph;
  if (parsed.size > 200) parsed.clear();
  parsed.set(text, graph);
  return graph;
}

/** A list is looked at again with every batch of its items, so large texts are parsed once. */
const LARGE = 10_000;
let lastParsed: { readonly text: string; readonly value: Json } | undefined;

export function parse(text: string | null): Json {
  if (text === null || text === "") return null;
  if (text.length < LARGE) return JSON.parse(text) as Json;
  if (lastParsed?.text !== text) lastParsed = { text, value: JSON.parse(text) as Json };
  return lastParsed.value;
}

/** A template may repeat an output, so the size of a value is known only once its holes are filled. */
export function boundedText(what: string, value: Json, most: number): string {
  const size = jsonLength(value, most);
  if (size > most) throw tooLarge(what, [{ what: "more than", size }], most);
  return JSON.stringify(value);
}
