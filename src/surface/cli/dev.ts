/** `sluice dev app.ts`: store and worker in one command, to try things out. */
import type { Command } from "commander";
import { addWorkerOptions, runWorker } from "./run-worker.ts";

export function addDev(program: Command): void {
  addWorkerOptions(
    program.command("dev").description("run an app on the embedded store, with a worker in this process"),
  ).action((file: string, _, command: Command) => runWorker("dev", file, command.optsWithGlobals()));
}
