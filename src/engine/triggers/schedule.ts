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
import type { NewTask } from "../../store/store.ts";
import type { Look, TriggerDecision } from "./decision.ts";
import { optionsOf, stillDue } from "./decision.ts";

/** The row has the times, as they were declared last. The app has the workflow or task, and its input. */
export async function lookAtSchedule(look: Look, schedule: AppSchedule): Promise<TriggerDecision> {
  const { row, now } = look;
  const { cron, timezone, catchUp, overlap } = JSON.parse(row.spec) as ScheduleSpec;
  const parsed = parseCron(cron);
  const next = (after: number): number | null => nextFire(parsed, timezone, after);
  const due = dueTimes({ next, from: row.nextAt ?? now, now, catchUp });
  const { error: _, ...state } = JSON.parse(row.state) as ScheduleState;
  const times = await free(look, overlap, due.times, schedule.spec.task === undefined ? undefined : state);
  const submit: NewRun[] = [];
  const enqueue: NewTask[] = [];
  try {
    for (const at of times)
      if (schedule.spec.task === undefined) submit.push(await runAt(look, schedule, at));
      else enqueue.push(await taskAt(look, schedule, schedule.spec.task, at));
  } catch (error) {
    return stillDue(look, error);
  }
  const last = submit.at(-1) ?? enqueue.at(-1);
  const after: ScheduleState = {
    ...state,
    ...(last ? { lastRun: last.id, lastRunAt: now, lastFireAt: times.at(-1) as number } : {}),
    missed: (state.missed ?? 0) + due.missed,
    overlapped: (state.overlapped ?? 0) + due.times.length - times.length,
  };
  return { state: JSON.stringify(after), nextAt: due.nextAt, submit, enqueue };
}

/**
 * Runs of this source are created only together with a new stamp of this trigger. So none can appear between
 * this look and the decision. A task has no source, so the last one is asked for (`ofTask`): no other can be
 * active, because each had to wait for the one before it.
 */
async function free(
  { store, row }: Look,
  overlap: Overlap,
  times: readonly number[],
  ofTask: ScheduleState | undefined,
): Promise<readonly number[]> {
  if (overlap === "allow" || times.length === 0) return times;
  if (!ofTask) return withoutOverlap(overlap, await store.activeRuns({ source: row.name }), times);
  const { lastRun } = ofTask;
  const idle = { queued: false, inProgress: false };
  const active = lastRun === undefined ? idle : await store.activeRuns({ unit: lastRun });
  return withoutOverlap(overlap, active, times);
}

const inputAt = ({ input }: AppSchedule, at: number): unknown =>
  typeof input === "function" ? input({ at }) : input;

function runAt({ toRun }: Look, schedule: AppSchedule, at: number): Promise<NewRun> {
  return toRun(schedule.workflow ?? "", inputAt(schedule, at), optionsOf(schedule, isoTime(at)));
}

function taskAt({ toTask }: Look, schedule: AppSchedule, task: string, at: number): Promise<NewTask> {
  const { key, priority } = optionsOf(schedule, isoTime(at));
  return toTask(task, inputAt(schedule, at), { key, priority });
}
