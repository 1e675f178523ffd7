/**
 * A gate: anything with a limit. The kind of a limit lives in the key ("queue:stripe", "pool:gpu") and in how
 * it is described to people; nothing in this folder ever branches on it.
 */
import type { Place } from "./order.ts";

/**
 * How a line of waiting units is served.
 * - `skip`: a blocked unit is passed over.
 * - `strict`: the front goes first; whoever stands behind it needs room beyond what those ahead want.
 * - `bypass`: small asks may overtake a large one, but only within a bound; then the large one reserves.
 */
export type Line = (typeof LINES)[number];

export const LINES = ["skip", "strict", "bypass"] as const;

/** A line as somebody wrote it; one that is not known is served in the strictest way. */
export function lineFrom(text: string): Line {
  return LINES.find((line) => line === text) ?? "strict";
}

/** The limit that means "as many as want to". 0 pauses; `null` means nobody has set it yet. */
export const UNLIMITED = -1;

export type Limit = number | null;

/** A number that means nothing: only plain SQL can write it. Its gate admits nobody. */
export const isInvalid = (limit: number): boolean => limit < UNLIMITED;

/** A gate as one snapshot shows it. `held` is derived from the rows of running units, never a counter. */
export interface Gate {
  readonly key: string;
  readonly limit: Limit;
  readonly paused: boolean;
  readonly line: Line;
  readonly held: number;
  /** From this place on the snapshot does not show everybody who waits for it. */
  readonly hidden?: Place | undefined;
}

/** What a unit wants from one gate. */
export interface Ask {
  readonly gate: string;
  readonly slots: number;
}

/** What stands between an ask and its gate, if anything; `ahead` are the slots reserved by those in front. */
export type Obstacle = "unset" | "paused" | "never" | "full" | "behind";

/** Decides by held and limit, as nothing outside this file does; every decision and explanation is made of it. */
export function obstacle(gate: Gate, held: number, ahead: number, slots: number): Obstacle | undefined {
  if (gate.limit === null) return "unset";
  if (gate.paused || gate.limit === 0) return "paused";
  if (gate.limit === UNLIMITED) return undefined;
  if (slots > gate.limit) return "never";
  if (held + slots > gate.limit) return "full";
  if (held + ahead + slots > gate.limit) return "behind";
  return undefined;
}

/** Lowering a limit never evicts: a gate above its limit says so until it has drained. A negative number limits nothing. */
export function draining(gate: Pick<Gate, "held" | "limit">): boolean {
  return gate.limit !== null && gate.limit >= 0 && gate.held > gate.limit;
}

/** How many slots are free; none where it is paused or not set. */
export function room(gate: Pick<Gate, "limit" | "paused">, held: number): number {
  if (gate.limit === null || gate.paused) return 0;
  return gate.limit === UNLIMITED ? Number.POSITIVE_INFINITY : Math.max(0, gate.limit - held);
}

/** Whether the gate can ever bind: an unlimited one needs no exclusive lock to be decided. */
export function bounded(gate: Pick<Gate, "limit" | "paused">): boolean {
  return gate.paused || gate.limit !== UNLIMITED;
}

/** How many units of such an ask could ever hold slots together: nobody needs to look at more of them at once. */
export function most(gate: Pick<Gate, "limit" | "paused">, slots: number): number {
  if (gate.limit === UNLIMITED && !gate.paused) return Number.POSITIVE_INFINITY;
  return gate.paused || gate.limit === null ? 0 : Math.floor(gate.limit / slots);
}
