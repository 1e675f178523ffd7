/** Whether the npm that started us is still there. */
import { every } from "../../env/timers.ts";

const LOOK_MS = 500;

/** As early as can be: who is gone by now is not waited for. */
const parent = process.ppid;

/**
 * Calls back when npm runs this very command (`npx sluice …`, or a script that names it) and is gone. npm hands SIGTERM to
 * its shell, which dies of it without a word to us, so whoever stops npm would leave us running alone.
 */
export function whenNpmIsGone(gone: () => void): void {
  if (!isRunByNpm(process.env)) return;
  const cancel = every(LOOK_MS, () => {
    if (process.ppid === parent) return;
    cancel();
    gone();
  });
}

/** Not where a program that npm runs starts us, and not where a script puts us in the background: both may leave before us. */
export function isRunByNpm({ npm_lifecycle_script: script = "" }: NodeJS.ProcessEnv): boolean {
  return /\bsluice\b/.test(script) && !/(?<!&)&(?!&)/.test(script);
}
