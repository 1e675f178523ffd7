/**
 * Looks at the schedules, sensors and automations of an app when they are due, and with every poll, and
 * starts their runs. Any number of processes may do so at once and may die at any point: each decision is one
 * transaction that requires the stamp it began with, so each run is created once.
 */
import { setSchedule } from "../../core/schedule/set-schedule.ts";
import type {
  AppSchedule,
  AppSensor,
  AppTrigger,
  AppTriggers,
  SensorSpec,
} from "../../core/schedule/trigger.ts";
import type { Env } from "../../env/env.ts";
import type { Store } from "../../store/store.ts";
import type { TriggerRow } from "../../store/triggers.ts";
import type { Polling } from "../loop.ts";
import { Loop } from "../loop.ts";
import type { Service } from "../service.ts";
import { lookAtAutomation } from "./automation.ts";
import type { Look, ToRun, ToTask, TriggerDecision } from "./decision.ts";
import { lookAtSchedule } from "./schedule.ts";
import { lookThroughSensor } from "./sensor.ts";

interface TriggersOptions extends Polling {
  readonly app: AppTriggers;
  /** The name of the app. It does not look at triggers of other apps. */
  readonly owner: string;
  readonly toRun: ToRun;
  readonly toTask: ToTask;
  /** Whether the app has the task or workflow that a schedule set at run time starts. */
  readonly has: (schedule: AppSchedule) => boolean;
}

/** Time beyond a sensor's own timeout, to record its answer. */
const GRACE_MS = 10_000;
const WAKE_MS = 50;

export class Triggers implements Service {
  readonly #store: Store;
  readonly #env: Env;
  readonly #options: TriggersOptions;
  readonly #loop: Loop;
  readonly #mine: ReadonlyMap<string, AppTrigger>;
  /** Sensors that are looking right now. */
  readonly #sensing = new Map<string, Promise<void>>();
  #stop = new AbortController();
  #waking = false;

  constructor(store: Store, env: Env, options: TriggersOptions) {
    this.#store = store;
    this.#env = env;
    this.#options = options;
    this.#loop = new Loop(env, options, () => this.#look());
    const { schedules, sensors, automations } = options.app;
    const all = [...schedules, ...sensors, ...automations];
    this.#mine = new Map(all.map((trigger) => [trigger.name, trigger]));
  }

  async start(): Promise<void> {
    this.#stop = new AbortController();
    await this.#loop.start();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop.stop();
    await Promise.all(this.#sensing.values());
  }

  /**
   * Something has happened to runs. That may be very frequent, and a moment later is soon enough. An app
   * without triggers leaves it to the poll.
   */
  wake(): void {
    if (this.#mine.size === 0 || this.#waking) return;
    this.#waking = true;
    this.#env.after(WAKE_MS, () => {
      this.#waking = false;
      this.#loop.wake();
    });
  }

  async #look(): Promise<number> {
    const began = this.#env.monotonic();
    const { now, triggers } = await this.#store.triggers();
    let next = Number.POSITIVE_INFINITY;
    for (const row of triggers) {
      const nextAt = await this.#lookAt(row, now);
      const passed = this.#env.monotonic() - began;
      if (nextAt !== null) next = Math.min(next, nextAt - now - passed);
    }
    return next;
  }

  /**
   * Returns when to look at the trigger next, if known. An error with one trigger does not keep the others
   * from being looked at.
   */
  async #lookAt(row: TriggerRow, now: number): Promise<number | null> {
    if (row.paused || this.#stop.signal.aborted) return null;
    const trigger = this.#triggerOf(row);
    if (!trigger) return null;
    if (row.nextAt !== null && row.nextAt > now) return row.nextAt;
    const { toRun, toTask } = this.#options;
    const look = { store: this.#store, toRun, toTask, row, now };
    if (trigger.kind === "sensor") {
      this.#sense(look, trigger);
      return null;
    }
    try {
      const decision =
        trigger.kind === "schedule"
          ? await lookAtSchedule(look, trigger)
          : await lookAtAutomation(look, trigger);
      // A trigger that failed is still due. The next poll tries again.
      if (!decision || !(await this.#fire(row, decision)) || decision.nextAt === row.nextAt) return null;
      return decision.nextAt;
    } catch (error) {
      this.#options.failed?.(error);
      return null;
    }
  }

  /** Undefined if it is not this app's to look at. A damaged row must not hide the others. */
  #triggerOf(row: TriggerRow): AppTrigger | undefined {
    const { owner, has, failed } = this.#options;
    if (row.app !== null) return row.app === owner ? this.#mine.get(row.name) : undefined;
    try {
      const schedule = setSchedule(row);
      return schedule && has(schedule) ? schedule : undefined;
    } catch (error) {
      failed?.(error);
      return undefined;
    }
  }

  /** Looks for as long as it takes, in parallel with everything else. */
  #sense(look: Look, sensor: AppSensor): void {
    const { name, busy } = look.row;
    if (busy || this.#sensing.has(name)) return;
    const failed = (error: unknown): boolean => {
      this.#options.failed?.(error);
      return false;
    };
    const done = this.#senseOnce(look, sensor)
      .catch(failed)
      .then((isDone) => {
        this.#sensing.delete(name);
        // Looks again to learn its next time. If nothing was recorded, it is still due and waits for the
        // poll.
        if (isDone) this.#loop.wake();
      });
    this.#sensing.set(name, done);
  }

  async #senseOnce(look: Look, sensor: AppSensor): Promise<boolean> {
    const { name, stamp, state, nextAt, spec } = look.row;
    const { timeoutMs } = JSON.parse(spec) as SensorSpec;
    const taken = await this.#store.takeTrigger(name, stamp, timeoutMs + GRACE_MS);
    if (taken === undefined) return false;
    const decision = await lookThroughSensor(look, sensor, this.#env, this.#stop.signal);
    // Told to stop: gives the trigger back unchanged, so that another process need not wait.
    return this.#fire({ name, stamp: taken }, decision ?? { state, nextAt, submit: [] });
  }

  async #fire(
    { name, stamp }: Pick<TriggerRow, "name" | "stamp">,
    decision: NonNullable<TriggerDecision>,
  ): Promise<boolean> {
    const units = await this.#store.fire({ name, stamp, ...decision });
    if (units?.some(({ created }) => created)) this.#store.hint(decision.enqueue?.length ? "work" : "runs");
    return units !== undefined;
  }
}
