// Starts another program in the foreground, waits for it, and shuts down cleanly on a signal.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs Node with `args` and resolves with the exit code. */
export function node(args, { cwd = root, env = process.env } = {}) {
  return run(process.execPath, args, { cwd, env });
}

/** Runs npm with `args`, using the npm that started us, if one did. */
export function npm(args, { cwd = root } = {}) {
  const started = process.env.npm_execpath;
  if (started?.endsWith(".js")) return node([started, ...args], { cwd });
  return run("npm", args, { cwd, shell: process.platform === "win32" });
}

/**
 * Ends this process when the npm that started it is gone. npm sends SIGTERM to its shell, which dies without
 * passing it on, so a stopped `npm start` would otherwise leave this process running alone.
 */
export function endWithNpm() {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, "SIGTERM");
  }, 500);
  watch.unref();
}

function run(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: "inherit" });
    let told = false;
    const onSignal = (signal) => {
      told = true;
      // Ctrl-C reaches the child from the terminal directly.
      if (signal !== "SIGINT") child.kill(signal);
    };
    process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
    child.once("error", reject);
    child.once("close", (code) => {
      process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
      // After a signal, the next step must not run, either.
      if (told) process.exit(130);
      resolve(code ?? 1);
    });
  });
}
