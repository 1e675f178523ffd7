/** Waiting units become claims, and claims begin. */
import type { Claimed, Moves } from "../store.ts";
import type { RunningRecord, Tables } from "./tables.ts";
import { inLine } from "./tables.ts";

export interface Held {
  readonly id: string;
  readonly epoch: number;
}

export interface Claimer {
  readonly session: string;
  readonly leaseMs: number;
}

/** Those that take their slots now come before those that are claimed ahead of time. */
export function claim(tables: Tables, now: number, units: Moves["claim"], claimer: Claimer): Claimed[] {
  return [true, false].flatMap((held) => {
    const ids = new Set(units.filter((unit) => unit.held === held).map(({ id }) => id));
    const waiting = [...ids].flatMap((id) => tables.waiting.get(id) ?? []).sort(inLine);
    return waiting.map((unit) => {
      const { session, leaseMs } = claimer;
      const row: RunningRecord = {
        ...unit,
        epoch: tables.nextEpoch(),
        session,
        held,
        untilAt: now + leaseMs,
        claimedAt: now,
        claimedN: unit.n + 1,
        startedAt: null,
        progress: null,
        // An attempt is counted here, so that a task that kills its worker cannot do so for ever.
        attempt: unit.attempt + 1,
        n: unit.n + 1,
      };
      tables.waiting.delete(unit.id);
      tables.running.insert(row);
      const data = JSON.stringify({ attempt: row.attempt, epoch: row.epoch, session });
      tables.event.insert({ subject: row.id, n: row.n, kind: "TaskClaimed", at: now, data });
      return claimedRow(tables, row);
    });
  });
}

export function claimedRow(
  tables: Tables,
  { id, lane, epoch, attempt, losses, held, goodUntil }: RunningRecord,
): Claimed {
  const task = tables.task.get(id);
  if (!task) throw new Error(`a claim of ${id}, which is no task`);
  const { name, input, options } = task;
  return { id, name, lane, epoch, attempt, losses, held, input, options, goodUntil };
}

/** A claim by what its holder knows of it; none when another epoch is current. */
export function current(tables: Tables, { id, epoch }: Held): RunningRecord | undefined {
  const row = tables.running.get(epoch);
  return row?.id === id ? row : undefined;
}

/** Claims whose code runs: from now on only the session's lease counts for them. */
export function markStarted(tables: Tables, now: number, claims: readonly Held[]): void {
  for (const held of claims) {
    const row = current(tables, held);
    if (row?.held && row.startedAt === null && row.untilAt !== null && row.untilAt > now)
      tables.running.put({ ...row, startedAt: now, untilAt: null });
  }
}

/** Prefetched claims take their slots: only where they are still there and their claim lease has not run out. */
export function startPrefetched(tables: Tables, now: number, claims: readonly Held[]): string[] {
  const ordered = [...claims].sort((a, b) => (a.id < b.id ? -1 : 1));
  return ordered.flatMap((held) => {
    const row = current(tables, held);
    if (!row || row.held || row.untilAt === null || row.untilAt <= now) return [];
    const n = row.n + 1;
    tables.running.put({ ...row, held: true, startedAt: now, untilAt: null, n });
    tables.event.insert({ subject: row.id, n, kind: "TaskStarted", at: now, data: null });
    return [row.id];
  });
}
