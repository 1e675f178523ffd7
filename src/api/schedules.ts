/** Schedules, sensors and automations as users see and control them. */
import type { App } from "../core/app/app.ts";
import { SluiceError } from "../core/error.ts";
import type { Fire } from "../core/schedule/definition.ts";
import type { TriggerKind } from "../core/schedule/trigger.ts";
import { triggerName } from "../core/schedule/trigger.ts";
import type { Env } from "../env/env.ts";
import type { Store, TriggerRow } from "../store/store.ts";
import { newRun } from "./new-run.ts";
import { readable } from "./readable.ts";

export interface TriggerView {
  readonly id: string;
  readonly kind: TriggerKind;
  /** The app that declares it. If null, no app does any more, so no worker looks at it. */
  readonly app: string | null;
  readonly workflow: string | null;
  readonly paused: boolean;
  /** When it is next looked at. Null means with every poll. */
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

  /** Everything that starts runs by itself, by name. */
  async list(): Promise<TriggerView[]> {
    const { triggers } = await this.#store.triggers();
    return triggers.map(triggerView);
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
    const schedule = this.#app?.schedules.find((each) => each.id === id || each.name === id);
    const workflow = schedule && this.#app?.workflows.get(schedule.workflow);
    if (!this.#app || !schedule || !workflow)
      throw new SluiceError(
        "UNKNOWN_SCHEDULE",
        `schedule "${id}" is not part of this app. Use the app it belongs to.`,
      );
    const at = await this.#store.now();
    const input =
      typeof schedule.input === "function"
        ? (schedule.input as (fire: Fire) => unknown)({ at })
        : schedule.input;
    const run = await newRun(this.#app, workflow, input, {
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
    const { triggers } = await this.#store.triggers();
    const kinds = ["schedule", "sensor", "automation"] as const;
    const found = triggers.filter(
      ({ name }) => name === id || kinds.some((kind) => name === triggerName(kind, id)),
    );
    if (found.length === 1) return found[0] as TriggerRow;
    if (found.length > 1)
      throw new SluiceError(
        "AMBIGUOUS_ID",
        `"${id}" is the ID of several: ${found.map(({ name }) => `"${name}"`).join(", ")}. Say which.`,
      );
    throw new SluiceError("UNKNOWN_SCHEDULE", `There is no schedule "${id}" in this store.`, {
      remedies: [{ action: "listSchedules" }],
    });
  }
}

function triggerView({ name, kind, app, workflow, paused, nextAt, spec, state }: TriggerRow): TriggerView {
  return {
    id: name.slice(kind.length + 1),
    kind,
    app,
    workflow,
    paused,
    nextAt,
    spec: readable(spec) as Record<string, unknown>,
    state: readable(state) as Record<string, unknown>,
  };
}
