/**
 * `sluice dev app.ts` runs a store and a worker in one command, to try things out. It restarts when a file
 * changes.
 */
import { availableParallelism } from "node:os";
import type { Command } from "commander";
import { parseDuration } from "../../core/time.ts";
import { mostWorkers } from "../../core/workflow/resolve.ts";
import { FunctionExecutor } from "../../executor/function/function-executor.ts";
import { PlacedExecutor } from "../../executor/placed.ts";
import { processesOf } from "../../executor/process/of-app.ts";
import { Activity } from "./activity.ts";
import { loadApp } from "./load-app.ts";
import { outliveReaders } from "./lost-output.ts";
import { atLeastOne } from "./numbers.ts";
import { isRestartable, restartOnChange } from "./restart.ts";
import { serve } from "./serve.ts";
import type { ServeOptions } from "./serve-options.ts";
import { addServeOptions } from "./serve-options.ts";

interface DevOptions extends ServeOptions {
  readonly slots: number;
  readonly watch: boolean;
}

export function addDev(program: Command): void {
  addServeOptions(
    program
      .command("dev")
      .description("run an app on the embedded store, with a worker; restart when it changes"),
  )
    .option("--slots <n>", "how many tasks run at once in this process", atLeastOne, 10)
    .option("--no-watch", "do not restart when a file next to the app changes")
    .action(async (file: string, _, command: Command) => {
      const options: DevOptions = command.optsWithGlobals();
      outliveReaders();
      if (options.watch && !isRestartable()) await restartOnChange(file);
      else await work(file, options);
    });
}

async function work(file: string, options: DevOptions): Promise<void> {
  const { app, onDev } = await loadApp(file);
  const processes = Math.min(options.slots, mostWorkers(app, { cpus: availableParallelism() }));
  const stopGraceMs = parseDuration(options.stopGrace);
  const executor = new PlacedExecutor({
    here: new FunctionExecutor(app.tasks),
    pool: () => processesOf(file, { processes, concurrency: 1, stopGraceMs }),
    isBusy: (task) => app.tasks.get(task)?.cpu === true,
  });
  const activity = new Activity(app.tasks, options);
  await serve({ mode: "dev", file, app, options, slots: options.slots, activity, executor, onDev });
}
