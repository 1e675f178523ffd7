import { randomBytes } from "node:crypto";

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

/**
 * How many tasks run before the measured ones, in the same processes. Node compiles hot code while it runs, and a
 * small measurement needs it compiled as much as a large one.
 */
export function warmUpOf(tasks: number): number {
  return Math.max(Math.ceil(tasks / 5), Math.min(tasks, 4_000));
}

/** Polls until `check` holds. The 2 ms pause keeps the polling itself out of the figure. */
export async function until(check: () => Promise<boolean>): Promise<void> {
  while (!(await check())) await new Promise((next) => setTimeout(next, 2));
}

/** Makes `count` calls, from `callers` loops that each wait for their own answer. */
export async function atOnce(
  callers: number,
  count: number,
  call: (n: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: callers }, loop));
}

/** Fails if `work` takes longer. The caller ends what it started. */
export async function within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${Math.round(ms / 1_000)} s`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Text that a database cannot make much smaller. */
export function incompressible(bytes: number): string {
  return randomBytes(Math.ceil((bytes * 3) / 4))
    .toString("base64")
    .slice(0, bytes);
}
