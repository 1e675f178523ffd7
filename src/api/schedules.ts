/** Schedules, sensors and automations as users see and control them. */
import type { App } from "../core/app/app.ts";
import { SluiceError } from "../core/error.ts";
import type { Fire } from "../core/schedule/definition.ts";
import { nextDue } from "../core/schedule/next-due.ts";
import type { ScheduleSpec, TriggerKind } from "../core/schedule/trigger.ts";
import { triggerName } from "../core/schedule/trigger.ts";
import { checkBy, checkText } from "../core/text.ts";
import type { Env } from "../env/env.ts";
import type { Store, TriggerRow } from "../store/store.ts";
import { newRun } from "./new-run.ts";
import { readable } from "./readable.ts";
import { neededApp } from "./unknown.ts";

export interface TriggerView {
  readonly id: string;
  readonly kind: TriggerKind;
  /** The app that declares it. If null, no app does any more, so no worker looks at it. */
  readonly app: string | null;
  readonly workflow: string | null;
  readonly paused: boolean;
  /**
   * A schedule: when it starts its next run. A sensor: when it looks next. Null if it is paused, if no app declares it, or
   * if it never does. An automation has no time of its own.
   */
  readonly nextAt: number | null;
  readonly spec: Readonly<Record<string, unknown>>;
  /** Its last run and fire time, its cursor, its last error, and how often it was skipped. */
  readonly state: Readonly<Record<string, unknown>>;
}

export class Schedules {
  readonly #store: Store;
  readonly #app: App | undefined;
  readonly #env: Env;

  constructor(store: Store, app: App | undefined, env: Env) {
    this.#store = store;
    this.#app = app;
    this.#env = env;
  }

  /** All schedules, sensors and automations, by name. */
  async list(): Promise<TriggerView[]> {
    const { triggers, now } = await this.#store.triggers();
    return triggers.map((row) => triggerView(row, now));
  }

  pause(id: string, by = "code"): Promise<void> {
    return this.#setPaused(id, true, by);
  }

  /** Fire times missed during the pause are not made up for. */
  resume(id: string, by = "code"): Promise<void> {
    return this.#setPaused(id, false, by);
  }

  async #setPaused(id: string, paused: boolean, by: string): Promise<void> {
    const row = await this.#find(id);
    await this.#store.pauseTrigger(row.name, paused, by);
    this.#store.hint("runs");
  }

  /** Starts a run now, as the schedule would, whatever the time. Its own fire times do not change. */
  async trigger(id: string, by = "code"): Promise<{ id: string }> {
    checkText("The ID of a schedule", id);
    checkBy(by);
    const app = neededApp(this.#app, "To start a run of a schedule");
    const schedule = app.schedules.find((each) => each.id === id || each.name === id);
    const workflow = schedule && app.workflows.get(schedule.workflow);
    if (!schedule || !workflow) throw notOf(app, id);
    const at = await this.#store.now();
    const input =
      typeof schedule.input === "function"
        ? (schedule.input as (fire: Fire) => unknown)({ at })
        : schedule.input;
    const run = await newRun(app, workflow, input, {
      id: this.#env.newId(),
      direct: false,
      tags: schedule.tags,
      ...(schedule.priority === null ? {} : { priority: schedule.priority }),
      source: `${schedule.name}, by ${by}`,
    });
    await this.#store.submit([run]);
    this.#store.hint("runs");
    return { id: run.id };
  }

  /** Finds a trigger by its ID, or by its name if a schedule and a sensor share the ID. */
  async #find(id: string): Promise<TriggerRow> {
    checkText("The ID of a schedule, sensor or automation", id);
    const { triggers } = await this.#store.triggers();
    const kinds = ["schedule", "sensor", "automation"] as const;
    const found = triggers.filter(
      ({ name }) => name === id || kinds.some((kind) => name === triggerName(kind, id)),
    );
    if (found.length === 1) return found[0] as TriggerRow;
    if (found.length > 1)
      throw new SluiceError(
        "AMBIGUOUS_ID",
        `"${id}" is the ID of several triggers: ${found.map(({ name }) => `"${name}"`).join(", ")}. Use its full name.`,
      );
    throw new SluiceError("UNKNOWN_SCHEDULE", `There is no schedule "${id}" in this store.`, {
      remedies: [{ action: "listSchedules" }],
    });
  }
}

/** Sensors and automations have conditions of their own, so there is nothing to run before these are met. */
function notOf({ sensors, automations }: App, id: string): SluiceError {
  const other = [...sensors, ...automations].find((each) => each.id === id || each.name === id);
  if (!other)
    return new SluiceError(
      "UNKNOWN_SCHEDULE",
      `schedule "${id}" is not part of this app. Use the app it belongs to.`,
    );
  const { kind, workflow } = other;
  const instead = workflow === null ? "a workflow yourself" : `its workflow "${workflow}"`;
  return new SluiceError(
    "UNKNOWN_SCHEDULE",
    `"${other.id}" is ${kind === "automation" ? "an" : "a"} ${kind} of this app, and only a schedule can be triggered. Submit ${instead} instead.`,
  );
}

function triggerView(row: TriggerRow, now: number): TriggerView {
  const { name, kind, app, workflow, paused, spec, state } = row;
  return {
    id: name.slice(kind.length + 1),
    kind,
    app,
    workflow,
    paused,
    nextAt: nextAtOf(row, now),
    spec: readable(spec) as Record<string, unknown>,
    state: readable(state) as Record<string, unknown>,
  };
}

/** Its row says only when to look at it. After a deploy, a change or a resume, that is at once. */
function nextAtOf({ kind, app, paused, nextAt, spec }: TriggerRow, now: number): number | null {
  if (paused || app === null || kind === "automation") return null;
  if (kind === "sensor") return nextAt;
  try {
    return nextDue(JSON.parse(spec) as ScheduleSpec, nextAt ?? now, now);
  } catch {
    // A corrupt row must not hide the others.
    return nextAt;
  }
}
