/**
 * Gates of one value ("pool:tenant=acme") live in a family ("pool:tenant=*"). Every limit that matches holds: what apps
 * declare for the value is one more limit beside the family's, and the stricter one binds. Only an operator, or plain
 * SQL, who sets the limit of one value replaces the family's there. The family's lease holds until the gate has its own,
 * the family's line is the gate's line, and a paused family pauses all of them.
 */
import { isOwn, stricter } from "../core/gate/declared.ts";
import type { Limit, Line } from "../core/gate/gate.ts";

export interface Inherited {
  readonly limit: Limit;
  readonly paused: boolean;
  readonly line: Line;
  readonly leaseMs: number | null;
}

/** What a gate's own row says. */
export interface Own extends Inherited {
  readonly declared: Limit;
  readonly setBy: string | null;
}

export function inherit(own: Own, family: Own | undefined): Inherited {
  const { limit, paused, line, leaseMs } = own;
  if (!family) return { limit, paused, line, leaseMs };
  return {
    limit: replaces(own) ? limit : stricter(limit, family.limit),
    paused: paused || family.paused,
    line: family.line,
    leaseMs: leaseMs ?? family.leaseMs,
  };
}

/** Whether the limit that binds is the one of each value, not the gate's own. */
export function bindsPerValue(own: Own, family: Own | undefined): boolean {
  return family !== undefined && family.limit !== null && inherit(own, family).limit !== own.limit;
}

const replaces = ({ limit, declared, setBy }: Own): boolean => isOwn({ capacity: limit, declared, setBy });
