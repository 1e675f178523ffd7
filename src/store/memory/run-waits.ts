/** A run, and everything that the waits of its open steps depend on, at one instant. */
import type { NextUnit, RunWaits, StepRow } from "../runs.ts";
import { isOpenAndInLine } from "../runs.ts";
import { sessions } from "./read.ts";
import { run } from "./run.ts";
import type { Tables } from "./tables.ts";
import { inLine } from "./tables.ts";
import { wait } from "./wait.ts";

export function runWaits(tables: Tables, now: number, id: string, most: number): RunWaits | undefined {
  const detail = run(tables, id);
  if (!detail) return undefined;
  const waits = detail.steps.flatMap((step): RunWaits["waits"][number][] => {
    const next = nextOf(tables, step);
    const view = next && wait(tables, now, next.unit);
    return view ? [{ step: step.name, item: next.item, view }] : [];
  });
  return { ...detail, now, sessions: sessions(tables, now), waits: waits.slice(0, most) };
}

function nextOf(tables: Tables, step: StepRow): NextUnit | undefined {
  if (!isOpenAndInLine(step)) return undefined;
  const { fan, unit } = step;
  if (!fan) return unit === null ? undefined : { unit, item: null };
  const [first] = tables.waiting.of(fan.lane).sort(inLine);
  const later = tables.later.all().filter(({ lane }) => lane === fan.lane);
  const [soonest] = later.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  const next = first ?? soonest;
  return next && { unit: next.id, item: tables.task.get(next.id)?.item ?? null };
}
