// Runs the programs of one database server in one folder, and lives exactly as long as the process that
// started it.
//
// The owner holds the other end of our stdin and sends one JSON line per program. We answer `exit CODE` when
// it ends. A line with a signal is for the running program.
// However the owner ends, by a clean stop, Ctrl-C or SIGKILL, the pipe closes. Then we stop the running
// program and remove the folder. Nothing less can guarantee that a killed test run leaves no database behind.

import { spawn } from "node:child_process";
import { openSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const { folder, log, stopSignal, uid, gid } = JSON.parse(process.argv[2]);
const identity = uid === undefined ? {} : { uid, gid };
const output = openSync(log, "a");
let running;
let ownerIsGone = false;

// A signal to the whole group is for our owner. We must outlive it to stop the server.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
// The reader of our answers may be gone.
process.stdout.on("error", () => {});

createInterface({ input: process.stdin }).on("line", run).on("close", stop);

function run(line) {
  const { command, args, signal } = JSON.parse(line);
  if (signal) return void running?.kill(signal);
  // Its own process group: an installer is a script, and stopping it must also stop the programs it started.
  const options = { cwd: folder, stdio: ["ignore", output, output], detached: true, ...identity };
  running = spawn(command, args, options);
  running.once("error", () => ended("error"));
  running.once("exit", (code) => ended(code));
}

function ended(code) {
  const { pid } = running;
  running = undefined;
  if (pid) signalGroup(pid, "SIGKILL");
  if (ownerIsGone) void leave();
  else process.stdout.write(`exit ${code}\n`);
}

function stop() {
  ownerIsGone = true;
  if (!running?.pid) return void leave();
  const { pid } = running;
  signalGroup(pid, stopSignal);
  setTimeout(() => signalGroup(pid, "SIGKILL"), 20_000);
}

function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // An empty group is what we wanted.
    if (error.code !== "ESRCH") throw error;
  }
}

async function leave() {
  // A killed program may still be writing its last file for a moment.
  for (let attempt = 1; ; attempt++) {
    try {
      rmSync(folder, { recursive: true, force: true });
      process.exit();
    } catch (error) {
      if (attempt === 50) throw error;
      await sleep(100);
    }
  }
}
