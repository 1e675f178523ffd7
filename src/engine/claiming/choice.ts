/**
 * The choice of one pass: which of the admitted units this claimer starts now, and which units it claims
 * ahead of time.
 */
import type { Plan, Waiter } from "../../core/gate/admit.ts";
import { ClaimBudget } from "../../core/gate/claim-budget.ts";
import type { Ask, Gate } from "../../core/gate/gate.ts";
import { obstacle } from "../../core/gate/gate.ts";
import { inOrder } from "../../core/gate/order.ts";
import { fairTake, isFair } from "../../core/gate/share.ts";
import type { GateWorker } from "../../core/gate/workers.ts";
import type { Scope, Usage } from "../../store/store.ts";
import type { Report, Seat } from "./claims.ts";
import type { Picture } from "./picture.ts";

export interface Choice {
  /** How many of the admitted units this claimer takes. It leaves the others to other workers. */
  readonly take: number;
  /** Units claimed and started now. */
  readonly now: readonly Waiter[];
  /** Units claimed earlier and started now. */
  readonly start: readonly { readonly id: string; readonly epoch: number }[];
  /** Units claimed now that start when they get their slots. */
  readonly ahead: readonly string[];
  /** After this pass, the claimer has no more than its fair part of gates that bind. */
  readonly fair: boolean;
}

export function choose(picture: Picture, plan: Plan, scope: Scope, seat: Seat, report: Report): Choice {
  const { view, snapshot } = picture;
  const { line, gates, workers, me } = snapshot;
  const scarce = isScarce(plan, line, gates);
  const take = taken(plan, workers, me, report.ownTurn || !scarce);
  const prefetched = new Map(view.prefetched.map((row) => [row.id, row.epoch]));
  const begun = plan.admitted.slice(0, take);
  const now = begun.filter(({ id }) => !prefetched.has(id));
  const start = begun.flatMap(({ id }) => {
    const epoch = prefetched.get(id);
    return epoch === undefined ? [] : [{ id, epoch }];
  });
  const further = seat.prefetch - claimedAhead(view.usage, scope.session) + start.length;
  const budget = new ClaimBudget({ inAll: report.claims, perQueue: seat.claimBatch });
  for (const { queue = "" } of now) budget.spend(queue);
  const isIdle = me < 0 || report.draining;
  const ahead = isIdle ? [] : aheadOfTime(plan, line, new Set(begun), further, budget, me);
  const fair = !scarce || isFairOf(plan, snapshot, take);
  return { take, now, start, ahead, fair };
}

/** Unlike `taken`, this also counts workers that serve only units that wait. */
function isFairOf(plan: Plan, { line, workers, me }: Picture["snapshot"], take: number): boolean {
  const mine = workers[me];
  if (!mine) return false;
  // The units of one lane share one array of workers.
  const serving = new Set([...new Set(line.map((unit) => unit.workers))].flatMap((some) => some ?? []));
  const hungry = workers.filter(
    (worker, index) => index !== me && serving.has(index) && worker.slots > worker.used,
  );
  return isFair({ wanted: plan.admitted.length, left: plan.left.length, me: mine, hungry }, take);
}

function taken(plan: Plan, workers: readonly GateWorker[], me: number, all: boolean): number {
  const wanted = plan.admitted.length;
  const mine = workers[me];
  if (!mine || wanted === 0 || all) return wanted;
  const serving = new Set(plan.admitted.flatMap((unit) => unit.workers ?? []));
  const hungry = workers.filter(
    (worker, index) => index !== me && serving.has(index) && worker.slots > worker.used,
  );
  return fairTake({ wanted, left: plan.left.length, me: mine, hungry });
}

/** True if units wait because gates bind, not because work or workers have run out. */
function isScarce(plan: Plan, line: readonly Waiter[], doors: readonly Gate[]): boolean {
  for (const reasons of plan.waiting.values()) {
    if (reasons.some(({ kind }) => kind === "full" || kind === "behind")) return true;
  }
  // The last unit shown of a lane is not decided, but whether a gate is full for it can still be seen.
  const gates = new Map(doors.map((gate) => [gate.key, gate]));
  const isFull = ({ gate, slots }: Ask): boolean => {
    const door = gates.get(gate);
    return door !== undefined && obstacle(door, plan.held.get(gate) ?? door.held, 0, slots) === "full";
  };
  return line.some(({ frontier, asks }) => frontier && asks.some(isFull));
}

/** Our claims that have not started, including those this look does not show. */
function claimedAhead(usage: readonly Usage[], session: string): number {
  const ours = usage.filter((row) => row.session === session && !row.held && !row.lost);
  return ours.reduce((sum, { units }) => sum + units, 0);
}

/** With prefetch: the next units in order that we could run, to be claimed before they have their slots. */
function aheadOfTime(
  plan: Plan,
  line: readonly Waiter[],
  now: ReadonlySet<Waiter>,
  further: number,
  budget: ClaimBudget,
  me: number,
): string[] {
  if (further <= 0) return [];
  const mayComeSoon = (unit: Waiter): boolean =>
    (plan.waiting.get(unit.id) ?? []).every(
      ({ kind }) => kind === "full" || kind === "behind" || kind === "busy",
    );
  const ids: string[] = [];
  for (const unit of inOrder(line)) {
    if (ids.length >= further) break;
    if (now.has(unit) || unit.claimed || !unit.workers?.includes(me) || !mayComeSoon(unit)) continue;
    if (!budget.allows(unit.queue ?? "")) continue;
    budget.spend(unit.queue ?? "");
    ids.push(unit.id);
  }
  return ids;
}
