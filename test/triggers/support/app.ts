// One trigger of each kind that starts runs by itself, and the runs they create.

import { automation, newer, schedule, sensor, succeeded } from "../../../src/core/schedule/definition.ts";
import type { AppTriggers } from "../../../src/core/schedule/trigger.ts";
import { triggersOf } from "../../../src/core/schedule/trigger.ts";
import { laneOf } from "../../../src/store/lane.ts";
import type { NewRun } from "../../../src/store/runs.ts";
import { RUNS } from "../../../src/store/runs.ts";

/** The names of the triggers, and the workflow that each of them runs. */
export const WORKFLOWS = {
  "schedule hourly": "s",
  "sensor items": "i",
  "automation both": "c",
  "automation fresh": "d",
} as const;

export type Trigger = keyof typeof WORKFLOWS;
export const TRIGGERS = Object.keys(WORKFLOWS) as Trigger[];

export const HOUR = 3_600_000;
/** The schedule's hours are counted from here. */
export const BEGIN = Date.UTC(2026, 0, 1);

export interface Tick {
  readonly cursor: number;
  readonly submit: readonly { readonly key: string; readonly input: number }[];
}

/** The app, with the code of its sensor. */
export function appWith(tick: (cursor: number) => Promise<Tick>): AppTriggers {
  return triggersOf({
    tasks: [],
    schedules: [
      schedule({
        id: "hourly",
        workflow: WORKFLOWS["schedule hourly"],
        cron: "0 * * * *",
        overlap: "skip",
        catchUp: "all",
        input: ({ at }: { readonly at: number }) => (at - BEGIN) / HOUR,
      }),
    ],
    sensors: [
      sensor({
        id: "items",
        every: "1m",
        timeout: "5s",
        workflow: WORKFLOWS["sensor items"],
        run: ({ cursor = 0 }) => tick(cursor),
      }),
    ],
    automations: [
      automation({ id: "both", workflow: WORKFLOWS["automation both"], when: succeeded("a", "b") }),
      automation({ id: "fresh", workflow: WORKFLOWS["automation fresh"], when: newer("a") }),
    ],
  });
}

export function runOf(workflow: string, more: Pick<NewRun, "id" | "key"> & Partial<NewRun>): NewRun {
  return {
    name: workflow,
    priority: 0,
    lane: laneOf(RUNS, workflow, [{ gate: "runs", slots: 1 }]),
    input: "null",
    options: "{}",
    runAt: null,
    delayMs: null,
    goodUntil: null,
    goodForMs: null,
    direct: false,
    graph: "{}",
    tags: "{}",
    source: "code",
    rerunOf: null,
    steps: [],
    ...more,
  };
}
