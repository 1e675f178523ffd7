/** `sluice worker app.ts` serves an existing store, with the app's code in child processes. */
import { availableParallelism } from "node:os";
import type { Command } from "commander";
import { parseDuration } from "../../core/time.ts";
import { processesOf } from "../../executor/process/of-app.ts";
import { Activity } from "./activity.ts";
import { loadApp } from "./load-app.ts";
import { outliveReaders } from "./lost-output.ts";
import { atLeastOne, zeroOrMore } from "./numbers.ts";
import { serve } from "./serve.ts";
import type { ServeOptions } from "./serve-options.ts";
import { addServeOptions } from "./serve-options.ts";

interface WorkerOptions extends ServeOptions {
  readonly processes: number;
  readonly concurrency: number;
}

export function addWorker(program: Command): void {
  addServeOptions(program.command("worker").description("run the tasks of an app, in child processes"))
    .option("--processes <n>", "how many child processes run its code", atLeastOne, availableParallelism())
    .option(
      "--concurrency <n>",
      "tasks that each process runs at once, and that end with it; raise it for code that mostly waits",
      atLeastOne,
      1,
    )
    .option(
      "--max-claim-batch <n>",
      "most tasks of one queue claimed in one pass (default: no limit)",
      atLeastOne,
    )
    .option(
      "--max-claim-per-worker <n>",
      "most tasks claimed and not yet running; 0 means processes × concurrency + prefetch",
      zeroOrMore,
      0,
    )
    .action((file: string, _, command: Command) => work(file, command.optsWithGlobals()));
}

async function work(file: string, options: WorkerOptions): Promise<void> {
  outliveReaders();
  const { app } = await loadApp(file);
  const { processes, concurrency } = options;
  const activity = new Activity(app.tasks, options);
  const executor = processesOf(file, {
    processes,
    concurrency,
    stopGraceMs: parseDuration(options.stopGrace),
    watch: activity.watchProcesses,
  });
  await serve({ mode: "worker", file, app, options, slots: processes * concurrency, activity, executor });
}
