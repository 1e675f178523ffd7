/**
 * Runs the same command in a child process, and restarts it whenever a file in the app's folder changes. The
 * parent process only starts and stops the child, and passes on signals.
 */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { dirname, resolve } from "node:path";
import { after } from "../../env/timers.ts";
import { whenNpmIsGone } from "./npm.ts";
import { SERVING } from "./serve.ts";
import { sayPath } from "./settings.ts";
import type { StopSignal } from "./signals.ts";
import { RESTART, RESTART_GRACE_MS, STOP_SIGNALS } from "./signals.ts";
import { colours, safe } from "./text.ts";
import { watchFiles } from "./watch-files.ts";

const MARK = "SLUICE_RESTARTABLE";
/** Editors write a file in several steps. */
const SETTLE_MS = 100;

/** True in the child process, which is restarted; false in the parent. */
export const isRestartable = (): boolean => process.env[MARK] !== undefined;

export async function restartOnChange(file: string): Promise<never> {
  const folder = dirname(resolve(file));
  const told = new Promise<void>((tell) => {
    const stop = (signal: StopSignal): void => {
      child.kill(signal);
      tell();
    };
    for (const signal of STOP_SIGNALS) process.on(signal, () => stop(signal));
    whenNpmIsGone(() => stop("SIGTERM"));
  });
  let isOver = false;
  void told.then(() => {
    isOver = true;
  });
  let hasServed = false;
  const start = (): ChildProcess =>
    run().once("message", (message) => {
      hasServed ||= message === SERVING;
    });
  let changed = nextChange(folder);
  let child = start();
  for (;;) {
    const ended = endOf(child);
    const first = await Promise.race([changed.then(() => "changed"), ended]);
    if (isOver) return process.exit((await ended) as number);
    if (typeof first === "number") {
      // If the app never ran, this process exits with the same code, as other commands do. If it did run, the
      // next change may fix it.
      if (first === 0 || !hasServed) return process.exit(first);
      process.stdout.write(colours.dim("Waiting for a file to change.\n"));
      await Promise.race([changed, told]);
      if (isOver) return process.exit(first);
    } else await stopped(child, ended);
    process.stdout.write(`${colours.dim(`${safe(sayPath(await changed))} changed: restarting.`)}\n`);
    changed = nextChange(folder);
    child = start();
  }
}

function run(): ChildProcess {
  const [program = "", ...args] = process.argv.slice(1);
  return spawn(process.execPath, [...process.execArgv, program, ...args], {
    // If this process dies, the channel closes and the child learns of it.
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, [MARK]: "1" },
  });
}

function endOf(child: ChildProcess): Promise<number> {
  return new Promise((done) => {
    child.once("error", () => done(1));
    child.once("exit", (code, signal) => done(code ?? (signal === "SIGINT" ? 130 : 143)));
  });
}

async function stopped(child: ChildProcess, ended: Promise<number | string>): Promise<void> {
  child.send(RESTART);
  const cancel = after(2 * RESTART_GRACE_MS, () => child.kill("SIGKILL"), { keepsAlive: true });
  await ended;
  cancel();
}

/** Resolves with the file that changed, once changes have settled. */
function nextChange(folder: string): Promise<string> {
  return new Promise((tell) => {
    let cancel = (): void => {};
    const stop = watchFiles(folder, (path) => {
      cancel();
      const settled = (): void => {
        stop();
        tell(path);
      };
      cancel = after(SETTLE_MS, settled, { keepsAlive: true });
    });
  });
}
