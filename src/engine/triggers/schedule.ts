/** A look at a schedule: which of its fire times are due, and which of them get a run. */
import { parseCron } from "../../core/schedule/cron.ts";
import { dueTimes } from "../../core/schedule/due.ts";
import { nextFire } from "../../core/schedule/next-fire.ts";
import type { Overlap } from "../../core/schedule/overlap.ts";
import { withoutOverlap } from "../../core/schedule/overlap.ts";
import type { ScheduleState } from "../../core/schedule/state.ts";
import type { AppSchedule, ScheduleSpec } from "../../core/schedule/trigger.ts";
import { isoTime } from "../../core/time.ts";
import type { NewRun } from "../../store/runs.ts";
import type { Look, TriggerDecision } from "./decision.ts";
import { optionsOf, stillDue } from "./decision.ts";

/** The row has the times, as they were declared last. The app has the workflow and its input. */
export async function lookAtSchedule(look: Look, schedule: AppSchedule): Promise<TriggerDecision> {
  const { row, now } = look;
  const { cron, timezone, catchUp, overlap } = JSON.parse(row.spec) as ScheduleSpec;
  const parsed = parseCron(cron);
  const next = (after: number): number | null => nextFire(parsed, timezone, after);
  const due = dueTimes({ next, from: row.nextAt ?? now, now, catchUp });
  const times = await free(look, overlap, due.times);
  const runs: NewRun[] = [];
  try {
    for (const at of times) runs.push(await runAt(look, schedule, at));
  } catch (error) {
    return stillDue(look, error);
  }
  const { error: _, ...state } = JSON.parse(row.state) as ScheduleState;
  const after: ScheduleState = {
    ...state,
    ...(runs.length > 0
      ? { lastRun: runs.at(-1)?.id, lastRunAt: now, lastFireAt: times.at(-1) as number }
      : {}),
    missed: (state.missed ?? 0) + due.missed,
    overlapped: (state.overlapped ?? 0) + due.times.length - times.length,
  };
  return { state: JSON.stringify(after), nextAt: due.nextAt, submit: runs };
}

/**
 * Runs of this source are created only together with a new stamp of this trigger. So none can appear between
 * this look and the decision.
 */
async function free(
  { store, row }: Look,
  overlap: Overlap,
  times: readonly number[],
): Promise<readonly number[]> {
  if (overlap === "allow" || times.length === 0) return times;
  return withoutOverlap(overlap, await store.activeRuns({ source: row.name }), times);
}

function runAt({ toRun }: Look, schedule: AppSchedule, at: number): Promise<NewRun> {
  const { workflow, input } = schedule;
  const made: unknown = typeof input === "function" ? input({ at }) : input;
  return toRun(workflow, made, optionsOf(schedule, isoTime(at)));
}
