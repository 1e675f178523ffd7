/** Requests for locks: they are withdrawn, and swept when their process is dead or nobody wants the lock. */
import { undeclared } from "../../core/gate/kind.ts";
import { isOfLocks, isProcessOfLocks, processOf } from "../../core/lock/request.ts";
import { asksOf } from "../lane.ts";
import { asked } from "./declare.ts";
import { leaveNoTrace } from "./settle.ts";
import type { LaneRecord, Tables } from "./tables.ts";
import { eventKey } from "./tables.ts";

/** A unit that was claimed meanwhile has no row in line any more. */
export function withdrawRequests(tables: Tables, ids: readonly string[]): string[] {
  const found = ids.filter((id) => tables.waiting.has(id) && isOfLocks(tables.task.get(id)?.queue)).sort();
  for (const id of found) forget(tables, id);
  return found;
}

function forget(tables: Tables, id: string): void {
  tables.waiting.delete(id);
  leaveNoTrace(tables, id);
}

export function sweepRequests(tables: Tables, now: number, idleMs: number): number {
  const alive = new Set(
    tables.session
      .all()
      .flatMap(({ name, expiresAt }) => (isProcessOfLocks(name) && expiresAt > now ? [name] : [])),
  );
  const lanes = tables.lane.all().filter(({ queue, state }) => isOfLocks(queue) && state !== "aside");
  const isDead = ({ task }: LaneRecord): boolean => !alive.has(processOf(task));
  const units = lanes.filter(isDead).flatMap(({ id }) => tables.waiting.of(id).map((unit) => unit.id));
  for (const id of units) forget(tables, id);
  const used = lanesInUse(tables);
  const idle = lanes.filter((lane) => !used.has(lane.id) && (isDead(lane) || lane.headAt <= now - idleMs));
  for (const { id } of idle) {
    for (const { n } of tables.event.of(id)) tables.event.delete(eventKey(id, n));
    tables.lane.delete(id);
  }
  const gates = unwanted(tables, idle);
  for (const gate of gates) tables.gate.delete(gate);
  return units.length + idle.length + gates.length;
}

const lanesInUse = (tables: Tables): Set<string> =>
  new Set(
    [...tables.waiting.all(), ...tables.running.all(), ...tables.stopping.all(), ...tables.arrival.all()].map(
      ({ lane }) => lane,
    ),
  );

/** The gates of these lanes that nobody asks for, and that are as they were born. */
function unwanted(tables: Tables, lanes: readonly LaneRecord[]): string[] {
  const wanted = new Set([...asked(tables), ...tables.lane.all().flatMap(({ parked }) => parked ?? [])]);
  const keys = new Set(lanes.flatMap(({ asks }) => asksOf(asks).map(({ gate }) => gate)));
  return [...keys].filter((key) => !wanted.has(key) && isAsBorn(tables, key)).sort();
}

function isAsBorn(tables: Tables, key: string): boolean {
  const gate = tables.gate.get(key);
  if (!gate) return false;
  const { limit } = undeclared(key);
  const isBorn = gate.capacity === limit && gate.declared === limit && gate.n === 0;
  const isSet = gate.setBy !== null || gate.leaseMs !== null || gate.paused;
  return isBorn && !isSet && tables.declared.of(key).length === 0 && tables.event.of(key).length === 0;
}
