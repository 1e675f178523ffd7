/**
 * Triggers, which start runs automatically: schedules, sensors and automations. Each has one row with a stamp
 * that every change increases. A decision made under an old stamp changes nothing, and its process is told
 * so. So it does not matter how many processes look at once, or when one of them dies: a decision, the state
 * it leaves and the runs it submits are stored together or not at all.
 */
import type { Success } from "../../core/schedule/automation.ts";
import type { Active } from "../../core/schedule/overlap.ts";
import type { TriggerKind } from "../../core/schedule/trigger.ts";
import type { NewTrigger } from "./declarations.ts";
import type { NewRun } from "./runs.ts";
import type { Enqueued, NewTask } from "./units.ts";

export interface TriggerPort {
  /** All triggers, sorted by name, and the store's current time. */
  triggers(): Promise<{ readonly now: number; readonly triggers: readonly TriggerRow[] }>;
  /**
   * A resumed trigger starts afresh: nothing that it missed while paused is due. Undefined if there is no
   * such trigger.
   */
  pauseTrigger(name: string, paused: boolean, by: string): Promise<{ readonly was: boolean } | undefined>;
  /**
   * Creates a trigger that no app declares, or changes it like a declaration does. `paused` counts only for a
   * new one.
   */
  setTrigger(trigger: NewTrigger, by: string): Promise<{ readonly created: boolean }>;
  /** Deletes a trigger that no app declares. Its history stays. False if there is none. */
  removeTrigger(name: string, by: string): Promise<boolean>;
  /**
   * Marks a trigger as busy for this long, so that other processes need not look at it. Returns the new
   * stamp, or undefined if another process was faster.
   */
  takeTrigger(name: string, stamp: number, busyMs: number): Promise<number | undefined>;
  /**
   * Writes a decision (state, next look and runs) in one transaction. Undefined if another process was
   * faster.
   */
  fire(firing: Firing): Promise<Enqueued[] | undefined>;
  /** The last success of each of these workflows. Workflows that never succeeded are left out. */
  lastSuccesses(workflows: readonly string[]): Promise<Success[]>;
  activeRuns(of: RunsOf): Promise<Active>;
}

/**
 * Triggers come with a declaration, which adds new ones and updates changed ones. A changed trigger is looked
 * at again at once. Its state, its pause and its due times stay. A trigger that its app no longer declares
 * keeps its state, but no process looks at it.
 */
export interface TriggerRow {
  readonly name: string;
  /** The app that declares it; null if none does. */
  readonly app: string | null;
  readonly kind: TriggerKind;
  readonly workflow: string | null;
  readonly spec: string;
  /** JSON text of an object; empty before the first look. */
  readonly state: string;
  /** When to look at it next. The time before that has been examined already. Null means with every poll. */
  readonly nextAt: number | null;
  readonly paused: boolean;
  readonly stamp: number;
  /** Another process is working on it. */
  readonly busy: boolean;
}

export interface Firing {
  readonly name: string;
  /** The stamp under which this was decided. */
  readonly stamp: number;
  readonly state: string;
  readonly nextAt: number | null;
  readonly submit: readonly NewRun[];
  /** Tasks to put in line, each with its key. The answer names them after the runs. */
  readonly enqueue?: readonly NewTask[] | undefined;
}

/** The runs of one workflow, the runs that one source has submitted, or one task. */
export type RunsOf = { readonly workflow: string } | { readonly source: string } | { readonly unit: string };
