/** `sluice worker app.ts`: serves a store that is there already. */
import type { Command } from "commander";
import { addWorkerOptions, runWorker } from "./run-worker.ts";

export function addWorker(program: Command): void {
  addWorkerOptions(program.command("worker").description("run the tasks of an app, in this process")).action(
    (file: string, _, command: Command) => runWorker("worker", file, command.optsWithGlobals()),
  );
}
