/** Starts a worker on a store: it claims and runs tasks, moves runs on, starts what starts by itself, and polls. */
import type { App } from "../core/app/app.ts";
import { isStoreGone, SluiceError } from "../core/error.ts";
import { StoreClaims } from "../engine/claiming/store-claims.ts";
import { Coordinator } from "../engine/runs/coordinator.ts";
import type { Service } from "../engine/service.ts";
import { Services } from "../engine/services.ts";
import { Tender } from "../engine/tending/tender.ts";
import type { ToRun } from "../engine/triggers/decision.ts";
import { Triggers } from "../engine/triggers/triggers.ts";
import { Worker } from "../engine/worker/worker.ts";
import type { Env } from "../env/env.ts";
import type { Store } from "../store/store.ts";
import type { Deployed } from "./deploy.ts";
import { declareApp } from "./deploy.ts";
import { newRun } from "./new-run.ts";
import { Pods } from "./pods.ts";
import { executorOf } from "./worker-executor.ts";
import type { WorkerSettings } from "./worker-settings.ts";
import { checkSettings } from "./worker-settings.ts";

export interface RunningWorker extends AsyncDisposable {
  /** What became of the app's limits when it started. */
  readonly deployed: Deployed;
  readonly session: string | undefined;
  readonly running: number;
  wake(): void;
  /** Stops claiming, waits for what runs, aborts what takes longer than the grace period. */
  stop(options?: { graceMs?: number }): Promise<void>;
}

/** Without its store a worker only waits for code that was aborted, and no longer than this. */
const GONE_GRACE_MS = 5_000;

/** A worker and all that belongs to it, running until it is stopped. */
export async function startWorker(
  store: Store,
  app: App,
  env: Env,
  settings: WorkerSettings,
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
  const claims = new StoreClaims(store, checked.seat);
  const coordinator = new Coordinator(store, env, { ...polling, startTimeoutMs: app.runs.startTimeoutMs });
  const worker = new Worker(claims, executor, env, {
    slots: checked.seat.slots,
    lease: app.session,
    graceMs: checked.graceMs,
    claimLeaseMs: app.claimLeaseMs,
    mostClaimed: checked.mostClaimed,
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
  const toRun = toRunOf(app, env);
  const triggers = new Triggers(store, env, { ...polling, app, owner: deployed.app, toRun });
  const hints = hearing(store, (hint) => {
    // What is delayed has a time, which may be sooner than the next look.
    if (hint === "later") tender.wake();
    if (hint === "runs") triggers.wake();
  });
  const services = new Services([hints, worker, tender, coordinator, triggers, pods], () =>
    executor.stopOthers(),
  );
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
    stop: (options) => services.stop(options),
    [Symbol.asyncDispose]: () => services.stop(),
  };
}

/** Where a claim's own lease is the shorter one, it must not run out while the code runs: it is marked at once. */
const marking = ({ claimLeaseMs, session }: App): { markAfterMs?: number } =>
  claimLeaseMs < session.leaseMs ? { markAfterMs: 0 } : {};

/** Hears hints of the store for as long as it runs. */
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

/** What starts by itself is made and checked as a submission is. */
function toRunOf(app: App, env: Env): ToRun {
  return (id, input, { key, tags, priority, source }) => {
    const workflow = app.workflows.get(id);
    if (!workflow) throw new SluiceError("UNKNOWN_WORKFLOW", `workflow "${id}" is not part of this app.`);
    const options = { tags, source, idempotencyKey: key, ...(priority === undefined ? {} : { priority }) };
    return newRun(app, workflow, input, { ...options, id: env.newId(), direct: false });
  };
}
