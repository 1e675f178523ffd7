/**
 * Decides which fire times of a schedule are due when some may have been missed. Each fire time is looked at
 * once: one that is passed over here is gone. At most a hundred are returned at a time; later ones are still
 * due, from `nextAt` on.
 */

/** How to treat missed fire times. `skip`: none · `last`: the last one · `all`: each of them. */
export type CatchUp = "skip" | "last" | "all";

export const MOST_AT_ONCE = 100;
const MOST_COUNTED = MOST_AT_ONCE + 1;
/** A fire time that is noticed within a minute was not missed. */
export const ON_TIME_MS = 60_000;

interface Looked {
  /** The first fire time after an instant, or null if there is none. */
  readonly next: (after: number) => number | null;
  /** Fire times from here on were not looked at yet. */
  readonly from: number;
  readonly now: number;
  readonly catchUp: CatchUp;
}

interface Due {
  /** The fire times to submit, in order. */
  readonly times: readonly number[];
  /** How many fire times pass without a run. They are counted up to a hundred; one more means any number more. */
  readonly missed: number;
  /** The first fire time that is not decided here. If there are more due, it is not after `now`. */
  readonly nextAt: number | null;
}

export function dueTimes({ next, from, now, catchUp }: Looked): Due {
  const first = next(from - 1);
  if (first === null || first > now) return { times: [], missed: 0, nextAt: first };
  if (catchUp === "all") return oneByOne(next, first, now);
  const last = lastUpTo(next, first, now);
  const missed = countBefore(next, first, last);
  const nextAt = next(now);
  if (catchUp === "skip" && now - last > ON_TIME_MS)
    return { times: [], missed: Math.min(missed + 1, MOST_COUNTED), nextAt };
  return { times: [last], missed, nextAt };
}

function oneByOne(next: Looked["next"], first: number, now: number): Due {
  const times: number[] = [];
  let at: number | null = first;
  for (; at !== null && at <= now && times.length < MOST_AT_ONCE; at = next(at)) times.push(at);
  return { times, missed: 0, nextAt: at };
}

/** There may be millions of fire times, so this is a binary search. */
function lastUpTo(next: Looked["next"], first: number, now: number): number {
  let last = first;
  let beyond = now;
  while (beyond - last > 1) {
    const middle = Math.floor((last + beyond) / 2);
    const found = next(middle);
    if (found !== null && found <= now) last = found;
    else beyond = middle;
  }
  const found = next(last);
  return found !== null && found <= now ? found : last;
}

function countBefore(next: Looked["next"], first: number, last: number): number {
  let count = 0;
  for (let at: number | null = first; at !== null && at < last && count < MOST_COUNTED; at = next(at))
    count += 1;
  return count;
}
