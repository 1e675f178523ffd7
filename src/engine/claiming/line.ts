/** A page of a line through the same `admit` as the pass: who would start now, and why each of the others does not. */
import type { Plan, Snapshot, Waiter } from "../../core/gate/admit.ts";
import { admit } from "../../core/gate/admit.ts";
import { Explainer } from "../../core/gate/explain.ts";
import type { Gate, Limit } from "../../core/gate/gate.ts";
import { familyOf } from "../../core/gate/key.ts";
import { bornAs } from "../../core/gate/kind.ts";
import { inOrder } from "../../core/gate/order.ts";
import type { Reason } from "../../core/gate/reason.ts";
import { asksOf } from "../../store/lane.ts";
import type { GateInfo, HeadRow, LineView, Usage } from "../../store/store.ts";
import { attending } from "./serving.ts";
import { gatesOf, waitersOf, workersOf } from "./snapshot.ts";

/** Limits to think of instead of those in force. */
export type Supposed = ReadonlyMap<string, Limit>;

export function planOf(view: LineView, supposed: Supposed = new Map()): Plan {
  return admit(snapshotOf(view, view.heads, supposed));
}

/** Why each unit of the page waits; nothing where it starts with the next pass. */
export function reasonsInLine(view: LineView): ReadonlyMap<string, readonly Reason[]> {
  const snapshot = snapshotOf(view, [...view.front, ...view.heads]);
  const counted = countAhead(view, snapshot.line);
  const explainer = new Explainer({ ...snapshot, line: counted });
  return new Map(view.heads.map(({ id }) => [id, explainer.reasonsOf(id)]));
}

function snapshotOf(view: LineView, units: readonly HeadRow[], supposed: Supposed = new Map()): Snapshot {
  const perLane = new Map<string, HeadRow[]>(view.lanes.map(({ id }) => [id, []]));
  for (const unit of units) {
    if (unit.goodUntil === null || unit.goodUntil > view.now) perLane.get(unit.lane)?.push(unit);
  }
  const standing = view.lanes.map((lane) => ({ lane, units: perLane.get(lane.id) ?? [], cut: false }));
  return {
    now: view.now,
    gates: everyGate(view).map((gate) => suppose(gate, supposed)),
    line: waitersOf(standing, view.sessions, attending),
    workers: workersOf(view.sessions, view.usage),
  };
}

/** How many stand ahead of each unit of the page at each of its gates: those ahead of the page, and those in it. */
function countAhead(view: LineView, line: readonly Waiter[]): Waiter[] {
  const ahead = new Map<string, number>();
  const count = (gate: string, units: number) => ahead.set(gate, (ahead.get(gate) ?? 0) + units);
  for (const { asks, units } of view.ahead) for (const { gate } of asksOf(asks)) count(gate, units);
  const isInPage = new Set(view.heads.map(({ id }) => id));
  return inOrder(line).map((unit) => {
    if (!isInPage.has(unit.id)) return unit;
    const own = Object.fromEntries(unit.asks.map(({ gate }) => [gate, ahead.get(gate) ?? 0]));
    for (const { gate } of unit.asks) count(gate, 1);
    return { ...unit, ahead: own };
  });
}

/** Those, too, that come into being with the next pass. */
export function everyGate(view: {
  readonly gates: readonly GateInfo[];
  readonly usage: readonly Usage[];
  readonly lanes: readonly { readonly asks: string }[];
  readonly task?: { readonly asks: string };
}): Gate[] {
  const known = gatesOf(view.gates, view.usage);
  const byKey = new Map(known.map((gate) => [gate.key, gate]));
  const asking = view.task ? [...view.lanes, view.task] : view.lanes;
  const asked = new Set(asking.flatMap(({ asks }) => asksOf(asks).map(({ gate }) => gate)));
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
