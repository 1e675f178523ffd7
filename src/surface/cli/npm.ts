/** Detects that the npm that started this process is gone. */
import { every } from "../../env/timers.ts";

const LOOK_MS = 500;

/** Read as early as possible. A parent that is already gone cannot be detected. */
const parent = process.ppid;

/**
 * Calls back when npm runs this very command (`npx sluice …`, or a script that names it) and is gone. npm
 * passes SIGTERM to its shell, which dies without telling us. Without this, stopping npm would leave this
 * process running.
 */
export function whenNpmIsGone(gone: () => void): void {
  if (!isRunByNpm(process.env)) return;
  const cancel = every(LOOK_MS, () => {
    if (process.ppid === parent) return;
    cancel();
    gone();
  });
}

/**
 * False if a program that npm runs starts us, or if a script puts us in the background: both may exit before
 * us.
 */
export function isRunByNpm({ npm_lifecycle_script: script = "" }: NodeJS.ProcessEnv): boolean {
  return /\bsluice\b/.test(script) && !/(?<!&)&(?!&)/.test(script);
}
