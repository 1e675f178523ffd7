/**
 * Chooses the parked lanes that the next pass looks at, with all their gates locked. A lane stays parked
 * until it is decided, so a look without a result changes nothing.
 */
import type { Plan } from "../../core/gate/admit.ts";
import { lineOf, room } from "../../core/gate/gate.ts";
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
 * Takes parked lanes in order, as many as fit into the slots left at their gate. It also takes lanes for
 * which a line keeps slots, so that others do not overtake them unseen. It leaves out a lane that is held up
 * by the whole line or by its workers, if lanes in sight wait for the same thing and could take the slots.
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
    // Units were passed over because of this lane. They wait until a pass has looked at it.
    if (plan.unseen.has(gate)) return true;
    if (left < slots) return left > 0 && front(lane, slots);
    const isSpokenFor = (hold: string): boolean =>
      (ready.get(hold)?.get(gate) ?? 0) >= (plan.free.get(gate) ?? 0);
    if (holdsOf(lane, view).some(isSpokenFor)) return false;
    free.set(gate, left - slots);
    return true;
  });
}

/**
 * Gates where this pass took some of the free slots, but not all. The lists of lanes parked there were cut to
 * the slots that were free before, so a lane that fits into the rest may be missing. Another look requires
 * that slots were taken, so the looks come to an end.
 */
export function againOf({ view, standing, plan, gone }: Outcome): string[] {
  const taking = standing.filter(({ units }) => units.some(({ id }) => gone.has(id)));
  const taken = new Set(taking.flatMap(({ lane }) => asksOf(lane.asks).map(({ gate }) => gate)));
  const cut = new Set((view.hidden ?? []).flatMap(({ parked }) => parked ?? []));
  return [...cut].filter((gate) => taken.has(gate) && (plan.free.get(gate) ?? 0) > 0);
}

/**
 * Parked lanes that this pass looked at and that stay parked although there is room, because a unit ahead of
 * them has not started yet.
 */
const undecided = ({ standing, moves }: Outcome): LaneRow[] => {
  const moved = new Map(moves.map((move) => [move.lane, move.parked]));
  return standing.flatMap(({ lane }) =>
    lane.state === "parked" && (!moved.has(lane.id) || moved.get(lane.id) === lane.parked) ? [lane] : [],
  );
};

/**
 * The slots that lanes in sight could take at each gate, by obstacle. Only lanes count that are held up by
 * nothing but gates of the whole line and busy or missing workers.
 */
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

/** Names an obstacle that holds up more than this lane: a gate of the whole line, or the workers that serve it. */
const holdOf = (reason: Reason, lane: LaneRow, view: View): string =>
  "gate" in reason ? reason.gate : servedBy(lane, view);

const holdsOf = (lane: LaneRow, view: View): string[] => [
  servedBy(lane, view),
  ...asksOf(lane.asks).flatMap(({ gate }) => (isWholeLine(gate) ? [gate] : [])),
];

const servedBy = (lane: LaneRow, { sessions }: View): string => `workers ${serving(sessions, lane)}`;

/** Says whether a line keeps slots for a unit that needs more than are free. */
function frontAt(view: View): (lane: LaneRow, slots: number) => boolean {
  const held = heldPerGate(view.usage);
  const rows = new Map(view.gates.map((row) => [row.key, row]));
  return ({ asks, parked }, slots) => {
    const row = rows.get(parked ?? "");
    const ask = asksOf(asks).find(({ gate }) => gate === parked) ?? {};
    return row !== undefined && lineOf(ask, row) !== "skip" && room(row, held.get(row.key) ?? 0) < slots;
  };
}
