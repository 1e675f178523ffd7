/** Starts a worker on a store. It claims and runs tasks, advances runs, looks at triggers, and polls. */
import { getHeapStatistics } from "node:v8";
import type { App } from "../core/app/app.ts";
import { isStoreGone, SluiceError } from "../core/error.ts";
import { mostLoaded } from "../core/run/load.ts";
import type { AppSchedule } from "../core/schedule/trigger.ts";
import { StoreClaims } from "../engine/claiming/store-claims.ts";
import { Coordinator } from "../engine/runs/coordinator.ts";
import type { Service, StopOptions } from "../engine/service.ts";
import { Services } from "../engine/services.ts";
import { Staying } from "../engine/staying.ts";
import { Tender } from "../engine/tending/tender.ts";
import type { ToRun, ToTask } from "../engine/triggers/decision.ts";
import { Triggers } from "../engine/triggers/triggers.ts";
import { Worker } from "../engine/worker/worker.ts";
import type { AnswerCall } from "../engine/worker/worker-options.ts";
import type { Env } from "../env/env.ts";
import type { Store } from "../store/store.ts";
import { stopOptions } from "./call-options.ts";
import { controllersOf } from "./controllers.ts";
import type { Deployed } from "./deploy.ts";
import { declareApp } from "./deploy.ts";
import { newRun } from "./new-run.ts";
import { newTask } from "./new-task.ts";
import { taskOf } from "./part-of-app.ts";
import { Pods } from "./pods.ts";
import { watchedFiles } from "./watched-files.ts";
import { executorOf } from "./worker-executor.ts";
import type { WorkerSettings } from "./worker-settings.ts";
import { checkSettings } from "./worker-settings.ts";

export interface RunningWorker extends AsyncDisposable {
  /** The result of declaring the app's limits at the start. */
  readonly deployed: Deployed;
  readonly session: string | undefined;
  readonly running: number;
  wake(): void;
  /** Stops claiming, waits for running tasks, and aborts tasks that take longer than the grace period. */
  stop(options?: StopOptions): Promise<void>;
}

/** Without its store, a worker waits only for aborted code to end, and no longer than this. */
const GONE_GRACE_MS = 5_000;

/**
 * Starts a worker with all its services. They run until the worker is stopped. `answer` is what the code of its
 * tasks has as its client.
 */
export async function startWorker(
  store: Store,
  app: App,
  env: Env,
  settings: WorkerSettings,
  answer?: AnswerCall,
): Promise<RunningWorker> {
  const checked = checkSettings(app, settings);
  const failed = (error: unknown): void => {
    if (isStoreGone(error)) worker.unanswered(error);
    else settings.watch?.({ kind: "error", error });
  };
  const pods = new Pods(store, app, env, settings.cluster ?? {}, failed);
  const executor = executorOf(app, settings, checked, pods);
  const occasion = settings.deploy ? "deploy" : "start";
  const deployed = await declareApp(store, app, { occasion, file: settings.file });
  const polling = { ...checked.polls, failed };
  const watched = await watchedFiles(store, env, app, { ...polling, occasion, deployed, settings });
  const claims = new StoreClaims(store, checked.seat, env);
  const coordinator = new Coordinator(store, env, {
    ...polling,
    startTimeoutMs: app.runs.startTimeoutMs,
    most: mostLoaded(getHeapStatistics().heap_size_limit),
  });
  const worker = new Worker(claims, executor, env, {
    slots: checked.seat.slots,
    lease: app.session,
    graceMs: checked.graceMs,
    claimLeaseMs: app.claimLeaseMs,
    mostClaimed: checked.mostClaimed,
    answer,
    stepsEnded: () => coordinator.wake(),
    watch: (event) => {
      settings.watch?.(event);
      if (event.kind === "storeGone") void up.then(leave).catch(() => {});
    },
    ...marking(app),
  });
  const looked = (parkedOn: readonly string[]): void => {
    claims.lookAt(parkedOn);
    worker.wake();
    coordinator.lookAt(parkedOn);
  };
  const tender = new Tender(store, env, { ...polling, looked });
  const triggers = new Triggers(store, env, { ...polling, app, owner: deployed.app, ...makingOf(app, env) });
  const hints = hearing(store, (hint) => {
    // A delayed unit may be due before the next poll.
    if (hint === "later") tender.wake();
    if (hint === "runs") triggers.wake();
  });
  const controllers = await controllersOf(store, app, env, { failed, opened: coordinator });
  const parts = [hints, worker, tender, coordinator, triggers, pods, ...watched, ...controllers];
  const services = new Staying(env, new Services(parts, () => executor.stopOthers()));
  const leave = (): Promise<void> => services.stop({ graceMs: GONE_GRACE_MS });
  const starting = services.start();
  const up = starting.catch(() => {});
  await starting;
  return {
    deployed,
    get session() {
      return worker.session;
    },
    get running() {
      return worker.running;
    },
    wake: () => worker.wake(),
    stop: async (options = {}) => services.stop(stopOptions("stop", options)),
    [Symbol.asyncDispose]: () => services.stop(),
  };
}

/** If claims lapse sooner than sessions, a start is reported at once, so that no claim lapses while its code runs. */
const marking = ({ claimLeaseMs, session }: App): { markAfterMs?: number } =>
  claimLeaseMs < session.leaseMs ? { markAfterMs: 0 } : {};

/** Listens for the store's hints while it runs. */
function hearing(store: Store, hear: (hint: string) => void): Service {
  let unlisten: (() => Promise<void>) | undefined;
  return {
    start: async () => {
      unlisten = await store.listen(hear);
    },
    stop: async () => {
      await unlisten?.();
    },
  };
}

/** How triggers make what they start. */
const makingOf = (app: App, env: Env) => ({
  toRun: toRunOf(app, env),
  toTask: toTaskOf(app, env),
  has: hasTargetOf(app),
});

/** A run that a trigger starts is made and checked like a submission. */
function toRunOf(app: App, env: Env): ToRun {
  return (id, input, { key, tags, priority, source }) => {
    const workflow = app.workflows.get(id);
    if (!workflow) throw new SluiceError("UNKNOWN_WORKFLOW", `workflow "${id}" is not part of this app.`);
    const options = { tags, source, idempotencyKey: key, ...(priority === undefined ? {} : { priority }) };
    return newRun(app, workflow, input, { ...options, id: env.newId(), direct: false });
  };
}

/** The same for a task that a schedule enqueues. */
const toTaskOf =
  (app: App, env: Env): ToTask =>
  (id, input, { key, priority }) => {
    const options = { idempotencyKey: key, ...(priority === undefined ? {} : { priority }) };
    return newTask(taskOf(app, id), input, options, env.newId(), app);
  };

const hasTargetOf =
  ({ tasks, workflows }: App) =>
  ({ workflow, spec: { task } }: AppSchedule): boolean =>
    task === undefined ? workflows.has(workflow ?? "") : tasks.has(task);
