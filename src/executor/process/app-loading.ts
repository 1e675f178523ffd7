/**
 * An app file runs its own code in our process while it is loaded, so it can hang, block or end the process.
 * This must not happen silently: one sentence says which file it was and what it did, and the process does
 * not exit as if all were well.
 *
 * - The file awaits something that never resolves. Node would exit without a word, or never. The load fails.
 * - The file exits the process. The sentence is printed on the way out, and an exit code of 0 becomes 1.
 * - The file blocks the event loop. Only a separate thread can notice. It prints the sentence and kills the
 *   process.
 */
import { writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { SluiceError } from "../../core/error.ts";
import { formatDuration, parseDuration } from "../../core/time.ts";
import { after } from "../../env/timers.ts";

const VARIABLE = "SLUICE_LOAD_TIMEOUT";
const DEFAULT = "60s";
/** Extra time, so that the load can first fail by itself. */
const BLOCKED_AFTER_MS = 1_000;

export interface LoadWatch {
  /** Gets the error if the process exits during the load. By default it is written to stderr. */
  readonly exiting?: ((error: SluiceError) => void) | undefined;
  /** True if another process ends this one when it is blocked. */
  readonly isWatched?: boolean | undefined;
}

/** How long an app file may take to load. */
export function loadTimeoutMs(): number {
  const text = process.env[VARIABLE] || DEFAULT;
  try {
    return parseDuration(text);
  } catch (cause) {
    throw new SluiceError("BAD_DURATION", `${VARIABLE} is not a duration: "${text}". Write 30s or 2m.`, {
      cause,
    });
  }
}

export async function watchLoading<T>(file: string, watch: LoadWatch, load: () => Promise<T>): Promise<T> {
  const limitMs = loadTimeoutMs();
  const inTime = `did not finish loading within ${formatDuration(limitMs)}`;
  const exiting = (code: number): void => {
    const error = badApp(
      file,
      `ended the process with exit code ${code} while it was being loaded. An app file only defines things; code that runs and ends belongs in a task or in another file.`,
    );
    if (watch.exiting) watch.exiting(error);
    else writeSync(2, `error BAD_APP: ${error.message}\n`);
    process.exitCode = code || 1;
  };
  let hung = (): void => {};
  let cancel = (): void => {};
  const failed = new Promise<never>((_, reject) => {
    hung = () =>
      reject(
        badApp(file, "never finishes loading: its top-level code awaits something that never resolves."),
      );
    const late = `${inTime}: its top-level code awaits something that takes longer, or never resolves. Await it in a task, or give it more time with ${VARIABLE}.`;
    // The timer keeps nothing alive: if nothing else is left to wait for, the load has already failed.
    cancel = after(limitMs, () => reject(badApp(file, late)));
  });
  process.once("exit", exiting).once("beforeExit", hung);
  const blocked = `error BAD_APP: ${file} ${inTime}: its code keeps the event loop busy, so this process was killed.\n`;
  const release = watch.isWatched ? () => {} : endIfBlocked(limitMs + BLOCKED_AFTER_MS, blocked);
  try {
    return await Promise.race([load(), failed]);
  } finally {
    cancel();
    process.off("exit", exiting).off("beforeExit", hung);
    release();
  }
}

const THREAD = `
const { workerData: { released, afterMs, text } } = require("node:worker_threads");
if (Atomics.wait(released, 0, 0, afterMs) === "timed-out") {
  require("node:fs").writeSync(2, text);
  process.kill(process.pid, "SIGKILL");
}
`;

function endIfBlocked(afterMs: number, text: string): () => void {
  const released = new Int32Array(new SharedArrayBuffer(4));
  const thread = new Worker(THREAD, {
    eval: true,
    execArgv: [],
    env: {},
    workerData: { released, afterMs, text },
  });
  thread.unref();
  return () => {
    Atomics.store(released, 0, 1);
    Atomics.notify(released, 0);
  };
}

const badApp = (file: string, what: string): SluiceError => new SluiceError("BAD_APP", `${file} ${what}`);
