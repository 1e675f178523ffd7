/**
 * A gate of one value ("pool:tenant=acme") belongs to a family ("pool:tenant=*"). Every matching limit
 * applies: an app's limit for the value is added to the family's, and the stricter one binds. Only an
 * operator or plain SQL can replace the family's limit for one value. A namespace's own limit always replaces it. The family's lease applies until the
 * gate has its own, the family's line is the gate's line, and pausing the family pauses all of its gates.
 */
import { isOwn, stricter } from "../core/gate/declared.ts";
import type { Limit, Line } from "../core/gate/gate.ts";
import { familyOf } from "../core/gate/key.ts";
import { replacesFamily, undeclared } from "../core/gate/kind.ts";

export interface Inherited {
  readonly limit: Limit;
  readonly paused: boolean;
  readonly line: Line;
  readonly leaseMs: number | null;
}

/** The gate's own row. */
export interface Own extends Inherited {
  readonly declared: Limit;
  readonly setBy: string | null;
}

export function inherit(key: string, own: Own, family: Own | undefined): Inherited {
  const { limit, paused, line, leaseMs } = own;
  if (!family) return { limit, paused, line, leaseMs };
  return {
    limit: replaces(key, own) ? limit : stricter(limit, family.limit),
    paused: paused || family.paused,
    line: family.line,
    leaseMs: leaseMs ?? family.leaseMs,
  };
}

/**
 * The limit that a change of a declaration names. A gate of one value without a limit of its own has that of its
 * family.
 */
export function ownOrFamilys(key: string, own: Limit, limitOf: (family: string) => Limit | undefined): Limit {
  const family = familyOf(key);
  if (own !== null || family === null) return own;
  const limit = limitOf(family);
  return limit === undefined ? undeclared(family).limit : limit;
}

/** Whether the family's limit per value binds, and not the gate's own. */
export function bindsPerValue(key: string, own: Own, family: Own | undefined): boolean {
  return family !== undefined && family.limit !== null && inherit(key, own, family).limit !== own.limit;
}

const replaces = (key: string, { limit, declared, setBy }: Own): boolean =>
  isOwn({ capacity: limit, declared, setBy }) || (limit !== null && replacesFamily(key));
