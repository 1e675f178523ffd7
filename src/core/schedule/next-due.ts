/** When a schedule starts its next run, decided from its declaration alone. */
import { parseCron } from "./cron.ts";
import { dueTimes } from "./due.ts";
import { nextFire } from "./next-fire.ts";
import type { ScheduleSpec } from "./trigger.ts";

/**
 * The first fire time that gets a run. It is not after `now` if the run is due already. Null if there is none.
 * Fire times from `from` on were not looked at yet.
 */
export function nextDue({ cron, timezone, catchUp }: ScheduleSpec, from: number, now: number): number | null {
  const parsed = parseCron(cron);
  const next = (after: number): number | null => nextFire(parsed, timezone, after);
  const { times, nextAt } = dueTimes({ next, from, now, catchUp });
  return times[0] ?? nextAt;
}
