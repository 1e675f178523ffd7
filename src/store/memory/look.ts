/** The view of passes and explanations: usage, lanes, heads, sessions and lost claims. */
import { queueKey } from "../../core/gate/key.ts";
import { isWithin } from "../../core/number.ts";
import type { ParkedList } from "../parked.ts";
import type { HeadRow, LaneRow, LostRow, PrefetchedRow, SessionRow, Usage } from "../store.ts";
import type { LaneRecord, RunningRecord, Tables, WaitingRecord } from "./tables.ts";
import { headOf, inLine, negated } from "./tables.ts";

const LOST_AT_ONCE = 200;

/**
 * A claim no longer counts once its session has ended, its claim lease expired before it was started, or its
 * own lease expired.
 */
export function isLost(
  tables: Tables,
  now: number,
  { session, untilAt }: Pick<RunningRecord, "session" | "untilAt">,
): boolean {
  const holder = tables.session.get(session);
  return !holder || holder.expiresAt <= now || (untilAt !== null && untilAt <= now);
}

/**
 * If a pass takes away only some of the lost claims (`taken`), the others count until a later pass takes
 * them.
 */
export function usage(tables: Tables, now: number, taken?: readonly { readonly epoch: number }[]): Usage[] {
  const epochs = taken && new Set(taken.map(({ epoch }) => epoch));
  const found = new Map<string, Usage>();
  // Slots follow the code: if a unit has moved on, its slots are held until its code has ended.
  const stopping = tables.stopping.all().map((claim) => ({ ...claim, held: true }));
  for (const claim of [...tables.running.all(), ...stopping]) {
    const asks = tables.lane.get(claim.lane)?.asks;
    if (asks === undefined) continue;
    const { lane, session, held } = claim;
    const lost = isLost(tables, now, claim) && (epochs?.has(claim.epoch) ?? true);
    const key = [lane, session, Number(held), Number(lost)].join("\0");
    found.set(key, { lane, asks, session, held, lost, units: (found.get(key)?.units ?? 0) + 1 });
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

export function lost(tables: Tables, now: number): LostRow[] {
  const claims = tables.running
    .all()
    .filter((claim) => isLost(tables, now, claim) && !tables.aside.has(claim.lane));
  const first = claims.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, LOST_AT_ONCE);
  return first.map(({ id, epoch, lane, held, startedAt, attempt, losses, goodUntil }) => {
    // A claim with its slots may have begun even if its start was not reported yet.
    const started = held || startedAt !== null;
    const { options = "", input = null } = tables.task.get(id) ?? {};
    const seen = { options, input: options.includes('"onFailure"') ? input : null };
    return { id, epoch, lane, started, attempt, losses, goodUntil, ...seen };
  });
}

export function laneRow(tables: Tables, lane: LaneRecord): LaneRow {
  const { id, queue, task, asks, state, parked, stamp, blocked } = lane;
  const head = { priority: negated(lane.headPrecedence), at: lane.headAt, id: lane.headId };
  const mark =
    lane.markUnit === null ? null : { unit: lane.markUnit, passed: lane.markPassed, since: lane.markSince };
  return { id, queue, task, asks, rank: rankOf(tables, queue), state, parked, head, stamp, mark, blocked };
}

export const rankOf = (tables: Tables, queue: string): number => tables.queue.get(queue)?.queueRank ?? 100;

/** The ranks that apps declare for a queue. */
export const ranksOf = (tables: Tables, name: string): { app: string; rank: number }[] =>
  tables.declared
    .of(queueKey(name))
    .flatMap(({ app, queueRank }) => (queueRank === null ? [] : [{ app, rank: queueRank }]))
    .sort((a, b) => (a.app < b.app ? -1 : 1));

const byHead = (a: LaneRecord, b: LaneRecord): number => inLine(headOf(a), headOf(b));

export function lanesNamed(tables: Tables, ids: readonly string[]): LaneRow[] {
  const named = new Set(ids);
  return [...named].sort().flatMap((id) => {
    const lane = tables.lane.get(id);
    return lane ? [laneRow(tables, lane)] : [];
  });
}

/** The queues with lanes parked on this gate. */
export function parkedQueues(tables: Tables, gate: string): { gate: string; queue: string }[] {
  const queues = new Set(tables.lane.of(gate).map(({ queue }) => queue));
  return [...queues].sort().map((queue) => ({ gate, queue }));
}

/** The best lanes of each list: of one queue, parked on one gate, and asking it for as many slots as the list says. */
export function parkedOn(
  tables: Tables,
  lists: readonly ParkedList[],
  without: ReadonlySet<string>,
): LaneRow[] {
  return lists.flatMap(({ gate, queue, least, most, take }) =>
    tables.lane
      .of(gate)
      .filter(
        (lane) =>
          lane.queue === queue && isWithin(lane.parkedSlots, { least, most }) && !without.has(lane.id),
      )
      .sort(byHead)
      .slice(0, take)
      .map((lane) => laneRow(tables, lane)),
  );
}

/** The best open lanes of each queue, without those the pass already knows. */
export function openBeyond(
  tables: Tables,
  queues: readonly string[],
  without: ReadonlySet<string>,
  perQueue: number,
): LaneRow[] {
  const open = tables.lane.all().filter(({ id, state }) => state === "open" && !without.has(id));
  return queues.flatMap((queue) =>
    open
      .filter((lane) => lane.queue === queue)
      .sort(byHead)
      .slice(0, perQueue)
      .map((lane) => laneRow(tables, lane)),
  );
}

export function heads(tables: Tables, lanes: readonly { id: string; want: number }[]): HeadRow[] {
  return lanes.flatMap(({ id, want }) =>
    tables.lane.has(id) ? tables.waiting.of(id).sort(inLine).slice(0, want).map(headRow) : [],
  );
}

export const headRow = ({ id, lane, precedence, at, goodUntil }: WaitingRecord): HeadRow => ({
  id,
  lane,
  priority: negated(precedence),
  at,
  goodUntil,
});

export function prefetched(tables: Tables, now: number, session: string, perLane: number): PrefetchedRow[] {
  const shown = new Map<string, number>();
  return tables.running
    .all()
    .filter((claim) => claim.session === session && !claim.held && (claim.untilAt ?? 0) > now)
    .filter(({ goodUntil }) => goodUntil === null || goodUntil > now)
    .sort(inLine)
    .filter(({ lane }) => {
      const place = (shown.get(lane) ?? 0) + 1;
      shown.set(lane, place);
      return place <= perLane;
    })
    .map((claim) => ({ ...headRow(claim), epoch: claim.epoch }));
}

export function alive(tables: Tables, now: number): SessionRow[] {
  const sessions = tables.session.all().filter(({ expiresAt }) => expiresAt > now);
  return sessions.map(({ id, slots, serves }) => ({ id, slots, serves }));
}
