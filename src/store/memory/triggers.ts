/**
 * Schedules, sensors and automations. Each change increases the stamp, and requires the stamp that it was
 * decided with.
 */

import type { EventKind } from "../../core/event.ts";
import type { Success } from "../../core/schedule/automation.ts";
import type { Active } from "../../core/schedule/overlap.ts";
import type { Enqueued } from "../store.ts";
import type { Firing, NewTrigger, RunsOf, TriggerRow } from "../triggers.ts";
import { triggerTaken } from "../triggers.ts";
import { enqueue } from "./enqueue.ts";
import { submit } from "./submit.ts";
import type { Tables, TriggerRecord } from "./tables.ts";

export function declareTriggers(
  tables: Tables,
  now: number,
  app: string,
  triggers: readonly NewTrigger[],
): void {
  const named = new Set(triggers.map(({ name }) => name));
  for (const row of tables.trigger.all()) {
    if (named.has(row.name) && row.app !== null && row.app !== app)
      throw triggerTaken(row.name, row.app, app);
    if (row.app === app && !named.has(row.name))
      tables.trigger.put({ ...row, app: null, stamp: row.stamp + 1, busyUntil: null });
  }
  for (const trigger of triggers) {
    const known = tables.trigger.get(trigger.name);
    tables.trigger.put(known ? takenOver(known, now, { ...trigger, app }) : born(now, { ...trigger, app }));
  }
}

type Owned = NewTrigger & { readonly app: string | null };

export function setTrigger(
  tables: Tables,
  now: number,
  trigger: NewTrigger,
  by: string,
): { readonly created: boolean } {
  const known = tables.trigger.get(trigger.name);
  const owned = { ...trigger, app: null };
  tables.trigger.put(known ? takenOver(known, now, owned) : born(now, owned));
  const { workflow, spec } = trigger;
  note(tables, now, trigger.name, "TriggerSet", { by, spec: { workflow, ...JSON.parse(spec) } });
  return { created: !known };
}

export function removeTrigger(tables: Tables, now: number, name: string, by: string): boolean {
  const known = tables.trigger.get(name);
  if (!known || known.app !== null) return false;
  tables.trigger.delete(name);
  note(tables, now, name, "TriggerRemoved", { by });
  return true;
}

function note(tables: Tables, at: number, subject: string, kind: EventKind, data: object): void {
  const n = tables.event.of(subject).length + 1;
  tables.event.insert({ subject, n, kind, at, data: JSON.stringify(data) });
}

const born = (now: number, { app, name, kind, workflow, spec, paused }: Owned): TriggerRecord => ({
  name,
  app,
  kind,
  workflow,
  spec,
  paused,
  state: "{}",
  nextAt: now,
  stamp: 0,
  busyUntil: null,
});

function takenOver(known: TriggerRecord, now: number, { app, workflow, spec }: Owned): TriggerRecord {
  if (known.workflow === workflow && known.spec === spec) return { ...known, app };
  const nextAt = Math.min(known.nextAt ?? now, now);
  return { ...known, app, workflow, spec, nextAt, stamp: known.stamp + 1, busyUntil: null };
}

export function triggers(tables: Tables, now: number): { now: number; triggers: TriggerRow[] } {
  const list = tables.trigger
    .all()
    .map(({ busyUntil, ...row }) => ({ ...row, busy: isBusy(busyUntil, now) }));
  return { now, triggers: list };
}

const isBusy = (until: number | null, now: number): boolean => until !== null && until > now;

export function pauseTrigger(
  tables: Tables,
  now: number,
  change: { readonly name: string; readonly paused: boolean; readonly by: string },
): { was: boolean } | undefined {
  const { name, paused, by } = change;
  const known = tables.trigger.get(name);
  if (!known || known.paused === paused) return known && { was: known.paused };
  const nextAt = paused ? known.nextAt : now;
  tables.trigger.put({ ...known, paused, nextAt, stamp: known.stamp + 1, busyUntil: null });
  note(tables, now, name, paused ? "TriggerPaused" : "TriggerResumed", { by });
  return { was: known.paused };
}

export function takeTrigger(
  tables: Tables,
  now: number,
  { name, stamp, busyMs }: { readonly name: string; readonly stamp: number; readonly busyMs: number },
): number | undefined {
  const known = tables.trigger.get(name);
  if (known?.stamp !== stamp || isBusy(known.busyUntil, now)) return undefined;
  tables.trigger.put({ ...known, stamp: stamp + 1, busyUntil: now + busyMs });
  return stamp + 1;
}

export function fire(tables: Tables, now: number, firing: Firing): Enqueued[] | undefined {
  const { name, stamp, state, nextAt } = firing;
  const known = tables.trigger.get(name);
  if (known?.stamp !== stamp) return undefined;
  tables.trigger.put({ ...known, state, nextAt, stamp: stamp + 1, busyUntil: null });
  return [...submit(tables, now, firing.submit), ...enqueue(tables, now, firing.enqueue ?? [])];
}

export function lastSuccesses(tables: Tables, workflows: readonly string[]): Success[] {
  return tables.success.all().filter(({ workflow }) => workflows.includes(workflow));
}

export function activeRuns(tables: Tables, of: RunsOf): Active {
  const chosen =
    "unit" in of
      ? [{ id: of.unit }]
      : tables.run
          .all()
          .filter((run) => ("workflow" in of ? run.workflow === of.workflow : run.source === of.source));
  return {
    queued: chosen.some(({ id }) => tables.waiting.has(id) || tables.later.has(id)),
    // A run that is over may have code that is still stopping.
    inProgress: chosen.some(
      ({ id }) => tables.running.of(id).length > 0 || tables.stopping.all().some((row) => row.id === id),
    ),
  };
}
