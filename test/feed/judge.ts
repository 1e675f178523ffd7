// Compares the changes that were heard with the rows.

import { expect } from "vitest";
import type { Change, Store } from "../../src/store/store.ts";
import { asTold, bySubject, told } from "./heard.ts";
import { GATES, TRIGGER } from "./writing.ts";

/** Every event of every unit, of the gates and of the trigger was heard exactly once and in order, and nothing else about them. */
export async function judge(store: Store, ids: readonly string[], heard: readonly Change[]): Promise<void> {
  const subjects = bySubject(heard.filter(({ n }) => n !== null));
  expect(ids.length).toBeGreaterThan(100);
  const wrong: unknown[] = [];
  const look = async (id: string): Promise<void> => {
    const heard = (subjects.get(id) ?? []).map(told);
    const unit = await store.task(id);
    const history = (await store.events(id)).map((event) => asTold(event, unit));
    if (JSON.stringify(heard) !== JSON.stringify(history)) wrong.push({ id, heard, history });
    subjects.delete(id);
  };
  const all = [...ids, ...GATES, TRIGGER];
  while (all.length > 0) await Promise.all(all.splice(0, 8).map(look));
  expect(wrong.slice(0, 3)).toEqual([]);
  const others = [...subjects.keys()].filter((subject) => !subject.includes(":"));
  expect(others).toEqual([]);
  expect(missing(heard)).toEqual([]);
}

/** The kinds of changes that have not happened yet. A model that never met them proves nothing about them. */
export function missing(heard: readonly Change[]): string[] {
  const kinds = new Set<string>(heard.map(({ kind }) => kind));
  return KINDS.filter((kind) => !kinds.has(kind));
}

const KINDS = [
  "TaskEnqueued",
  "TaskClaimed",
  "TaskSucceeded",
  "TaskFailed",
  "TaskCancelled",
  "TaskRetried",
  "TaskReturned",
  "TaskReprioritized",
  "TaskLost",
  "TaskExpired",
  "LimitChanged",
  "RunStarted",
  "RunPaused",
  "TriggerPaused",
  "TriggerResumed",
  "WorkerStarted",
  "WorkerLost",
];
