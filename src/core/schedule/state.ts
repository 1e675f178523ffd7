/**
 * The state of a trigger between two looks: the JSON in its row. All fields are missing before the first
 * look.
 */
import type { Acted } from "./automation.ts";

interface Looked {
  /** The error of the last look. Fire times that were due then are still due. */
  readonly error?: { readonly message: string; readonly at: number } | undefined;
  /** The run that it submitted last, and when. */
  readonly lastRun?: string | undefined;
  readonly lastRunAt?: number | undefined;
}

export interface ScheduleState extends Looked {
  /** The fire time of its last run. */
  readonly lastFireAt?: number;
  /**
   * The number of fire times without a run: `missed` because no worker was running, `overlapped` because an
   * earlier run was not over.
   */
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
