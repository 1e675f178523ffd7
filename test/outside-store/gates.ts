/**
 * The port of gates. Its caller passes in how much is held and which units ask, so it knows nothing of units.
 */
import type { EventKind, GatePort, GateState, Inherited, Limit, LimitChange } from "sluice/store";
import { bindsPerValue, bornAs, familyOf, inherit, makesGate, undeclared } from "sluice/store";
import type { GateRecord } from "./world.ts";

export interface Surroundings {
  readonly now: () => number;
  readonly rows: () => Map<string, GateRecord>;
  readonly heldPerGate: () => ReadonlyMap<string, number>;
  readonly isAsked: (key: string) => boolean;
  readonly tell: (key: string, kind: EventKind, data: string) => void;
}

const TOLD = {
  value: "LimitChanged",
  declared: "LimitReset",
  paused: "GatePaused",
  resumed: "GateResumed",
} as const;

const familyRow = (rows: ReadonlyMap<string, GateRecord>, key: string): GateRecord | undefined =>
  rows.get(familyOf(key) ?? "");

export const inForce = (rows: ReadonlyMap<string, GateRecord>, gate: GateRecord): Inherited =>
  inherit(gate.key, gate, familyRow(rows, gate.key));

export function newGate(key: string, { limit, line } = undeclared(key)): GateRecord {
  return { key, limit, declared: limit, line, paused: false, leaseMs: null, setBy: null, setAt: null };
}

/** Creates a gate, and its family, when a unit first asks for it. */
export function beget(rows: Map<string, GateRecord>, key: string): void {
  const family = familyOf(key);
  if (family !== null && !rows.has(family)) rows.set(family, newGate(family, bornAs(family)));
  if (!rows.has(key)) rows.set(key, newGate(key));
}

function changed(gate: GateRecord, now: number, change: LimitChange): GateRecord {
  if (change.to === "value") {
    const { limit, by, leaseMs = gate.leaseMs } = change;
    return { ...gate, limit, leaseMs, setBy: by, setAt: now };
  }
  if (change.to === "declared")
    return { ...gate, limit: gate.declared, leaseMs: null, setBy: null, setAt: now };
  return { ...gate, paused: change.to === "paused" };
}

export function gatePort({ now, rows, heldPerGate, isAsked, tell }: Surroundings): GatePort {
  const states = (): GateState[] => {
    const held = heldPerGate();
    return [...rows().values()]
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .map((gate) => ({
        ...gate,
        ...inForce(rows(), gate),
        perValue: bindsPerValue(gate.key, gate, familyRow(rows(), gate.key)),
        held: held.get(gate.key) ?? 0,
        said: [],
      }));
  };
  return {
    gates: async () => states(),
    limits: async (keys) => {
      const found = states().filter(({ key }) => keys.includes(key));
      return new Map<string, Limit>(found.map(({ key, limit }) => [key, limit]));
    },
    changeLimit: async (change) => {
      const before = rows().get(change.key);
      if (!before && !makesGate(change)) return undefined;
      const from = inForce(rows(), before ?? newGate(change.key)).limit;
      const gate = changed(before ?? newGate(change.key), now(), change);
      rows().set(change.key, gate);
      const { limit } = inForce(rows(), gate);
      tell(change.key, TOLD[change.to], JSON.stringify({ by: change.by, from, to: limit }));
      return { from, limit };
    },
    deleteGate: async (key) => {
      if (!rows().has(key)) return undefined;
      if (isAsked(key)) return { apps: [], isAsked: true };
      rows().delete(key);
      return null;
    },
  };
}
