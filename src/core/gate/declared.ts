/**
 * What apps say of one gate. Each app speaks for itself; where several name one gate, the strictest of them holds. The
 * value in force follows that until an operator, or plain SQL, has set another one.
 */
import type { Limit, Line } from "./gate.ts";
import { UNLIMITED } from "./gate.ts";
import type { Born } from "./kind.ts";

/** One app's word. A limit of null says nothing of it: an app may only name a queue, or give it a rank. */
export interface Said {
  readonly limit: Limit;
  readonly line: Line;
  readonly leaseMs: number | null;
}

/** The smaller one; who says nothing, or "as many as want to", gives way to whoever names a number. */
export function stricter(one: Limit, other: Limit): Limit {
  if (one === null || other === null) return one ?? other;
  if (one === UNLIMITED || other === UNLIMITED) return Math.max(one, other);
  return Math.min(one, other);
}

const STRICTNESS: readonly Line[] = ["skip", "bypass", "strict"];

/** What all of them come to; a gate of which nobody says anything is as its kind is born. */
export function strictest(said: readonly Said[], born: Born): Said {
  const limits = said.filter(({ limit }) => limit !== null);
  if (limits.length === 0) return { ...born, leaseMs: null };
  const leases = limits.flatMap(({ leaseMs }) => leaseMs ?? []);
  return {
    limit: limits.map(({ limit }) => limit).reduce(stricter),
    leaseMs: leases.length > 0 ? Math.min(...leases) : null,
    line: STRICTNESS[Math.max(...limits.map(({ line }) => STRICTNESS.indexOf(line)))] as Line,
  };
}

/** A queue is served as early as the app that needs it most says; null where nobody says anything. */
export function firstRank(ranks: readonly (number | null)[]): number | null {
  const said = ranks.flatMap((rank) => rank ?? []);
  return said.length > 0 ? Math.min(...said) : null;
}

/** What is in force at a gate, and what it would go back to. */
export interface InForce {
  readonly capacity: Limit;
  readonly declared: Limit;
  readonly leaseMs: number | null;
  readonly leaseDeclared: number | null;
  readonly setBy: string | null;
}

/** Whether the value in force is the gate's own: set by an operator, or changed by plain SQL. */
export function isOwn({
  capacity,
  declared,
  setBy,
}: Pick<InForce, "capacity" | "declared" | "setBy">): boolean {
  return capacity !== null && (setBy !== null || capacity !== declared);
}

/** `dated`: the value changes with this, or the apps now say what was set behind their back. */
export function follow(
  known: InForce,
  { limit, leaseMs }: Said,
): Omit<InForce, "setBy"> & { dated: boolean } {
  const isFree = known.setBy === null;
  const follows = isFree && known.capacity === known.declared;
  const capacity = follows ? limit : known.capacity;
  const keepsLease = known.leaseMs !== null && known.leaseMs !== known.leaseDeclared;
  return {
    capacity,
    declared: limit,
    leaseMs: keepsLease ? known.leaseMs : leaseMs,
    leaseDeclared: leaseMs,
    dated: isFree && (capacity !== known.capacity || (!follows && limit !== null && capacity === limit)),
  };
}
