/** Milliseconds from the monotonic clock. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** The smallest value that at least `share` (0 to 1) of the values do not exceed. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new Error("percentile of nothing");
  const sorted = [...values].sort((a, b) => a - b);
  const index = Math.max(0, Math.ceil(share * sorted.length) - 1);
  return sorted[index] as number;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Runs `once` n times in sequence and returns every figure with the median. */
export async function medianOf(
  n: number,
  once: (round: number) => Promise<number>,
): Promise<{ median: number; all: number[] }> {
  const all: number[] = [];
  for (let round = 1; round <= n; round++) all.push(await once(round));
  return { median: median(all), all };
}

export interface Countdown {
  hit(): void;
  done: Promise<void>;
}

/** Resolves after `count` hits. Handlers use it to tell the measurement that everything ran. */
export function countdown(count: number): Countdown {
  let left = count;
  let resolve = () => {};
  const done = new Promise<void>((settle) => {
    resolve = settle;
  });
  return {
    done,
    hit() {
      if (--left === 0) resolve();
    },
  };
}

/** Polls until `check` holds. The 2 ms pause keeps the polling itself out of the figure. */
export async function until(check: () => Promise<boolean>): Promise<void> {
  while (!(await check())) await new Promise((next) => setTimeout(next, 2));
}
