/**
 * C13: a schedule makes one run for each of its times, and a sensor one for each thing it saw, whichever
 * process dies meanwhile. A run is told by the input that its trigger made.
 */
import { SIGHT, TICK } from "../app/marks.ts";
import type { Finding, Tables } from "../history.ts";

export interface Ticks extends Finding {
  readonly ticks: number;
  readonly sights: number;
}

/** All times of the schedule in this range are owed, even if no process could look for long. */
export interface Owed {
  readonly from: number;
  readonly to: number;
}

export function checkTicks({ runs }: Pick<Tables, "runs">, everyMs: number, owed?: Owed): Ticks {
  const of = (start: string): string[] =>
    runs.flatMap(({ mark }) => (mark?.startsWith(start) ? [mark.slice(start.length)] : []));
  const times = of(TICK).map((text) => Date.parse(text));
  const counts = of(SIGHT).map(Number);
  return {
    check: "C13 each tick once",
    figures: `${times.length} times of a schedule, ${counts.length} sights of a sensor`,
    violations: [
      ...unbroken("the schedule", times, everyMs, (at) => new Date(at).toISOString()),
      ...(owed ? missed(times, everyMs, owed) : []),
      // The first thing it sees is 1.
      ...unbroken("the sensor", counts.length > 0 ? [0, ...counts] : [], 1, String),
    ],
    ticks: times.length,
    sights: counts.length,
  };
}

function missed(times: readonly number[], everyMs: number, { from, to }: Owed): string[] {
  const seen = new Set(times);
  const found: string[] = [];
  for (let at = Math.ceil(from / everyMs) * everyMs; at <= to; at += everyMs)
    if (!seen.has(at)) found.push(`the schedule made no run for ${new Date(at).toISOString()}`);
  return found;
}

/** Each value occurs once, and none in between is missing. */
function unbroken(
  who: string,
  seen: readonly number[],
  step: number,
  say: (value: number) => string,
): string[] {
  const sorted = [...seen].sort((a, b) => a - b);
  return sorted.slice(1).flatMap((value, index) => {
    const before = sorted[index] as number;
    if (value === before) return [`${who} made two runs for ${say(value)}`];
    return value === before + step ? [] : [`${who} made no run between ${say(before)} and ${say(value)}`];
  });
}
