/**
 * The kinds of gates. A kind is data: how its line is served and what holds before anybody sets a limit. Nothing else
 * in the decision knows about kinds, and a sentence names a gate by its key.
 */
import type { Limit, Line } from "./gate.ts";
import { UNLIMITED } from "./gate.ts";
import { familyOf } from "./key.ts";

export interface Kind {
  readonly line: Line;
  /** The limit of a gate nobody has declared: unlimited for caps, unset where a number is required. */
  readonly limit: Limit;
}

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ["cluster", { line: "skip", limit: UNLIMITED }],
  ["queue", { line: "skip", limit: UNLIMITED }],
  ["runs", { line: "skip", limit: 10 }],
  ["tag", { line: "skip", limit: UNLIMITED }],
  ["run", { line: "skip", limit: UNLIMITED }],
  ["pool", { line: "bypass", limit: null }],
  ["mutex", { line: "strict", limit: 1 }],
  ["semaphore", { line: "strict", limit: null }],
]);

/** How a gate comes into the world when a unit first asks for it. An unknown kind must be set before it admits. */
export function bornAs(key: string): Kind {
  return KINDS.get(key.split(":", 1)[0] as string) ?? { line: "strict", limit: null };
}

/** What holds at a gate of which no app says anything. One of a single value has its family's limit, and none of its own. */
export function undeclared(key: string): Kind {
  const born = bornAs(key);
  return familyOf(key) === null ? born : { ...born, limit: null };
}

/** Gates that every unit of a line asks for: waiting for them says nothing about one lane, so none parks on them. */
export function isWholeLine(key: string): boolean {
  return key === "cluster" || key === "runs" || key.startsWith("queue:");
}
