/** What `dev` and `worker` share: load the app, open the store, work until told to stop. */
import type { Command } from "commander";
import type { Sluice } from "../../api/sluice.ts";
import { connect } from "../../api/sluice.ts";
import type { App } from "../../core/app/app.ts";
import { Activity } from "./activity.ts";
import { banner } from "./banner.ts";
import { endWith, reportError } from "./failure.ts";
import type { OnDev } from "./load-app.ts";
import { loadApp } from "./load-app.ts";
import { atLeastOne, list } from "./numbers.ts";
import { count } from "./say.ts";
import type { GlobalOptions } from "./settings.ts";
import { storeUrl } from "./settings.ts";
import { whenToldToStop } from "./signals.ts";

export interface WorkerOptions extends GlobalOptions {
  readonly slots: number;
  readonly queues?: readonly string[];
  readonly grace: string;
}

export function addWorkerOptions(command: Command): Command {
  return command
    .argument("<app>", "the app file, TypeScript or JavaScript")
    .option("--slots <n>", "how many tasks run at once in this process", atLeastOne, 10)
    .option("--queues <names>", "which queues to serve, like stripe,email (default: all)", list)
    .option("--grace <duration>", "how long a stop waits for running tasks", "30s");
}

export async function runWorker(mode: "dev" | "worker", file: string, options: WorkerOptions): Promise<void> {
  const { app, onDev } = await loadApp(file);
  const sluice = await connect({ store: storeUrl(options), app, migrate: mode === "dev" });
  try {
    await work(mode, file, sluice, app, options, mode === "dev" ? onDev : undefined);
  } catch (error) {
    await sluice.close().catch(() => {});
    throw error;
  }
}

async function work(
  mode: string,
  file: string,
  sluice: Sluice,
  app: App,
  options: WorkerOptions,
  onDev: OnDev | undefined,
): Promise<void> {
  const activity = new Activity(app.tasks);
  const { slots, queues, grace } = options;
  const limits = await sluice.limits.list();
  const worker = await sluice.worker({
    slots,
    grace,
    ...(queues ? { queues } : {}),
    watch: activity.watch,
    executor: activity,
  });
  process.stdout.write(banner({ mode, file, app, limits, options }));

  const stopping = new AbortController();
  whenToldToStop(async () => {
    stopping.abort();
    const { running } = worker;
    process.stdout.write(
      running > 0
        ? `Stopping: waiting for ${count(running, "task")} to end. Again to end at once.\n`
        : "Stopping.\n",
    );
    await sluice.close();
    // Whatever the app has left open must not keep us.
    endWith(0);
  });
  try {
    await onDev?.(sluice, { signal: stopping.signal });
  } catch (error) {
    // The worker goes on: what is in line already still deserves to run. On the way out it may well be cut off.
    if (!stopping.signal.aborted) reportError(error);
  }
}
