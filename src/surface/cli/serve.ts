/**
 * Shared by `dev` and `worker`: opens the store, works until told to stop, and exits within the grace period.
 */

import { connect } from "../../api/connect.ts";
import { unreachableIfLost } from "../../api/open-store.ts";
import type { Sluice } from "../../api/sluice.ts";
import type { App } from "../../core/app/app.ts";
import { isStoreGone } from "../../core/error.ts";
import { parseDuration } from "../../core/time.ts";
import { after } from "../../env/timers.ts";
import type { Executor } from "../../executor/executor.ts";
import type { Activity } from "./activity.ts";
import { banner, laterDeploy, sharedNames } from "./banner.ts";
import { endWith, reportError } from "./failure.ts";
import type { OnDev } from "./load-app.ts";
import { count } from "./say.ts";
import type { ServeOptions } from "./serve-options.ts";
import { storeUrl } from "./settings.ts";
import { RESTART_GRACE_MS, whenToldToStop } from "./signals.ts";
import { whenAnswered } from "./when-answered.ts";

/** Sent to the parent that restarts us. From then on, it waits for a file change if we exit. */
export const SERVING = "serving";

interface Serving {
  readonly mode: "dev" | "worker";
  readonly file: string;
  readonly app: App;
  readonly options: ServeOptions;
  readonly slots: number;
  readonly activity: Activity;
  readonly executor: Executor & { start?(): Promise<void>; stop?(): Promise<void> };
  readonly onDev?: OnDev | undefined;
}

export async function serve(serving: Serving): Promise<void> {
  const { mode, app, options, executor } = serving;
  const graceMs = parseDuration(options.grace);
  const sluice = await connect({ store: storeUrl(options), app, migrate: mode === "dev" });
  const stopping = new AbortController();
  const leave = async (grace: number): Promise<void> => {
    await sluice.close({ graceMs: grace });
    await executor.stop?.();
  };
  // Registered before anything is claimed: a worker that is told to stop during its start gives back what it
  // has claimed by then.
  whenToldToStop(async (isRestart) => {
    stopping.abort();
    // After a file was saved, the user should not wait long. Running tasks are given back.
    const grace = isRestart ? Math.min(graceMs, RESTART_GRACE_MS) : graceMs;
    endAfter(grace);
    await leave(grace);
    // Anything that the app left open must not keep the process alive.
    endWith(0);
  });
  // Nothing is left to serve. A new start may find the right file. Said once, whoever notices it first.
  const gone = (error: unknown): void => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    const exitCode = reportError(error, options);
    endAfter(graceMs);
    void leave(graceMs).finally(() => endWith(exitCode));
  };
  try {
    await executor.start?.();
    await work(sluice, serving, { stopping: stopping.signal, gone });
  } catch (error) {
    serving.activity.begin();
    // An error during the stop is caused by the stop itself.
    if (stopping.signal.aborted) return;
    // The worker is about to notice it, too, and it is said once.
    if (isStoreGone(error)) return gone(error);
    await leave(graceMs).catch(() => {});
    throw unreachableIfLost(storeUrl(options), error);
  }
}

async function work(
  sluice: Sluice,
  { mode, file, app, options, slots, activity, executor, onDev }: Serving,
  { stopping, gone }: { readonly stopping: AbortSignal; readonly gone: (error: unknown) => void },
): Promise<void> {
  const { queues, grace, stopGrace, maxClaimBatch, maxClaimPerWorker } = options;
  const worker = await sluice.worker({
    file,
    // In development, limits change back and forth, and the file's current ones should apply.
    deploy: mode === "dev",
    slots,
    grace,
    stopGrace,
    ...(queues ? { queues } : {}),
    ...(maxClaimBatch === undefined ? {} : { maxClaimBatch }),
    ...(maxClaimPerWorker === undefined ? {} : { maxClaimPerWorker }),
    watch: (event) => {
      activity.watch(event);
      if (event.kind === "storeGone") gone(event.error);
    },
    executor: activity.around(executor),
  });
  // Before the first question to the store: tasks run already, and a signal may come at any time.
  if (stopping.aborted) sayStopping(worker.running);
  else stopping.addEventListener("abort", () => sayStopping(worker.running));
  const [limits, queueRows, now] = await whenAnswered(
    () => Promise.all([sluice.limits.list(), sluice.queues.list(), sluice.now()]),
    stopping,
  );
  const { deployed } = worker;
  if (!deployed.inForce) process.stderr.write(laterDeploy(deployed, { file, options, now }));
  process.stderr.write(sharedNames(deployed));
  const ranks = new Map(queueRows.map(({ name, rank }) => [name, rank]));
  process.stdout.write(banner({ mode, file, app, limits, ranks, options, slots }));
  activity.begin();
  process.send?.(SERVING);
  try {
    await onDev?.(sluice, { signal: stopping });
  } catch (error) {
    // The worker continues, because tasks that are already in line should still run. During a stop, onDev may
    // well be cut off, so its error is not reported.
    if (!stopping.aborted) reportError(error);
  }
}

function sayStopping(running: number): void {
  process.stdout.write(
    running > 0
      ? `Stopping: waiting for ${count(running, "task")} to end. Press Ctrl-C again to quit now.\n`
      : "Stopping.\n",
  );
}

/**
 * A store that does not answer cannot take a report, so other workers recover what we leave behind. We exit a
 * moment before the grace period ends, because our parent counts the time until we are gone.
 */
function endAfter(graceMs: number): void {
  const moment = Math.min(1_000, graceMs / 20);
  after(graceMs - moment, () => {
    process.stderr.write(
      "The grace period ended before everything was reported. Other workers will recover the rest.\n",
    );
    process.exit(1);
  });
}
