/** The picture of one pass: turns rows of the store into the input of `admit`. */
import type { Snapshot, Waiter } from "../../core/gate/admit.ts";
import type { Gate } from "../../core/gate/gate.ts";
import type { GateWorker } from "../../core/gate/workers.ts";
import { asksOf } from "../../store/lane.ts";
import type { HeadRow, LaneRow, Scope, View } from "../../store/store.ts";
import type { Report, Seat } from "./claims.ts";
import { doesServe, MOST_FOREIGN } from "./serving.ts";
import type { Standing } from "./snapshot.ts";
import { gatesOf, hiddenFrom, horizonOf, isReadable, waitersOf, workersOf } from "./snapshot.ts";

/** A snapshot for `admit` in which the claimer is known and gates can be walked more than once. */
interface PassSnapshot extends Snapshot {
  readonly gates: readonly Gate[];
  readonly workers: readonly GateWorker[];
  readonly me: number;
}

export interface Picture {
  /** The rows that the store has shown, without the lanes that were set aside. */
  readonly view: View;
  readonly snapshot: PassSnapshot;
  readonly standing: readonly Standing[];
  /** Units that have expired. */
  readonly expire: readonly string[];
  /** Lanes that cannot be decided because their gates were not locked. */
  readonly unread: readonly LaneRow[];
}

export function pictureOf(seen: View, scope: Scope, seat: Seat, report: Report): Picture {
  const view = withoutAside(seen);
  const me = view.sessions.findIndex(({ id }) => id === scope.session);
  const gates = new Map(view.gates.map((gate) => [gate.key, gate]));
  const locked = new Set([...scope.exclusive, ...scope.shared]);
  const unread = view.lanes.filter((lane) => lane.state !== "idle" && !isReadable(lane, gates, locked));
  const { standing, expire } = stand(view, scope, new Set(unread.map(({ id }) => id)));
  const snapshot: PassSnapshot = {
    now: view.now,
    gates: withHidden(gatesOf(view.gates, view.usage), view),
    line: [...waitersOf(standing, view.sessions), ...prefetchedWaiters(view, standing, me)],
    workers: crewOf(view, me, seat, report),
    me,
    // Lanes beyond this look keep their turn. An unread lane without waiting units holds nothing up.
    horizon: horizonOf([
      ...unread.filter((lane) => view.heads.some((head) => head.lane === lane.id)),
      ...beyondOf(view, me),
    ]),
  };
  return { view, snapshot, standing, expire, unread };
}

/** All live workers. Our own report knows better than the store how many slots we use. */
function crewOf(view: View, me: number, seat: Seat, report: Report): GateWorker[] {
  return workersOf(view.sessions, view.usage).map((worker, index) =>
    index === me
      ? {
          ...worker,
          slots: report.draining ? 0 : seat.slots,
          used: report.active,
          appetite: report.appetite,
          claims: { inAll: report.claims, perQueue: seat.claimBatch },
        }
      : worker,
  );
}

/** Leaves out lanes that were set aside while we had them in sight. */
function withoutAside(view: View): View {
  if (view.lanes.every(({ state }) => state !== "aside")) return view;
  const lanes = view.lanes.filter(({ state }) => state !== "aside");
  const ids = new Set(lanes.map(({ id }) => id));
  return { ...view, lanes, heads: view.heads.filter(({ lane }) => ids.has(lane)) };
}

function withHidden(gates: readonly Gate[], view: View): Gate[] {
  const hidden = hiddenFrom(view, gates);
  return gates.map((gate) => ({ ...gate, hidden: hidden.get(gate.key) }));
}

/**
 * If there are very many lanes of other workers, the first of them stand for all, so that the others do not
 * hold up our own lanes.
 */
function beyondOf({ lanes, beyond, sessions }: View, me: number): readonly LaneRow[] {
  const isOurs = (lane: LaneRow): boolean => doesServe(sessions[me]?.serves ?? "{}", lane);
  if (me < 0 || lanes.filter((lane) => !isOurs(lane)).length < MOST_FOREIGN) return beyond;
  return beyond.filter(isOurs);
}

/** The units of each lane, without expired ones. */
function stand(
  view: View,
  scope: Scope,
  unread: ReadonlySet<string>,
): { standing: Standing[]; expire: string[] } {
  const want = new Map(scope.lanes.map(({ id, want: count }) => [id, count]));
  const heads = new Map<string, HeadRow[]>();
  for (const head of view.heads) {
    const list = heads.get(head.lane);
    if (list) list.push(head);
    else heads.set(head.lane, [head]);
  }
  const expire: string[] = [];
  const standing = view.lanes.flatMap((lane): Standing[] => {
    if (unread.has(lane.id)) return [];
    const all = heads.get(lane.id) ?? [];
    const units = all.filter(({ id, goodUntil }) => {
      const over = goodUntil !== null && goodUntil <= view.now;
      if (over) expire.push(id);
      return !over;
    });
    return [{ lane, units, cut: all.length >= (want.get(lane.id) ?? 2) }];
  });
  return { standing, expire };
}

/** Our prefetched claims wait for their slots at the place in line they always had. */
function prefetchedWaiters(view: View, standing: readonly Standing[], me: number): Waiter[] {
  const lanes = new Map(standing.map(({ lane }) => [lane.id, lane]));
  return view.prefetched.flatMap((row): Waiter[] => {
    const lane = lanes.get(row.lane);
    if (!lane || (row.goodUntil !== null && row.goodUntil <= view.now)) return [];
    const { id, priority, at } = row;
    return [
      {
        id,
        lane: `${lane.id}${CLAIMED}`,
        claimed: true,
        rank: lane.rank,
        priority,
        at,
        asks: asksOf(lane.asks),
        workers: [me],
      },
    ];
  });
}

/** Distinguishes the line of prefetched claims from the lane itself: they are no longer its head. */
const CLAIMED = "!";
