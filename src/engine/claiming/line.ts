/** A whole line through the same `admit` as the pass: who would start now, and why each of the others does not. */
import type { Plan } from "../../core/gate/admit.ts";
import { admit } from "../../core/gate/admit.ts";
import type { Gate, Limit } from "../../core/gate/gate.ts";
import { familyOf } from "../../core/gate/key.ts";
import type { LineView } from "../../store/store.ts";
import { everyGate, waitersOf, workersOf } from "./snapshot.ts";

/** Limits to think of instead of those in force. */
export type Supposed = ReadonlyMap<string, Limit>;

export function planOf(view: LineView, supposed: Supposed = new Map()): Plan {
  const aside = new Set(view.aside.map(({ id }) => id));
  const lanes = new Map(view.lanes.flatMap((lane) => (aside.has(lane.id) ? [] : [[lane.id, lane]])));
  const standing = [...lanes.values()].map((lane) => ({
    lane,
    units: view.heads.filter((head) => head.lane === lane.id),
    cut: false,
  }));
  return admit({
    now: view.now,
    gates: everyGate(
      view,
      view.lanes.map(({ asks }) => asks),
    ).map((gate) => suppose(gate, supposed)),
    line: waitersOf(standing, view.sessions),
    workers: workersOf(view.sessions, view.usage),
  });
}

/** A limit that is supposed for each value holds for those that have none of their own. */
function suppose(gate: Gate, supposed: Supposed): Gate {
  const limit = supposed.get(gate.key) ?? supposed.get(familyOf(gate.key) ?? "");
  return limit === undefined ? gate : { ...gate, limit, paused: false };
}
