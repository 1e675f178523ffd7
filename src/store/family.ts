/**
 * Gates of one value ("pool:tenant=acme") live in a family ("pool:tenant=*"): the family's limit and lease hold
 * until the gate has its own, the family's line is the gate's line, and a paused family pauses all of them.
 */
import type { Limit, Line } from "../core/gate/gate.ts";

export interface Inherited {
  readonly limit: Limit;
  readonly paused: boolean;
  readonly line: Line;
  readonly leaseMs: number | null;
}

export function inherit(own: Inherited, family: Inherited | undefined): Inherited {
  if (!family) return own;
  return {
    limit: own.limit ?? family.limit,
    paused: own.paused || family.paused,
    line: family.line,
    leaseMs: own.leaseMs ?? family.leaseMs,
  };
}
