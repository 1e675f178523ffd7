/** Handles the passing of time: delayed units come due, deadlines pass, ended sessions are forgotten. */
import { inByteOrder } from "../../core/text.ts";
import type { Tended } from "../store.ts";
import { announce } from "./arrival.ts";
import { loseSessions } from "./session.ts";
import type { MemoryEnding } from "./settle.ts";
import { expire } from "./settle.ts";
import type { Tables } from "./tables.ts";
import { sweepSignals } from "./waiting.ts";

const BATCH = 500;
const GATES_AT_ONCE = 200;
const AGAIN_MS = 60_000;
const REMEMBERED_MS = 3_600_000;

export function tend(tables: Tables, now: number, parkedAfter: string): Tended {
  const due = dueBy(
    tables.later.all().filter(({ lane }) => !tables.aside.has(lane)),
    now,
  );
  const over = dueBy(tables.deadline.all(), now);
  const ahead = tables.later.all().flatMap(({ at }) => (at > now ? [at] : []));
  const parkedOn = new Set(tables.lane.all().flatMap(({ parked }) => parked ?? []));
  promote(tables, due);
  expireAnywhere(tables, now, over);
  loseSessions(tables, now);
  forgetSessions(tables, now);
  sweepSignals(tables, now);
  tables.feed.sweep(now);
  return {
    now,
    promoted: due.length,
    expired: over.length,
    nextDueAt: ahead.length > 0 ? ahead.reduce((a, b) => Math.min(a, b)) : null,
    parkedOn: [...parkedOn]
      .filter((key) => inByteOrder(key, parkedAfter) > 0)
      .sort(inByteOrder)
      .slice(0, GATES_AT_ONCE),
  };
}

function dueBy(rows: readonly { readonly id: string; readonly at: number }[], now: number): string[] {
  const due = rows.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  return due.slice(0, BATCH).map(({ id }) => id);
}

/** A delayed unit is in line since it came due, not since it was enqueued. An item of a list returns to its place. */
function promote(tables: Tables, ids: readonly string[]): void {
  for (const id of ids) {
    const delayed = tables.later.get(id);
    if (!delayed) continue;
    const { because: _, ...unit } = delayed;
    tables.later.delete(id);
    const task = tables.task.get(id);
    tables.waiting.insert({ ...unit, at: task && task.item !== null ? task.createdAt : unit.at });
  }
  announce(tables, ids);
}

/** Expires units that are in line, delayed or prefetched. A unit with its slots has started and goes on. */
function expireAnywhere(tables: Tables, now: number, ids: readonly string[]): void {
  expire(
    tables,
    now,
    ids.flatMap((id) => unstarted(tables, id)),
  );
  for (const id of ids) {
    const claimed = tables.running.of(id).filter(({ held }) => !held);
    tables.waiting.delete(id);
    tables.later.delete(id);
    for (const { epoch } of claimed) tables.running.delete(epoch);
    // A running unit may come back in line, so its deadline is checked again later.
    if (tables.running.of(id).length > 0) tables.deadline.put({ id, at: now + AGAIN_MS });
    else tables.deadline.delete(id);
  }
}

function unstarted(tables: Tables, id: string): MemoryEnding[] {
  const waiting = tables.waiting.get(id) ?? tables.later.get(id);
  return waiting ? [waiting] : tables.running.of(id).filter(({ held }) => !held);
}

/** Forgets sessions long after their end, and only if recovery has no claims left to find through them. */
function forgetSessions(tables: Tables, now: number): void {
  const holding = new Set([...tables.running.all(), ...tables.stopping.all()].map(({ session }) => session));
  for (const { id, expiresAt } of tables.session.all()) {
    if (expiresAt < now - REMEMBERED_MS && !holding.has(id)) tables.session.delete(id);
  }
}
