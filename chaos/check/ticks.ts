/** C13: a schedule makes one run for each of its times, a sensor one for each thing it saw, whoever dies while looking. */
import type { Finding, Tables } from "../history.ts";

export interface Ticks extends Finding {
  readonly ticks: number;
}

export function checkTicks({ tasks, runs }: Tables, everyMs: number): Ticks {
  const ids = new Set(runs.map(({ id }) => id));
  const keys = tasks.flatMap(({ id, key }) => (ids.has(id) && key !== null ? [key] : []));
  const of = (start: string): string[] =>
    keys.filter((key) => key.startsWith(start)).map((key) => key.slice(start.length));
  const times = of("schedule:tick:").map((text) => Date.parse(text));
  const counts = of("sensor:count:").map(Number);
  return {
    check: "C13 each tick once",
    figures: `${times.length} times of a schedule, ${counts.length} sights of a sensor`,
    violations: [
      ...unbroken("the schedule", times, everyMs, (at) => new Date(at).toISOString()),
      ...unbroken("the sensor", counts, 1, String),
    ],
    ticks: times.length + counts.length,
  };
}

/** Each once, and none between them is missing. */
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
