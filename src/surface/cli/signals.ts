/** Ctrl-C and SIGTERM: the first one asks to stop, the second one ends the process at once. */
import { stayAlive } from "../../env/timers.ts";
import { endWith, reportError } from "./failure.ts";
import { whenNpmIsGone } from "./npm.ts";

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** One press of Ctrl-C can arrive twice: from the terminal, and passed on by npm. */
const SAME_PRESS_MS = 200;

/** Sent by the parent that restarts us, and how long the stop may then take. */
export const RESTART = "restart";
export const RESTART_GRACE_MS = 2_000;

/** Keeps the process alive until it is told to stop, because the timers of an idle worker do not. */
export function whenToldToStop(stop: (isRestart: boolean) => Promise<void>): void {
  let toldAt: number | undefined;
  const letGo = stayAlive();
  const told = (signal: keyof typeof EXIT_CODES, isRestart = false): void => {
    const now = performance.now();
    if (toldAt === undefined) {
      toldAt = now;
      letGo();
      stop(isRestart).catch((error: unknown) => endWith(reportError(error)));
    } else if (now - toldAt > SAME_PRESS_MS) process.exit(EXIT_CODES[signal]);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => told(signal));
  process.on("message", (message) => {
    if (message === RESTART) told("SIGTERM", true);
  });
  // If the parent that restarts us is gone, we stop too. The parent watches npm itself.
  process.on("disconnect", () => told("SIGTERM"));
  if (!process.channel) whenNpmIsGone(() => told("SIGTERM"));
}
