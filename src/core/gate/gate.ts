/**
 * A gate: anything with a limit. The kind of a limit lives in the key ("queue:stripe", "pool:gpu") and in how
 * it is described to people. `admit` does not branch on it.
 */
import type { Place } from "./order.ts";

/**
 * How a line of waiting units is served.
 * - `skip`: a blocked unit is passed over.
 * - `strict`: the front goes first. A unit behind it needs room beyond what the units ahead want.
 * - `bypass`: small asks may overtake a large one, but only within a bound. Then the large one reserves.
 */
export type Line = (typeof LINES)[number];

export const LINES = ["skip", "strict", "bypass"] as const;

/** Parses a line. An unknown one is served in the strictest way. */
export function lineFrom(text: string): Line {
  return LINES.find((line) => line === text) ?? "strict";
}

/** Unlimited. A limit of 0 pauses the gate; `null` means that the limit is not set yet. */
export const UNLIMITED = -1;

export type Limit = number | null;

/** True for a number without a meaning. Only plain SQL can write it. Its gate admits nothing. */
export const isInvalid = (limit: number): boolean => limit < UNLIMITED;

/** A gate as one snapshot shows it. `held` is derived from the rows of running units, never a counter. */
export interface Gate {
  readonly key: string;
  readonly limit: Limit;
  readonly paused: boolean;
  readonly line: Line;
  readonly held: number;
  /** From this place on, the snapshot does not show every unit that waits for the gate. */
  readonly hidden?: Place | undefined;
}

/** The slots that a unit wants from one gate. */
export interface Ask {
  readonly gate: string;
  readonly slots: number;
  /** Asks at a strict gate as if it were one that passes blocked units over. Otherwise the gate's own line counts. */
  readonly line?: "skip";
}

/** The line in which a unit waits with this ask. */
export const lineOf = ({ line }: Pick<Ask, "line">, gate: Pick<Gate, "line">): Line => line ?? gate.line;

/** The obstacle between an ask and its gate. */
export type Obstacle = "unset" | "paused" | "never" | "full" | "behind";

/**
 * The only place that decides by held slots and limit. Every decision and explanation is built on it. `ahead`
 * is the number of slots reserved by units in front.
 */
export function obstacle(gate: Gate, held: number, ahead: number, slots: number): Obstacle | undefined {
  if (gate.limit === null) return "unset";
  if (gate.paused || gate.limit === 0) return "paused";
  if (gate.limit === UNLIMITED) return undefined;
  if (slots > gate.limit) return "never";
  if (held + slots > gate.limit) return "full";
  if (held + ahead + slots > gate.limit) return "behind";
  return undefined;
}

/** Lowering a limit never evicts, so a gate above its limit is draining. A negative number limits nothing. */
export function draining(gate: Pick<Gate, "held" | "limit">): boolean {
  return gate.limit !== null && gate.limit >= 0 && gate.held > gate.limit;
}

/** The number of free slots. 0 if the gate is paused or not set. */
export function room(gate: Pick<Gate, "limit" | "paused">, held: number): number {
  if (gate.limit === null || gate.paused) return 0;
  return gate.limit === UNLIMITED ? Number.POSITIVE_INFINITY : Math.max(0, gate.limit - held);
}

/** True if the gate can ever bind. An unlimited gate needs no exclusive lock to be decided. */
export function bounded(gate: Pick<Gate, "limit" | "paused">): boolean {
  return gate.paused || gate.limit !== UNLIMITED;
}

/**
 * How many units with such an ask could ever hold slots together. A pass need not look at more of them at
 * once.
 */
export function most(gate: Pick<Gate, "limit" | "paused">, slots: number): number {
  if (gate.limit === UNLIMITED && !gate.paused) return Number.POSITIVE_INFINITY;
  return gate.paused || gate.limit === null ? 0 : Math.floor(gate.limit / slots);
}
