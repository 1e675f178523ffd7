/**
 * What a store remembers of what starts runs by itself: schedules, sensors, automations. One row each, and a stamp that
 * every change moves on. Who decided by an old stamp changes nothing and is told so; so it does not matter how many
 * processes look at once, or where one of them ends: a decision, the state it leaves and the runs it makes are there
 * together or not at all.
 */
import type { Success } from "../../core/schedule/automation.ts";
import type { Active } from "../../core/schedule/overlap.ts";
import type { TriggerKind } from "../../core/schedule/trigger.ts";
import type { NewRun } from "./runs.ts";
import type { Enqueued } from "./units.ts";

export interface TriggerPort {
  /** All of them, by name, and the store's now. */
  triggers(): Promise<{ readonly now: number; readonly triggers: readonly TriggerRow[] }>;
  /** Resumed, it begins anew: what was missed while it was paused is not due. Undefined when there is no such trigger. */
  pauseTrigger(name: string, paused: boolean, by: string): Promise<{ readonly was: boolean } | undefined>;
  /** Marks it as busy for so long, so that others need not look meanwhile. The new stamp; undefined when somebody was faster. */
  takeTrigger(name: string, stamp: number, busyMs: number): Promise<number | undefined>;
  /** Writes a decision: state, next look and runs, all in one transaction. Undefined when somebody was faster. */
  fire(firing: Firing): Promise<Enqueued[] | undefined>;
  /** The last success of each of these workflows; of those that never succeeded there is none. */
  lastSuccesses(workflows: readonly string[]): Promise<Success[]>;
  activeRuns(of: RunsOf): Promise<Active>;
}

/**
 * They come with a declaration, which adds what is new and takes over what has changed: then it is looked at again at
 * once. State, pause and what is due stay. What its app no longer declares stays with its state, but nobody looks at it.
 */
export interface TriggerRow {
  readonly name: string;
  /** Whose it is; null where no app declares it. */
  readonly app: string | null;
  readonly kind: TriggerKind;
  readonly workflow: string | null;
  readonly spec: string;
  /** JSON text of an object; empty before it was looked at first. */
  readonly state: string;
  /** When to look at it next, and from where on nothing was looked at; null: with every poll. */
  readonly nextAt: number | null;
  readonly paused: boolean;
  readonly stamp: number;
  /** Somebody is at it. */
  readonly busy: boolean;
}

export interface Firing {
  readonly name: string;
  /** The stamp it was decided by. */
  readonly stamp: number;
  readonly state: string;
  readonly nextAt: number | null;
  readonly submit: readonly NewRun[];
}

/** Runs of one workflow, or those that one source has submitted. */
export type RunsOf = { readonly workflow: string } | { readonly source: string };
