/** What is remembered of a trigger between two looks: the JSON in its row. Everything is missing before the first. */
import type { Acted } from "./automation.ts";

interface Looked {
  /** What went wrong when it was looked at last; what was due then is due still. */
  readonly error?: { readonly message: string; readonly at: number } | undefined;
  /** The run it has submitted last, and when. */
  readonly lastRun?: string | undefined;
  readonly lastRunAt?: number | undefined;
}

export interface ScheduleState extends Looked {
  /** The fire time of its last run. */
  readonly lastFireAt?: number;
  /** Fire times without a run: because nobody was there, and because a run of it was not over. */
  readonly missed?: number;
  readonly overlapped?: number;
}

export interface SensorState extends Looked {
  readonly cursor?: unknown;
  readonly lookedAt?: number;
}

export interface AutomationState extends Looked {
  readonly acted?: Acted;
}

export type TriggerState = ScheduleState | SensorState | AutomationState;
