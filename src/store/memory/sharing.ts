/** Units that need locks shared with other engines. */
import { sharedGate, unitOfSharedGate } from "../../core/shared/lock.ts";
import type { Intent, Leading, SharingUnit } from "../ports/sharing.ts";
import type { Tables } from "./tables.ts";
import { negated } from "./tables.ts";

export function lead(
  tables: Tables,
  now: number,
  {
    session,
    leaseMs,
    engine,
  }: { readonly session: string; readonly leaseMs: number; readonly engine: string },
): Leading {
  const known = tables.leader.get("shared");
  const own = known && known.engine !== "" ? known.engine : engine;
  if (known && known.session !== session && known.untilAt > now) return { leads: false, engine: own, now };
  tables.leader.put({ name: "shared", engine: own, session, untilAt: now + leaseMs, n: known?.n ?? 0 });
  return { leads: true, engine: own, now };
}

const leads = (tables: Tables, session: string): boolean => tables.leader.get("shared")?.session === session;

const isClaimed = (tables: Tables, unit: string): boolean =>
  tables.running.of(unit).length > 0 || tables.stopping.all().some(({ id }) => id === unit);

function placeOf(tables: Tables, unit: string): SharingUnit["place"] {
  if (isClaimed(tables, unit)) return "claimed";
  if (tables.waiting.has(unit)) return "waiting";
  return tables.later.has(unit) ? "later" : "gone";
}

export function sharing(tables: Tables): SharingUnit[] {
  const ofGates = tables.gate.all().flatMap(({ name }) => unitOfSharedGate(name) ?? []);
  const ofIntents = tables.intent.all().map(({ unit }) => unit);
  return [...new Set([...ofGates, ...ofIntents])].sort().map((unit): SharingUnit => {
    const task = tables.task.get(unit);
    const waiting = tables.waiting.get(unit);
    const intent = tables.intent.get(unit);
    return {
      unit,
      priority: waiting ? negated(waiting.precedence) : (task?.priority ?? 0),
      createdAt: task?.createdAt ?? 0,
      options: task?.options ?? "",
      place: placeOf(tables, unit),
      open: tables.gate.get(sharedGate(unit))?.capacity === 1,
      intent: intent?.n ?? null,
      session: intent?.session ?? null,
    };
  });
}

export function intend(tables: Tables, now: number, session: string, units: readonly string[]): Intent[] {
  const known = tables.leader.get("shared");
  if (!known || !leads(tables, session)) return [];
  const free = [...new Set(units)]
    .filter((unit) => tables.waiting.has(unit) && !tables.intent.has(unit))
    .sort();
  const intents = free.map((unit, index) => ({ unit, n: known.n + 1 + index }));
  for (const intent of intents) tables.intent.insert({ ...intent, session, at: now });
  tables.leader.put({ ...known, n: known.n + intents.length });
  return intents;
}

const standing = (tables: Tables, intents: readonly Intent[]): string[] =>
  intents.filter(({ unit, n }) => tables.intent.get(unit)?.n === n).map(({ unit }) => unit);

function setCapacity(tables: Tables, unit: string, capacity: number): void {
  const gate = tables.gate.get(sharedGate(unit));
  if (gate) tables.gate.put({ ...gate, capacity });
}

export function openShared(tables: Tables, session: string, intents: readonly Intent[]): string[] {
  if (!leads(tables, session)) return [];
  const units = standing(tables, intents);
  for (const unit of units) setCapacity(tables, unit, 1);
  return units;
}

export function closeShared(tables: Tables, session: string, intents: readonly Intent[]): string[] {
  if (!leads(tables, session)) return [];
  const units = standing(tables, intents).filter((unit) => !isClaimed(tables, unit));
  for (const unit of units) setCapacity(tables, unit, 0);
  return units;
}

export function forgetShared(
  tables: Tables,
  session: string,
  intents: readonly Intent[],
  gone: readonly string[],
): void {
  if (!leads(tables, session)) return;
  for (const unit of standing(tables, intents)) tables.intent.delete(unit);
  for (const unit of gone) {
    tables.gate.delete(sharedGate(unit));
    const lane = tables.task.get(unit)?.lane;
    if (lane !== undefined) tables.lane.delete(lane);
  }
}
