/** Time zones: what the wall clock shows at an instant, and at which instants it shows a time. */

const DAY = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();

export function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** The zone's wall-clock time, written as if it were UTC. */
export function localOf(zone: string, instant: number): number {
  return instant + offsetOf(zone, instant);
}

/** How far the zone's clock is ahead of UTC, in milliseconds. */
export function offsetOf(zone: string, instant: number): number {
  if (zone === "UTC") return 0;
  const seconds = Math.floor(instant / 1000) * 1000;
  const shown: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(seconds)) shown[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
  return Date.UTC(year, month - 1, day, hour, minute, second) - seconds;
}

/** The first instant at which the clock shows this time. Undefined if the clock is put forward past it. */
export function firstShown(zone: string, local: number): number | undefined {
  const times = offsetsAround(zone, local).map((offset) => local - offset);
  const shown = times.filter((instant) => localOf(zone, instant) === local);
  return shown.length === 0 ? undefined : Math.min(...shown);
}

/** The instant at which the clock is put forward past this time, to the second. */
export function putForwardPast(zone: string, local: number): number {
  const offsets = offsetsAround(zone, local);
  let before = local - Math.max(...offsets);
  let after = local - Math.min(...offsets);
  const then = offsetOf(zone, after);
  while (after - before > 1000) {
    const middle = Math.floor((before + after) / 2000) * 1000;
    if (offsetOf(zone, middle) === then) after = middle;
    else before = middle;
  }
  return after;
}

/** A day before and a day after lie on both sides of any clock change that matters here. */
const offsetsAround = (zone: string, local: number): number[] => [
  ...new Set([offsetOf(zone, local - DAY), offsetOf(zone, local + DAY)]),
];

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formats.set(zone, format);
  return format;
}
