/** Decides where a worker's code runs: in this process, in child processes if it would block this one, or in pods. */
import { availableParallelism } from "node:os";
import type { App } from "../core/app/app.ts";
import { SluiceError } from "../core/error.ts";
import { mostWorkers } from "../core/workflow/resolve.ts";
import { FunctionExecutor } from "../executor/function/function-executor.ts";
import type { Startable } from "../executor/placed.ts";
import { PlacedExecutor } from "../executor/placed.ts";
import { processesOf } from "../executor/process/of-app.ts";
import { pathOf } from "./app-name.ts";
import type { Pods } from "./pods.ts";
import type { CheckedSettings, WorkerSettings } from "./worker-settings.ts";

export function executorOf(
  app: App,
  { executor, file, ...settings }: WorkerSettings,
  { seat, stopGraceMs }: CheckedSettings,
  pods: Pods,
): PlacedExecutor {
  const isBusy = (task: string): boolean => app.tasks.get(task)?.cpu === true;
  const toPods = (): Promise<Startable> => pods.executor();
  if (executor) return new PlacedExecutor({ here: executor, pods: toPods, isBusy });
  const here = new FunctionExecutor(app.tasks);
  if (file === undefined) {
    refuseBusy(app);
    return new PlacedExecutor({ here, pods: toPods, isBusy });
  }
  // An admitted step holds its slots, so there must be a process for it.
  const most = mostWorkers(app, { cpus: availableParallelism() });
  const { processes = Math.min(seat.slots, most) } = settings;
  const pool = (): Startable => processesOf(pathOf(file), { processes, concurrency: 1, stopGraceMs });
  return new PlacedExecutor({ here, pool, pods: toPods, isBusy });
}

function refuseBusy(app: App): void {
  const busy = [...app.tasks.values()].filter(({ cpu }) => cpu).map(({ id }) => id);
  if (busy.length > 0)
    throw new SluiceError(
      "NO_APP_FILE",
      `Tasks with cpu: true (${busy.join(", ")}) run in child processes, which load the app's file, but this worker does not know where that file is. Pass file: import.meta.url.`,
      { remedies: [{ action: "startWorker" }] },
    );
}
