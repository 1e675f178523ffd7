// A listener to everything, and what it heard. Imports no test runner, because child processes use it too.

import { ALL_TOPICS } from "../../src/core/change.ts";
import type { Change, EventRow, Listener, Store, TaskRow } from "../../src/store/store.ts";
import { MOST_KEEP_MS, RUNS } from "../../src/store/store.ts";

export const everything = (id: string): Listener => ({
  id,
  topics: ALL_TOPICS,
  run: null,
  task: null,
  queue: null,
  keepMs: MOST_KEEP_MS,
});

/** All changes after a position. A gap, or a listener that was forgotten, is an error. */
export async function heardSince(
  store: Store,
  listener: string,
  position: number,
  limit = 1_000,
): Promise<Change[]> {
  const all: Change[] = [];
  for (let after = position; ; after = all.at(-1)?.position ?? position) {
    const page = await store.changes({ after, limit, listeners: [listener] });
    if (page.lapsed || !page.alive.has(listener)) throw new Error(`${listener} was forgotten`);
    for (const change of page.changes) {
      const expected = (all.at(-1)?.position ?? position) + 1;
      if (change.position !== expected) throw new Error(`${change.position} came where ${expected} was due`);
      all.push(change);
    }
    if (!page.more) return all;
  }
}

export function bySubject(changes: readonly Change[]): Map<string, Change[]> {
  const subjects = new Map<string, Change[]>();
  for (const change of changes) {
    const known = subjects.get(change.subject);
    if (known) known.push(change);
    else subjects.set(change.subject, [change]);
  }
  return subjects;
}

const ITS_PRIORITY = "its priority";

/**
 * An event as the feed has to tell it. Of a claimed run it tells the priority. Of a started step it tells the slots,
 * and of a step that holds them since its claim, it tells them beside the claim.
 */
export function asTold({ n, kind, data }: EventRow, unit: TaskRow | undefined): string {
  if (kind === "TaskClaimed" && unit?.queue === RUNS) return `${n} ${kind} ${ITS_PRIORITY}`;
  const isStep = unit?.asks.includes(`"run:`) === true;
  return `${n} ${kind} ${kind === "TaskStarted" && isStep ? `{"asks":${unit.asks}}` : data}`;
}

/** A change in the same form. The priority may have been changed since. */
export function told({ n, kind, data }: Change): string {
  const isPriority = kind === "TaskClaimed" && /^\{"priority":-?\d+\}$/.test(data ?? "");
  const claim = kind === "TaskClaimed" ? data?.replace(/,"asks":\[.*\]\}$/, "}") : data;
  return `${n} ${kind} ${isPriority ? ITS_PRIORITY : claim}`;
}
