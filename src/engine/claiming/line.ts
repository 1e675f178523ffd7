/** A whole line through the same `admit` as the pass: who would start now, and why each of the others does not. */
import type { Plan } from "../../core/gate/admit.ts";
import { admit } from "../../core/gate/admit.ts";
import type { Gate, Limit } from "../../core/gate/gate.ts";
import { familyOf } from "../../core/gate/key.ts";
import { bornAs } from "../../core/gate/kind.ts";
import { asksOf } from "../../store/lane.ts";
import type { LineView } from "../../store/store.ts";
import { gatesOf, waitersOf, workersOf } from "./snapshot.ts";

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
    gates: everyGate(view).map((gate) => suppose(gate, supposed)),
    line: waitersOf(standing, view.sessions),
    workers: workersOf(view.sessions, view.usage),
  });
}

/** Those, too, that come into being with the next pass. */
function everyGate(view: LineView): Gate[] {
  const known = gatesOf(view.gates, view.usage);
  const byKey = new Map(known.map((gate) => [gate.key, gate]));
  const asked = new Set(view.lanes.flatMap(({ asks }) => asksOf(asks).map(({ gate }) => gate)));
  const unborn = [...asked].filter((key) => !byKey.has(key));
  return [
    ...known,
    ...unborn.map((key) => {
      const { line, limit } = bornAs(key);
      const family = byKey.get(familyOf(key) ?? "");
      return { key, limit: family?.limit ?? limit, paused: family?.paused ?? false, line, held: 0 };
    }),
  ];
}

/** A limit that is supposed for each value holds for those that have none of their own. */
function suppose(gate: Gate, supposed: Supposed): Gate {
  const limit = supposed.get(gate.key) ?? supposed.get(familyOf(gate.key) ?? "");
  return limit === undefined ? gate : { ...gate, limit, paused: false };
}
