/**
 * A lane: all units of one task with the same asks. Its id is a hash of its content, so an enqueue need not
 * look it up.
 */
import { createHash } from "node:crypto";
import { SluiceError } from "../core/error.ts";
import type { StoredAsk } from "../core/gate/asks.ts";
import { askOf, storedAsk } from "../core/gate/asks.ts";
import type { Ask } from "../core/gate/gate.ts";
import { unreadableKey } from "../core/gate/key.ts";
import { MOST_SLOTS } from "../core/number.ts";
import { bytesOf, checkText, inByteOrder, isStorable, LONGEST_LIST } from "../core/text.ts";

export interface LaneSpec {
  readonly id: string;
  readonly queue: string;
  readonly task: string;
  /** JSON text: [[gate, slots], …], sorted by gate. An ask with a line of its own is [gate, slots, "skip"]. */
  readonly asks: string;
}

export function laneOf(queue: string, task: string, asks: readonly Ask[]): LaneSpec {
  for (const { gate } of asks) checkText(`task "${task}": the key of a gate it asks for`, gate);
  const sorted = [...asks].sort((a, b) => inByteOrder(a.gate, b.gate)).map(storedAsk);
  const text = JSON.stringify(sorted);
  if (text.length * 3 > LONGEST_LIST && bytesOf(text) > LONGEST_LIST) throw asksTooLong(task, text);
  const id = createHash("sha256")
    .update(JSON.stringify([queue, task, text]))
    .digest("base64url")
    .slice(0, 16);
  return { id, queue, task, asks: text };
}

const asksTooLong = (task: string, text: string): SluiceError =>
  new SluiceError(
    "ASKS_TOO_MUCH",
    `task "${task}": its asks are too long to be stored: ${bytesOf(text)} bytes, and ${LONGEST_LIST} are allowed. Ask fewer gates, or give them shorter names.`,
  );

const parsed = new Map<string, readonly Ask[]>();

/** One damaged row must not stop all others. Its units wait alone, for a gate that never opens. */
const UNREADABLE: readonly Ask[] = [{ gate: unreadableKey, slots: 1 }];

/** Asks are read on every pass and never change, so each distinct text is parsed once. */
export function asksOf(text: string): readonly Ask[] {
  const known = parsed.get(text);
  if (known) return known;
  const asks = isAsks(text) ? (JSON.parse(text) as StoredAsk[]).map(askOf) : UNREADABLE;
  if (parsed.size > 50_000) parsed.clear();
  parsed.set(text, asks);
  return asks;
}

/** Whether the asks cannot be read. */
export const isUnreadable = (text: string): boolean => asksOf(text) === UNREADABLE;

/** Whether the text has the form that `laneOf` writes. Text from other sources may be anything. */
export function isAsks(text: string): boolean {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every(isAsk);
  } catch {
    return false;
  }
}

function isAsk(ask: unknown): boolean {
  if (!Array.isArray(ask) || ask.length < 2 || ask.length > 3) return false;
  const [gate, slots, line = "skip"] = ask;
  const isSlots = Number.isSafeInteger(slots) && slots > 0 && slots <= MOST_SLOTS;
  return isStorable(gate) && isSlots && line === "skip";
}
