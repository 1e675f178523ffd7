/** Turns waiting units into claims, and starts claims. */
import type { Claimed, Moves } from "../store.ts";
import { HANDED_MS } from "../store.ts";
import type { RunningRecord, Tables, WaitingRecord } from "./tables.ts";
import { inLine } from "./tables.ts";

export interface HeldRecord {
  readonly id: string;
  readonly epoch: number;
}

interface Claimer {
  readonly session: string;
  readonly leaseMs: number;
}

/**
 * Units that take their slots now come before prefetched ones. Units with the same lease are claimed
 * together.
 */
export function claim(tables: Tables, now: number, units: Moves["claim"], claimer: Claimer): Claimed[] {
  return alike(units).flatMap((group) => {
    const waiting = [...group.ids].flatMap((id) => tables.waiting.get(id) ?? []).sort(inLine);
    return waiting.map((unit) => claimUnit(tables, now, unit, group, claimer));
  });
}

interface Kind {
  readonly ids: ReadonlySet<string>;
  readonly held: boolean;
  readonly leaseMs: number | null;
  /** The session that they are handed to, if it is not the claimer's. */
  readonly handedTo: string | undefined;
}

function alike(units: Moves["claim"]): Kind[] {
  const kinds = new Map<string, Kind & { readonly ids: Set<string> }>();
  for (const { id, held, leaseMs = null, session: handedTo } of units) {
    const key = `${Number(!held)} ${leaseMs} ${handedTo ?? ""}`;
    const kind = kinds.get(key) ?? { ids: new Set<string>(), held, leaseMs, handedTo };
    kind.ids.add(id);
    kinds.set(key, kind);
  }
  return [...kinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind);
}

function claimUnit(
  tables: Tables,
  now: number,
  unit: WaitingRecord,
  { held, leaseMs, handedTo }: Kind,
  claimer: Claimer,
): Claimed {
  const claimLeaseMs = handedTo === undefined ? claimer.leaseMs : HANDED_MS;
  const row: RunningRecord = {
    ...unit,
    epoch: tables.nextEpoch(),
    session: handedTo ?? claimer.session,
    held,
    untilAt: now + Math.min(claimLeaseMs, leaseMs ?? claimLeaseMs),
    claimedAt: now,
    claimedN: unit.n + 1,
    startedAt: null,
    progress: null,
    leaseMs,
    // The attempt is counted here, so that a task that kills its worker cannot do so for ever.
    attempt: unit.attempt + 1,
    n: unit.n + 1,
  };
  tables.waiting.delete(unit.id);
  insertClaim(tables, row);
  return claimedRow(tables, row);
}

/** Inserts a claim and its event. */
export function insertClaim(tables: Tables, claim: RunningRecord): void {
  const { id: subject, n, attempt, epoch, session, claimedAt: at } = claim;
  tables.running.insert(claim);
  const data = JSON.stringify({ attempt, epoch, session });
  tables.event.insert({ subject, n, kind: "TaskClaimed", at, data });
}

export function claimedRow(tables: Tables, claim: RunningRecord): Claimed {
  const { id, lane, epoch, attempt, losses, held, goodUntil, leaseMs } = claim;
  const task = tables.task.get(id);
  if (!task) throw new Error(`a claim of ${id}, which is not a task`);
  const { name, input, options } = task;
  return { id, name, lane, epoch, attempt, losses, held, input, options, goodUntil, leaseMs };
}

/** The claim its holder names; undefined if another epoch is current. */
export function current(tables: Tables, { id, epoch }: HeldRecord): RunningRecord | undefined {
  const row = tables.running.get(epoch);
  return row?.id === id ? row : undefined;
}

/** Once started, a claim lasts as long as its session, or as long as its own lease is renewed. */
const untilStarted = ({ leaseMs }: RunningRecord, now: number): number | null =>
  leaseMs === null ? null : now + leaseMs;

/** Marks claims whose code has begun. */
export function markStarted(tables: Tables, now: number, claims: readonly HeldRecord[]): void {
  for (const held of claims) {
    const row = current(tables, held);
    if (row?.held && row.startedAt === null && row.untilAt !== null && row.untilAt > now)
      tables.running.put({ ...row, startedAt: now, untilAt: untilStarted(row, now) });
  }
}

/** Prefetched claims take their slots, if they still exist and their claim lease has not expired. */
export function startPrefetched(tables: Tables, now: number, claims: readonly HeldRecord[]): string[] {
  const ordered = [...claims].sort((a, b) => (a.id < b.id ? -1 : 1));
  return ordered.flatMap((held) => {
    const row = current(tables, held);
    if (!row || row.held || row.untilAt === null || row.untilAt <= now) return [];
    const n = row.n + 1;
    tables.running.put({ ...row, held: true, startedAt: now, untilAt: untilStarted(row, now), n });
    tables.event.insert({ subject: row.id, n, kind: "TaskStarted", at: now, data: null });
    return [row.id];
  });
}
