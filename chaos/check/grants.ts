/**
 * C1, the grant sweep: recorded grants never exceed the limit in force. It walks the audit in commit order.
 * At every grant, it adds up all claims that count at each gate and compares the sum with the limit at that
 * time.
 *
 * Why commit order is enough: a transaction that grants at a gate which can bind holds the gate's row, and so
 * does one that changes the limit. Of two grants at one gate, the one committed later has seen the other, and
 * a release that is seen was committed before. So a sum that is too large here was too large in the database.
 * A claim whose session has ended, or whose own lease ran out before it started, does not count. Lowering a
 * limit evicts nobody, so only grants are checked.
 */
import type { Asks, Audited, Claim, Finding, LimitInForce } from "../history.ts";

export interface Sweep extends Finding {
  /** The limits at each gate when this claim was granted, by epoch. */
  readonly limitsAt: ReadonlyMap<number, Readonly<Record<string, number>>>;
  /** How often each gate was exactly full after a grant. */
  readonly full: ReadonlyMap<string, number>;
  readonly grants: number;
}

const UNLIMITED = -1;

/** The family of a gate of one value: `tag:tenant=*`, and `namespace:*` for every namespace. */
function familyOf(gate: string): string | undefined {
  if (gate.startsWith("namespace:")) return "namespace:*";
  const equals = gate.indexOf("=");
  return equals < 0 ? undefined : `${gate.slice(0, equals)}=*`;
}

/** A gate of one value has its family's limit until it has its own. */
function inForce(limits: ReadonlyMap<string, LimitInForce>, gate: string): LimitInForce | undefined {
  const own = limits.get(gate);
  const family = familyOf(gate);
  if (!own || own.capacity !== null || family === undefined) return own;
  const shared = limits.get(family);
  return shared && { capacity: shared.capacity, paused: own.paused || shared.paused };
}

/** Every run has its own gates, and its own window as the app says it. They are counted together. */
export function inKinds(full: ReadonlyMap<string, number>): Map<string, number> {
  const kinds = new Map<string, number>();
  for (const [gate, times] of full) {
    const kind = gate
      .replace(/^run:[^/]+\//, "run:…/")
      .replace(/^said window of .*/, "said window of …")
      .replace(/=.*/, "=…");
    kinds.set(kind, (kinds.get(kind) ?? 0) + times);
  }
  return kinds;
}

export function checkGrants(audit: readonly Audited[], lanes: ReadonlyMap<string, Asks>): Sweep {
  const claims = new Map<number, Claim>();
  const stopping = new Map<number, Claim>();
  const expires = new Map<string, number>();
  const limits = new Map<string, LimitInForce>();
  const limitsAt = new Map<number, Record<string, number>>();
  const full = new Map<string, number>();
  const violations: string[] = [];
  let grants = 0;

  const counts = ({ held, session, until }: Claim, now: number): boolean =>
    held && (expires.get(session) ?? 0) > now && (until === null || until > now);

  const heldAt = (gate: string, now: number): number => {
    let sum = 0;
    for (const claim of [...claims.values(), ...stopping.values()])
      if (counts(claim, now)) sum += lanes.get(claim.lane)?.[gate] ?? 0;
    return sum;
  };

  const granted = (claim: Claim & { stamp: number }): void => {
    grants += 1;
    const seen: Record<string, number> = {};
    for (const gate of Object.keys(lanes.get(claim.lane) ?? {})) {
      const limit = inForce(limits, gate);
      if (!limit || limit.capacity === null) {
        violations.push(
          `${claim.task} was granted at ${gate}, which has no limit set (epoch ${claim.epoch})`,
        );
        continue;
      }
      const { capacity, paused } = limit;
      seen[gate] = capacity === UNLIMITED ? Number.POSITIVE_INFINITY : capacity;
      if (paused)
        violations.push(`${claim.task} was granted at ${gate}, which is paused (epoch ${claim.epoch})`);
      if (capacity === UNLIMITED) continue;
      const held = heldAt(gate, claim.stamp);
      if (held > capacity)
        violations.push(
          `${gate} ${held}/${capacity} after the grant of epoch ${claim.epoch} (${claim.task})`,
        );
      else if (held === capacity) full.set(gate, (full.get(gate) ?? 0) + 1);
    }
    limitsAt.set(claim.epoch, seen);
  };

  for (const event of audit) {
    switch (event.kind) {
      case "claim":
      case "change": {
        const before = claims.get(event.epoch)?.held ?? false;
        claims.set(event.epoch, event);
        if (event.held && !before) granted(event);
        break;
      }
      case "release":
        claims.delete(event.epoch);
        break;
      case "stopping":
        stopping.set(event.epoch, event);
        break;
      case "stopped":
        stopping.delete(event.epoch);
        break;
      case "session":
        expires.set(event.session, event.expires);
        break;
      case "sessionEnd":
        expires.delete(event.session);
        break;
      case "limit":
        limits.set(event.gate, event);
        break;
    }
  }
  const reached = [...inKinds(full)].map(([gate, times]) => `${gate} ${times}×`).join(", ");
  return {
    check: "C1 recorded grants",
    figures: `${grants} grants; full: ${reached || "never"}`,
    violations,
    limitsAt,
    full,
    grants,
  };
}
