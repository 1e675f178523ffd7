/**
 * Ctrl-C, SIGTERM and SIGHUP: the first one asks to stop. A second Ctrl-C or SIGTERM ends the process at once. A
 * terminal that closes may send SIGHUP more than once, so a second SIGHUP changes nothing.
 */
import { stayAlive } from "../../env/timers.ts";
import { endWith, reportError } from "./failure.ts";
import { whenNpmIsGone } from "./npm.ts";

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: undefined } as const;

export type StopSignal = keyof typeof EXIT_CODES;
export const STOP_SIGNALS = Object.keys(EXIT_CODES) as readonly StopSignal[];

/** One press of Ctrl-C can arrive twice: from the terminal, and passed on by npm. */
const SAME_PRESS_MS = 200;

/** Sent by the parent that restarts us, and how long the stop may then take. */
export const RESTART = "restart";
export const RESTART_GRACE_MS = 2_000;

/** Keeps the process alive until it is told to stop, also while no worker runs yet. */
export function whenToldToStop(stop: (isRestart: boolean) => Promise<void>): void {
  let toldAt: number | undefined;
  const letGo = stayAlive();
  const told = (signal: StopSignal, isRestart = false): void => {
    const now = performance.now();
    const exitCode = EXIT_CODES[signal];
    if (toldAt === undefined) {
      toldAt = now;
      letGo();
      stop(isRestart).catch((error: unknown) => endWith(reportError(error)));
    } else if (exitCode !== undefined && now - toldAt > SAME_PRESS_MS) process.exit(exitCode);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, () => told(signal));
  process.on("message", (message) => {
    if (message === RESTART) told("SIGTERM", true);
  });
  // If the parent that restarts us is gone, we stop too. The parent watches npm itself.
  process.on("disconnect", () => told("SIGTERM"));
  if (!process.channel) whenNpmIsGone(() => told("SIGTERM"));
}
