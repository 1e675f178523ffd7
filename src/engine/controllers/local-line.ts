/**
 * Which units would be admitted by this engine if they had their shared locks. The gate of each of them is
 * closed, and a unit at a closed gate stands in no line and takes nothing. So one walk of the line answers
 * for all of them.
 */
import type { Plan, Snapshot } from "../../core/gate/admit.ts";
import { admit } from "../../core/gate/admit.ts";
import type { Reason } from "../../core/gate/reason.ts";
import { sharedGate } from "../../core/shared/lock.ts";
import type { HeadRow, LaneRow, LineView, Store } from "../../store/store.ts";
import { RUN_QUEUES } from "../../store/store.ts";
import { attending } from "../claiming/serving.ts";
import { everyGate, waitersOf, workersOf } from "../claiming/snapshot.ts";
import { hurdlesOf } from "../claiming/wait.ts";

/** The most runs in line that are looked at. */
const MOST = 5_000;

export async function localLine(store: Pick<Store, "line">): Promise<Snapshot> {
  const views = await Promise.all(RUN_QUEUES.map((queue) => store.line(queue, MOST)));
  return snapshotOf(views as [LineView, ...LineView[]]);
}

/** The queues of runs as one line: all of them ask for the same gates. */
function snapshotOf([first, ...others]: readonly [LineView, ...LineView[]]): Snapshot {
  const views = [first, ...others];
  const lanes = new Map<string, LaneRow>(views.flatMap((view) => view.lanes.map((lane) => [lane.id, lane])));
  const heads = new Map<string, HeadRow[]>();
  for (const head of views.flatMap((view) => view.heads))
    heads.set(head.lane, [...(heads.get(head.lane) ?? []), head]);
  const standing = [...lanes.values()].map((lane) => ({ lane, units: heads.get(lane.id) ?? [], cut: false }));
  return {
    now: first.now,
    gates: everyGate(
      first,
      [...lanes.values()].map(({ asks }) => asks),
    ),
    line: waitersOf(standing, first.sessions, attending),
    workers: workersOf(first.sessions, first.usage),
  };
}

/** Units that wait for nothing but their shared locks. */
export function wanting(line: Snapshot, units: readonly string[]): Set<string> {
  const { waiting } = admit(line);
  return new Set(units.filter((unit) => isOnlyHurdle(waiting.get(unit), unit)));
}

/** Those of the units that would be admitted together. */
export function together(line: Snapshot, units: readonly string[]): string[] {
  const opened = new Set(units.map(sharedGate));
  const gates = [...line.gates].map((gate) => (opened.has(gate.key) ? { ...gate, limit: 1 } : gate));
  const { admitted, left }: Plan = admit({ ...line, gates });
  const started = new Set([...admitted, ...left].map(({ id }) => id));
  return units.filter((unit) => started.has(unit));
}

const isOnlyHurdle = (reasons: readonly Reason[] | undefined, unit: string): boolean =>
  reasons?.length === 1 && isOwn(reasons[0], unit);

const isOwn = (reason: Reason | undefined, unit: string): boolean =>
  reason !== undefined && "gate" in reason && reason.gate === sharedGate(unit);

/**
 * Whether nothing but its shared locks holds a unit back at this moment. This looks at everything that
 * competes with it, tasks too.
 */
export async function isReady(store: Pick<Store, "wait">, unit: string): Promise<boolean> {
  const view = await store.wait(unit);
  if (view?.task.state !== "waiting" || view.aside) return false;
  return hurdlesOf(view).every((reason) => isOwn(reason, unit));
}
