/** Schedules, sensors and automations as users see and control them. */
import type { App } from "../core/app/app.ts";
import { isRecord } from "../core/app/rule.ts";
import { SluiceError } from "../core/error.ts";
import type { Fire } from "../core/schedule/definition.ts";
import { nextDue } from "../core/schedule/next-due.ts";
import type { SetScheduleSpec } from "../core/schedule/set-schedule.ts";
import { setSchedule, setScheduleId } from "../core/schedule/set-schedule.ts";
import type { AppSchedule, ScheduleSpec, TriggerKind } from "../core/schedule/trigger.ts";
import { triggerName } from "../core/schedule/trigger.ts";
import type { AnyTask } from "../core/task/definition.ts";
import { checkBy, checkText } from "../core/text.ts";
import type { AnyWorkflow } from "../core/workflow/definition.ts";
import type { Env } from "../env/env.ts";
import type { NewRun, NewTask, Store, TriggerRow } from "../store/store.ts";
import { newRun } from "./new-run.ts";
import { newTask } from "./new-task.ts";
import { taskOf, workflowOf } from "./part-of-app.ts";
import { readable } from "./readable.ts";
import type { SetRunSchedule, SetTaskSchedule, SettableSchedule } from "./settable-schedule.ts";
import { settableTrigger } from "./settable-schedule.ts";
import { neededApp } from "./unknown.ts";

export interface TriggerView {
  readonly id: string;
  /** Its full name, which is also the source of its runs. */
  readonly name: string;
  readonly kind: TriggerKind;
  /** The app that declares it. If null, no app does any more, so no worker looks at it. */
  readonly app: string | null;
  /** Who set it at run time. Null if it comes from an app. */
  readonly setBy: string | null;
  readonly workflow: string | null;
  /** The task that a schedule enqueues instead of runs. */
  readonly task: string | null;
  readonly paused: boolean;
  /**
   * A schedule: when it starts its next run. A sensor: when it looks next. Null if it is paused, if its app is gone, or
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

  /**
   * Creates a schedule at run time, or changes the one that was set with this ID. No deploy touches it. Any worker
   * whose app has the task or workflow looks at it.
   */
  async set<Task extends AnyTask>(
    id: string,
    schedule: SetTaskSchedule<Task>,
    by?: string,
  ): Promise<{ created: boolean }>;
  async set<Workflow extends AnyWorkflow>(
    id: string,
    schedule: SetRunSchedule<Workflow>,
    by?: string,
  ): Promise<{ created: boolean }>;
  async set(id: string, schedule: SettableSchedule, by?: string): Promise<{ created: boolean }>;
  async set(
    id: string,
    schedule: SettableSchedule | SetTaskSchedule<AnyTask> | SetRunSchedule<AnyWorkflow>,
    by = "code",
  ): Promise<{ created: boolean }> {
    checkBy(by);
    const app = neededApp(this.#app, "To set a schedule");
    const trigger = settableTrigger(app, id, schedule, by);
    // What could not be started at a fire time is refused now.
    const made = setSchedule(trigger);
    if (made) await this.#make(app, made, "a check", 0);
    const done = await this.#store.setTrigger(trigger, by);
    this.#store.hint("runs");
    return done;
  }

  /** Removes a schedule that was set at run time. What it has started stays. */
  async remove(id: string, by = "code"): Promise<void> {
    checkBy(by);
    const row = await this.#find(id);
    if (row.app === null && (await this.#store.removeTrigger(row.name, by))) return;
    throw new SluiceError(
      "DECLARED_SCHEDULE",
      `The ${row.name} comes from app "${row.app}". Remove it there and deploy, or pause it.`,
    );
  }

  /** Starts a run or a task now, as the schedule would, whatever the time. Its own fire times do not change. */
  async trigger(id: string, by = "code"): Promise<{ id: string }> {
    checkText("The ID of a schedule", id);
    checkBy(by);
    const app = neededApp(this.#app, "To start a run of a schedule");
    const schedule =
      app.schedules.find((each) => each.id === id || each.name === id) ?? (await this.#findSet(id));
    if (!schedule) throw notOf(app, id);
    const made = await this.#make(app, schedule, `${schedule.name}, by ${by}`, await this.#store.now());
    const isRun = "graph" in made;
    if (isRun) await this.#store.submit([made]);
    else await this.#store.enqueue([made]);
    this.#store.hint(isRun ? "runs" : "work");
    return { id: made.id };
  }

  /** What the schedule would start at this time, without a key. */
  async #make(app: App, schedule: AppSchedule, source: string, at: number): Promise<NewRun | NewTask> {
    const { input: given, tags, priority, spec } = schedule;
    const input = typeof given === "function" ? (given as (fire: Fire) => unknown)({ at }) : given;
    const options = priority === null ? {} : { priority };
    const id = this.#env.newId();
    if (spec.task !== undefined) return newTask(taskOf(app, spec.task), input, options, id, app.pools);
    const { known } = workflowOf(app, schedule.workflow ?? "");
    return newRun(app, known, input, { ...options, id, direct: false, tags, source });
  }

  async #findSet(id: string): Promise<AppSchedule | undefined> {
    const { triggers } = await this.#store.triggers();
    const row = triggers.find(({ name }) => name === id || setScheduleId(name) === id);
    return row && setSchedule(row);
  }

  /** Finds a trigger by its ID, or by its name if a schedule and a sensor share the ID. */
  async #find(id: string): Promise<TriggerRow> {
    checkText("The ID of a schedule, sensor or automation", id);
    const { triggers } = await this.#store.triggers();
    const kinds = ["schedule", "sensor", "automation"] as const;
    const found = triggers.filter(
      ({ name }) =>
        name === id || setScheduleId(name) === id || kinds.some((kind) => name === triggerName(kind, id)),
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
  const { name, kind, app, workflow, paused } = row;
  const said = readable(row.spec);
  const { setBy = null, ...spec } = isRecord(said) ? (said as Partial<SetScheduleSpec>) : {};
  return {
    id: setScheduleId(name) ?? name.slice(kind.length + 1),
    name,
    kind,
    app,
    setBy,
    workflow,
    task: spec.task ?? null,
    paused,
    nextAt: nextAtOf(row, now),
    // A corrupt row is shown as it is.
    spec: (isRecord(said) ? spec : said) as Record<string, unknown>,
    state: readable(row.state) as Record<string, unknown>,
  };
}

/** Its row says only when to look at it. After a deploy, a change or a resume, that is at once. */
function nextAtOf({ name, kind, app, paused, nextAt, spec }: TriggerRow, now: number): number | null {
  const isGone = app === null && setScheduleId(name) === undefined;
  if (paused || isGone || kind === "automation") return null;
  if (kind === "sensor") return nextAt;
  try {
    return nextDue(JSON.parse(spec) as ScheduleSpec, nextAt ?? now, now);
  } catch {
    // A corrupt row must not hide the others.
    return nextAt;
  }
}
