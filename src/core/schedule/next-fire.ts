/**
 * Computes when a cron expression next fires in a time zone. Fixed times fire once on each of their days. If
 * the clock is put forward past such a time, it fires at that moment. If the clock is put back and shows the
 * time twice, it fires at the first. Intervals go by real time: they leave out times that the clock never
 * shows, and continue through a repeated hour.
 */
import { dateOf } from "../time.ts";
import type { Cron } from "./cron.ts";
import { firstShown, localOf, offsetOf, putForwardPast } from "./zone.ts";

/** There can be eight years from one 29 February to the next. */
const SEARCHED_DAYS = 12 * 366;
const DAY_SECONDS = 86_400;
/** No clock is put back further than this. */
const WINDOW = 4 * 3_600_000;

/** The first fire time after this instant, or null if there is none. */
export function nextFire(cron: Cron, zone: string, after: number): number | null {
  return cron.interval ? nextByInterval(cron, zone, after) : nextByClock(cron, zone, after);
}

function nextByClock(cron: Cron, zone: string, after: number): number | null {
  for (let local = nextNamed(cron, localOf(zone, after)); local !== null; local = nextNamed(cron, local)) {
    const instant = firstShown(zone, local) ?? putForwardPast(zone, local);
    if (instant > after) return instant;
  }
  return null;
}

function nextByInterval(cron: Cron, zone: string, after: number): number | null {
  const offset = offsetOf(zone, after);
  if (offsetOf(zone, after + WINDOW) !== offset)
    return scan(cron, zone, after) ?? nextByInterval(cron, zone, after + WINDOW);
  for (let local = nextNamed(cron, after + offset); local !== null; local = nextNamed(cron, local)) {
    if (local - offset <= after + WINDOW) return local - offset;
    const instant = firstShown(zone, local);
    if (instant !== undefined) return instant;
  }
  return null;
}

/** Used near a change of the clock: looks at each instant in its true order. */
function scan(cron: Cron, zone: string, after: number): number | null {
  const step = cron.seconds.length === 1 && cron.seconds[0] === 0 ? 60_000 : 1000;
  for (let at = (Math.floor(after / step) + 1) * step; at <= after + WINDOW; at += step)
    if (isNamed(cron, localOf(zone, at))) return at;
  return null;
}

const isNamed = (cron: Cron, local: number): boolean => nextNamed(cron, local - 1000) === local;

/** The first wall-clock time after this one that the expression names. */
function nextNamed(cron: Cron, local: number): number | null {
  const from = Math.floor(local / 1000) + 1;
  const first = Math.floor(from / DAY_SECONDS);
  for (let day = first; day < first + SEARCHED_DAYS; day += 1) {
    if (!isDay(cron, day)) continue;
    const time = firstTime(cron, day === first ? from - first * DAY_SECONDS : 0);
    if (time !== undefined) return (day * DAY_SECONDS + time) * 1000;
  }
  return null;
}

function isDay(cron: Cron, days: number): boolean {
  const { month, day } = dateOf(days);
  if (!cron.months.has(month)) return false;
  const ofMonth = cron.days.has(day) || (cron.lastDay && dateOf(days + 1).day === 1);
  // 1970-01-01 was a Thursday.
  const ofWeek = cron.weekdays.has((((days + 4) % 7) + 7) % 7);
  return cron.eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek;
}

/** The first matching second of a day, starting with this one. */
function firstTime({ hours, minutes, seconds }: Cron, from: number): number | undefined {
  for (const hour of hours) {
    if (hour * 3600 + 3599 < from) continue;
    for (const minute of minutes) {
      const start = hour * 3600 + minute * 60;
      const second = seconds.find((each) => start + each >= from);
      if (second !== undefined) return start + second;
    }
  }
  return undefined;
}
