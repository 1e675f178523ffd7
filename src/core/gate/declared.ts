/**
 * The declarations of apps about one gate. If several apps declare the same gate, the strictest limit
 * applies. The value in force follows it until an operator, or plain SQL, sets another one.
 */
import type { Limit, Line } from "./gate.ts";
import { UNLIMITED } from "./gate.ts";
import type { Born } from "./kind.ts";

/**
 * The declaration of one app. A limit of null declares none: an app may only name a queue, or give it a rank.
 */
export interface Said {
  readonly limit: Limit;
  readonly line: Line;
  readonly leaseMs: number | null;
}

/** The smaller limit. An absent or unlimited one gives way to a number. */
export function stricter(one: Limit, other: Limit): Limit {
  if (one === null || other === null) return one ?? other;
  if (one === UNLIMITED || other === UNLIMITED) return Math.max(one, other);
  return Math.min(one, other);
}

const STRICTNESS: readonly Line[] = ["skip", "bypass", "strict"];

/** The declarations combined. A gate that no app declares has the default of its kind. */
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

/**
 * The lowest rank that an app declares, so a queue is served as early as any app needs. Null if no app
 * declares one.
 */
export function firstRank(ranks: readonly (number | null)[]): number | null {
  const said = ranks.flatMap((rank) => rank ?? []);
  return said.length > 0 ? Math.min(...said) : null;
}

/** The values in force at a gate, and the declared ones to go back to. */
export interface InForce {
  readonly capacity: Limit;
  readonly declared: Limit;
  readonly leaseMs: number | null;
  readonly leaseDeclared: number | null;
  readonly setBy: string | null;
}

/** True if the value in force is the gate's own: set by an operator, or changed by plain SQL. */
export function isOwn({
  capacity,
  declared,
  setBy,
}: Pick<InForce, "capacity" | "declared" | "setBy">): boolean {
  return capacity !== null && (setBy !== null || capacity !== declared);
}

/** `dated` is true if this changes the value, or if the apps now declare the value that plain SQL had set. */
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
