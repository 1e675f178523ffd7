// Starts another program in the foreground and waits for it, and ends in order when we are told to.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs Node with `args`; resolves with the exit code. */
export function node(args, { cwd = root, env = process.env } = {}) {
  return run(process.execPath, args, { cwd, env });
}

/** Runs npm with `args`: the very npm that started us, if one did. */
export function npm(args, { cwd = root } = {}) {
  const started = process.env.npm_execpath;
  if (started?.endsWith(".js")) return node([started, ...args], { cwd });
  return run("npm", args, { cwd, shell: process.platform === "win32" });
}

/**
 * Ends this process when the npm that started it is gone. npm hands SIGTERM to its shell, which dies without passing
 * it on, so without this a stopped `npm start` would leave us running alone.
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
      // Ctrl-C reaches the child from the terminal by itself.
      if (signal !== "SIGINT") child.kill(signal);
    };
    process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
    child.once("error", reject);
    child.once("close", (code) => {
      process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
      // Who stops us in the middle does not want the next step either.
      if (told) process.exit(130);
      resolve(code ?? 1);
    });
  });
}
