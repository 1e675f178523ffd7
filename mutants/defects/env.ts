/** The clocks, timers and ids of this process. */
import type { Defect } from "../defect.ts";

export const defects: readonly Defect[] = [
  {
    id: "ids-follow-the-wall-back",
    means:
      "after the clock was set back, a new task stands before older ones of the same priority in every list",
    file: "src/env/ids.ts",
    from: "if (time > this.#time) {",
    to: "if (time !== this.#time) {",
    noticedBy: { file: "src/env/ids.test.ts", test: "when the clock goes back" },
  },
  {
    id: "ids-run-over",
    means: "two ids of one millisecond are the same, and the second task counts as enqueued already",
    file: "src/env/ids.ts",
    from: "& ((1n << 59n) - 1n)",
    to: "",
    noticedBy: { file: "src/env/ids.test.ts", test: "do not run over" },
  },
  {
    id: "ids-without-chance",
    means: "two processes give the same id to two tasks of one millisecond",
    file: "src/env/host.ts",
    from: "() => randomBytes(8)",
    to: "() => randomBytes(8).fill(0)",
    noticedBy: { file: "src/env/ids.test.ts", test: "differ between processes by chance" },
  },
  {
    id: "durations-by-the-wall",
    means: "a clock that is set back stops timeouts, leases and polls until it has caught up",
    file: "src/env/host.ts",
    from: "monotonic: () => performance.now()",
    to: "monotonic: () => Date.now()",
    noticedBy: { file: "src/env/host.test.ts", test: "is set back" },
  },
  {
    id: "long-timer-rings-at-once",
    means: "a timeout of a month ends a task at once",
    file: "src/env/timers.ts",
    from: "Math.min(ms, LONGEST_MS)",
    to: "ms",
    noticedBy: { file: "src/env/timers.test.ts", test: "longer than Node can count" },
  },
  {
    id: "timer-keeps-the-process",
    means: "a program that has closed its store hangs until a timer that nobody needs has rung",
    file: "src/env/timers.ts",
    from: "if (!options?.keepsAlive) timer.unref();",
    to: "",
    noticedBy: { file: "src/env/timers.test.ts", test: "keeps the process alive only when" },
  },
];
