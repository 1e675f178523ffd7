/**
 * Which parked lanes the next pass looks at, with all their gates locked. A lane is not opened for that: it stays parked
 * until it is decided, so a look that comes to nothing leaves no trace.
 */
import type { Plan } from "../../core/gate/admit.ts";
import { room } from "../../core/gate/gate.ts";
import { isWholeLine } from "../../core/gate/kind.ts";
import { compare } from "../../core/gate/order.ts";
import type { Reason } from "../../core/gate/reason.ts";
import { asksOf } from "../../store/lane.ts";
import { slotsAt } from "../../store/parked.ts";
import type { LaneMove, LaneRow, View } from "../../store/store.ts";
import { heldPerGate } from "../../store/usage.ts";
import { serving } from "./serving.ts";
import type { Standing } from "./snapshot.ts";
import { placeOf } from "./snapshot.ts";

interface Outcome {
  readonly view: View;
  readonly standing: readonly Standing[];
  readonly plan: Plan;
  /** Units that left the line in this pass. */
  readonly gone: ReadonlySet<string>;
  readonly moves: readonly LaneMove[];
}

/**
 * In their order, no more than slots are left at the gate; and those for whom a line keeps slots, before somebody overtakes
 * them unseen. Who waits for the whole line to move, or for a worker, is not looked at while others in sight wait for just
 * that and could take the slots.
 */
export function nextOf(outcome: Outcome): LaneRow[] {
  const { view, plan } = outcome;
  const free = new Map(plan.free);
  const ready = inSight(outcome);
  const front = frontAt(view);
  const line = [...undecided(outcome), ...(view.parked ?? [])].sort((a, b) =>
    compare(placeOf(a), placeOf(b)),
  );
  return line.filter((lane) => {
    const gate = lane.parked ?? "";
    const slots = slotsAt(lane, gate);
    const left = free.get(gate) ?? 0;
    // Whoever was passed over for its sake is waiting for it to be looked at.
    if (plan.unseen.has(gate)) return true;
    if (left < slots) return left > 0 && front(gate, slots);
    const isSpokenFor = (hold: string): boolean =>
      (ready.get(hold)?.get(gate) ?? 0) >= (plan.free.get(gate) ?? 0);
    if (holdsOf(lane, view).some(isSpokenFor)) return false;
    free.set(gate, left - slots);
    return true;
  });
}

/**
 * Gates of which this pass has taken, and not all: their lists were cut for what was free before, so they may not show who
 * fits into the rest. Only after something was taken, so this comes to an end.
 */
export function againOf({ view, standing, plan, gone }: Outcome): string[] {
  const taking = standing.filter(({ units }) => units.some(({ id }) => gone.has(id)));
  const taken = new Set(taking.flatMap(({ lane }) => asksOf(lane.asks).map(({ gate }) => gate)));
  const cut = new Set((view.hidden ?? []).flatMap(({ parked }) => parked ?? []));
  return [...cut].filter((gate) => taken.has(gate) && (plan.free.get(gate) ?? 0) > 0);
}

/** Parked lanes that were named, and stay parked where there is room: somebody is to come before them, but has not yet. */
const undecided = ({ standing, moves }: Outcome): LaneRow[] => {
  const moved = new Map(moves.map((move) => [move.lane, move.parked]));
  return standing.flatMap(({ lane }) =>
    lane.state === "parked" && (!moved.has(lane.id) || moved.get(lane.id) === lane.parked) ? [lane] : [],
  );
};

/** Slots that lanes in sight would take if only the whole line moved, or a worker were free, by what they wait for. */
function inSight({ view, standing, plan, gone }: Outcome): Map<string, Map<string, number>> {
  const ready = new Map<string, Map<string, number>>();
  for (const { lane, units } of standing) {
    const first = units.find(({ id }) => !gone.has(id));
    const reasons = first && plan.waiting.get(first.id);
    if (!reasons?.every(isOfAll)) continue;
    for (const hold of reasons.map((reason) => holdOf(reason, lane, view))) {
      const slots = ready.get(hold) ?? new Map<string, number>();
      ready.set(hold, slots);
      for (const ask of asksOf(lane.asks)) slots.set(ask.gate, (slots.get(ask.gate) ?? 0) + ask.slots);
    }
  }
  return ready;
}

const isOfAll = (reason: Reason): boolean =>
  isForWorkers(reason) || ("gate" in reason && isWholeLine(reason.gate));

const isForWorkers = ({ kind }: Reason): boolean => kind === "busy" || kind === "noWorker";

/** What holds up more than this lane: a gate of the whole line, or those who serve it. */
const holdOf = (reason: Reason, lane: LaneRow, view: View): string =>
  "gate" in reason ? reason.gate : servedBy(lane, view);

const holdsOf = (lane: LaneRow, view: View): string[] => [
  servedBy(lane, view),
  ...asksOf(lane.asks).flatMap(({ gate }) => (isWholeLine(gate) ? [gate] : [])),
];

const servedBy = (lane: LaneRow, { sessions }: View): string => `workers ${serving(sessions, lane)}`;

/** Whether a line keeps slots for somebody who waits for more than are free. */
function frontAt(view: View): (gate: string, slots: number) => boolean {
  const held = heldPerGate(view.usage);
  const rows = new Map(view.gates.map((row) => [row.key, row]));
  return (gate, slots) => {
    const row = rows.get(gate);
    return row !== undefined && row.line !== "skip" && room(row, held.get(gate) ?? 0) < slots;
  };
}
