/**
 * Applies the same `admit` as the pass to a page of a line: which units would start now, and why the others
 * would not.
 */
import type { Plan, Snapshot, Waiter } from "../../core/gate/admit.ts";
import { admit } from "../../core/gate/admit.ts";
import { Explainer } from "../../core/gate/explain.ts";
import type { Gate, Limit } from "../../core/gate/gate.ts";
import { familyOf } from "../../core/gate/key.ts";
import { inOrder } from "../../core/gate/order.ts";
import type { Reason } from "../../core/gate/reason.ts";
import { asksOf } from "../../store/lane.ts";
import type { HeadRow, LineView } from "../../store/store.ts";
import { attending } from "./serving.ts";
import { everyGate, waitersOf, workersOf } from "./snapshot.ts";
import { asideReason } from "./wait.ts";

/** Limits to assume instead of those in force. */
type Supposed = ReadonlyMap<string, Limit>;

export function planOf(view: LineView, supposed: Supposed = new Map()): Plan {
  return admit(snapshotOf(view, view.heads, supposed));
}

/**
 * Tells of a unit of the page why it waits. Empty for a unit that starts in the next pass. A page is long work,
 * so the caller decides when the next unit is its turn.
 */
export function reasonsInLine(view: LineView): (head: HeadRow) => readonly Reason[] {
  const snapshot = snapshotOf(view, [...view.front, ...view.heads]);
  const counted = countAhead(view, snapshot.line);
  const explainer = new Explainer({ ...snapshot, line: counted });
  const aside = new Map(view.aside.map((row) => [row.id, asideReason(row)]));
  return ({ id, lane }) => {
    const found = aside.get(lane);
    return found ? [found] : explainer.reasonsOf(id);
  };
}

function snapshotOf(view: LineView, units: readonly HeadRow[], supposed: Supposed = new Map()): Snapshot {
  // No pass looks at lanes that were set aside, and nothing waits behind them.
  const aside = new Set(view.aside.map(({ id }) => id));
  const lanes = view.lanes.filter(({ id }) => !aside.has(id));
  const perLane = new Map<string, HeadRow[]>(lanes.map(({ id }) => [id, []]));
  for (const unit of units) {
    if (unit.goodUntil === null || unit.goodUntil > view.now) perLane.get(unit.lane)?.push(unit);
  }
  const standing = lanes.map((lane) => ({ lane, units: perLane.get(lane.id) ?? [], cut: false }));
  return {
    now: view.now,
    gates: everyGate(
      view,
      lanes.map(({ asks }) => asks),
    ).map((gate) => suppose(gate, supposed)),
    line: waitersOf(standing, view.sessions, attending),
    workers: workersOf(view.sessions, view.usage),
  };
}

/** Counts the units ahead of each unit of the page at each of its gates, both before the page and in it. */
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

/** A limit assumed for each value applies to the values that have no assumed limit of their own. */
function suppose(gate: Gate, supposed: Supposed): Gate {
  const limit = supposed.get(gate.key) ?? supposed.get(familyOf(gate.key) ?? "");
  return limit === undefined ? gate : { ...gate, limit, paused: false };
}
