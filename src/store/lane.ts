/** A lane: all units of one task with the same asks. Its id is made of its content, so that an enqueue need not look. */
import { createHash } from "node:crypto";
import type { Ask } from "../core/gate/gate.ts";
import { unreadableKey } from "../core/gate/key.ts";

export interface LaneSpec {
  readonly id: string;
  readonly queue: string;
  readonly task: string;
  /** JSON text: [[gate, slots], …], sorted by gate. */
  readonly asks: string;
}

export function laneOf(queue: string, task: string, asks: readonly Ask[]): LaneSpec {
  const sorted = [...asks].sort((a, b) => (a.gate < b.gate ? -1 : 1)).map(({ gate, slots }) => [gate, slots]);
  const text = JSON.stringify(sorted);
  const id = createHash("sha256")
    .update(JSON.stringify([queue, task, text]))
    .digest("base64url")
    .slice(0, 16);
  return { id, queue, task, asks: text };
}

const parsed = new Map<string, readonly Ask[]>();

/** One damaged row must not stop all others: its units wait, by themselves, for a gate that nobody can open. */
const UNREADABLE: readonly Ask[] = [{ gate: unreadableKey, slots: 1 }];

/** Asks are read on every pass and never change: parsed once per distinct text. */
export function asksOf(text: string): readonly Ask[] {
  const known = parsed.get(text);
  if (known) return known;
  const asks = isAsks(text)
    ? (JSON.parse(text) as [string, number][]).map(([gate, slots]) => ({ gate, slots }))
    : UNREADABLE;
  if (parsed.size > 50_000) parsed.clear();
  parsed.set(text, asks);
  return asks;
}

/** Whether it is what `laneOf` writes; what somebody else wrote may be anything. */
export function isAsks(text: string): boolean {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every(isAsk);
  } catch {
    return false;
  }
}

function isAsk(pair: unknown): boolean {
  if (!Array.isArray(pair) || pair.length !== 2) return false;
  return typeof pair[0] === "string" && Number.isSafeInteger(pair[1]) && pair[1] > 0;
}
