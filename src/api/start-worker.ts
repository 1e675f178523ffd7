/** Starts a worker on a store: its seat, its claims, its poll. */
import { availableParallelism, hostname } from "node:os";
import type { App } from "../core/app/app.ts";
import { didYouMean } from "../core/app/near.ts";
import { SluiceError } from "../core/error.ts";
import type { Duration } from "../core/time.ts";
import { formatDuration, parseDuration } from "../core/time.ts";
import { mostWorkers } from "../core/workflow/resolve.ts";
import { StoreClaims } from "../engine/claiming/store-claims.ts";
import { Coordinator } from "../engine/runs/coordinator.ts";
import { Tender } from "../engine/tending/tender.ts";
import type { ToRun } from "../engine/triggers/decision.ts";
import { Triggers } from "../engine/triggers/triggers.ts";
import type { WorkerEvent } from "../engine/worker/worker.ts";
import { Worker } from "../engine/worker/worker.ts";
import type { Env } from "../env/env.ts";
import { FunctionExecutor } from "../executor/function/function-executor.ts";
import type { Startable } from "../executor/placed.ts";
import { PlacedExecutor } from "../executor/placed.ts";
import { processesOf } from "../executor/process/of-app.ts";
import type { Store } from "../store/store.ts";
import { pathOf } from "./app-name.ts";
import type { Deployed } from "./deploy.ts";
import { declareApp } from "./deploy.ts";
import { newRun } from "./new-run.ts";
import type { ClusterOptions } from "./pods.ts";
import { Pods } from "./pods.ts";

export interface WorkerSettings {
  readonly name?: string;
  /** How many tasks run at once. */
  readonly slots?: number;
  /** Which queues to serve; all of the app's when not said. */
  readonly queues?: readonly string[];
  /** The most claims of one queue in one pass; no bound when not said. */
  readonly maxClaimBatch?: number;
  /** The most that may be claimed and not yet running; 0, the default: as many as there are slots, and the prefetch. */
  readonly maxClaimPerWorker?: number;
  /** How long a stop may take altogether. */
  readonly grace?: Duration;
  /** How long code in a child process may take to end once it must (cancel, timeout) before its process is ended; 5s. */
  readonly stopGrace?: Duration;
  /** How often to look without being told; SLUICE_CLAIM_POLL_INTERVAL, or 1s. At least 10ms. */
  readonly poll?: Duration;
  /** How much later at random; SLUICE_CLAIM_POLL_JITTER, or 500ms. */
  readonly pollJitter?: Duration;
  /** How long a step may wait for its pools; SLUICE_CLAIM_TIMEOUT, or 10m. */
  readonly claimTimeout?: Duration;
  readonly watch?: (event: WorkerEvent) => void;
  /** Where the code runs; in this process when not said. Steps in pods go to the cluster in any case. */
  readonly executor?: Startable;
  /** How to reach the cluster, for steps in pods. */
  readonly cluster?: ClusterOptions;
  /** The app's own file: tasks with `cpu: true` then run in processes that load it, and its package may name the app. */
  readonly file?: string | URL;
  /** Make the app's limits those in force even where a later deploy has replaced them. */
  readonly deploy?: boolean;
  /** How many such processes; when not said, as many as a run has workers, and as there are CPUs, but no more than slots. */
  readonly processes?: number;
}

const SLOTS = 10;
const SHORTEST_POLL_MS = 10;

export interface RunningWorker extends AsyncDisposable {
  /** What became of the app's limits when it started. */
  readonly deployed: Deployed;
  readonly session: string | undefined;
  readonly running: number;
  wake(): void;
  /** Stops claiming, waits for what runs, aborts what takes longer than the grace period. */
  stop(options?: { graceMs?: number }): Promise<void>;
}

/** A worker and its poll, running until it is stopped. */
export async function startWorker(
  store: Store,
  app: App,
  env: Env,
  settings: WorkerSettings,
): Promise<RunningWorker> {
  const { slots = SLOTS, queues = app.queues.map(({ name }) => name) } = settings;
  const { maxClaimBatch, maxClaimPerWorker = 0 } = settings;
  checkServed(app, queues);
  checkCount("slots", slots, 1);
  checkCount("processes", settings.processes, 1);
  if (settings.stopGrace !== undefined) parseDuration(settings.stopGrace);
  checkCount("maxClaimBatch", maxClaimBatch, 1);
  checkCount("maxClaimPerWorker", maxClaimPerWorker, 0);
  const seat = {
    name: settings.name ?? `${hostname()}:${process.pid}`,
    slots,
    prefetch: app.prefetch,
    claimLeaseMs: app.claimLeaseMs,
    claimBatch: maxClaimBatch,
    queues,
    tasks: [...app.tasks.keys()],
  };
  const claims = new StoreClaims(store, seat);
  const failed = (error: unknown): void => settings.watch?.({ kind: "error", error });
  const pods = new Pods(store, app, env, settings.cluster ?? {}, failed);
  const executor = executorOf(app, settings, pods);
  const occasion = settings.deploy ? "deploy" : "start";
  const deployed = await declareApp(store, app, { occasion, file: settings.file });
  const graceMs = parseDuration(settings.grace ?? "30s");
  const worker = new Worker(claims, executor, env, {
    slots,
    lease: app.session,
    graceMs,
    claimLeaseMs: app.claimLeaseMs,
    // A bound that slots and prefetch keep anyway is none.
    mostClaimed:
      maxClaimPerWorker > 0 && maxClaimPerWorker < slots + app.prefetch ? maxClaimPerWorker : undefined,
    stepsEnded: () => coordinator.wake(),
    // Where the claim's own lease is the shorter one, it must not run out while the code runs.
    ...(app.claimLeaseMs < app.session.leaseMs ? { markAfterMs: 0 } : {}),
    watch: settings.watch,
  });
  const polling = pollingOf(settings);
  const tender = new Tender(store, env, {
    ...polling,
    looked: (parkedOn) => {
      claims.lookAt(parkedOn);
      worker.wake();
      coordinator.lookAt(parkedOn);
    },
    failed,
  });
  const coordinator = new Coordinator(store, env, {
    ...polling,
    startTimeoutMs: app.runs.startTimeoutMs,
    failed,
  });
  const triggers = new Triggers(store, env, {
    app,
    owner: deployed.app,
    toRun: toRunOf(app, env),
    ...polling,
    failed,
  });
  // What is delayed has a time, which may be sooner than the next look.
  const unlisten = await store.listen((hint) => {
    if (hint === "later") tender.wake();
    if (hint === "runs") triggers.wake();
  });
  const stop = async (options?: { graceMs?: number }): Promise<void> => {
    // All at once: a store that does not answer must not keep the worker from stopping to claim.
    await Promise.all([
      worker.stop(options),
      tender.stop(),
      coordinator.stop(),
      triggers.stop(),
      pods.stop(),
      unlisten(),
    ]);
    await executor.stopOthers();
  };
  try {
    await worker.start();
    await tender.start();
    await coordinator.start();
    await triggers.start();
    await pods.start();
  } catch (error) {
    // Nobody gets to know this worker, so nobody else could stop what has started of it.
    await stop({ graceMs: 0 }).catch(() => {});
    throw error;
  }
  return {
    deployed,
    get session() {
      return worker.session;
    },
    get running() {
      return worker.running;
    },
    wake: () => worker.wake(),
    stop,
    [Symbol.asyncDispose]: () => stop(),
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

/** In this process, and where code would block it, in others. */
function executorOf(app: App, settings: WorkerSettings, pods: Pods): PlacedExecutor {
  const { executor, file, slots = SLOTS, stopGrace } = settings;
  // A step that was let in holds its slots: it must not find that there is no process for it.
  const { processes = Math.min(slots, mostWorkers(app, { cpus: availableParallelism() })) } = settings;
  const isBusy = (task: string): boolean => app.tasks.get(task)?.cpu === true;
  const toPods = (): Promise<Startable> => pods.executor();
  if (executor) return new PlacedExecutor({ here: executor, pods: toPods, isBusy });
  const busy = [...app.tasks.values()].filter(({ cpu }) => cpu).map(({ id }) => id);
  if (busy.length > 0 && file === undefined)
    throw new SluiceError(
      "NO_APP_FILE",
      `Tasks with cpu: true (${busy.join(", ")}) run in processes of their own, which load the app's file. Give it: sluice.worker({ file: import.meta.url }), or use: sluice worker app.ts`,
    );
  return new PlacedExecutor({
    here: new FunctionExecutor(app.tasks),
    pool:
      file === undefined
        ? undefined
        : () => processesOf(pathOf(file), { processes, concurrency: 1, stopGraceMs: stopGraceOf(stopGrace) }),
    pods: toPods,
    isBusy,
  });
}

const stopGraceOf = (text: Duration = "5s"): number => parseDuration(text);

/** Said in code, or in the environment, or the defaults. */
function pollingOf({ poll, pollJitter, claimTimeout }: WorkerSettings) {
  const said = (name: string, value: Duration | undefined, otherwise: Duration): number => {
    const text = value ?? process.env[name] ?? otherwise;
    try {
      return parseDuration(text);
    } catch (cause) {
      throw new SluiceError("BAD_DURATION", `${name} is no duration: "${text}". Write 30s, 5m or 1h30m.`, {
        cause,
      });
    }
  };
  const pollMs = said("SLUICE_CLAIM_POLL_INTERVAL", poll, "1s");
  if (pollMs < SHORTEST_POLL_MS)
    throw new SluiceError(
      "BAD_POLL",
      `A poll of ${formatDuration(pollMs)} would keep a processor busy with looking. The shortest is ${formatDuration(SHORTEST_POLL_MS)} (poll, or SLUICE_CLAIM_POLL_INTERVAL); new work is told anyway, so 1s is enough.`,
    );
  return {
    pollMs,
    jitterMs: said("SLUICE_CLAIM_POLL_JITTER", pollJitter, "500ms"),
    claimTimeoutMs: said("SLUICE_CLAIM_TIMEOUT", claimTimeout, "10m"),
  };
}

function checkCount(name: string, value: number | undefined, least: number): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return;
  const code = name.startsWith("max") ? "BAD_CLAIM_BOUND" : "BAD_SLOTS";
  throw new SluiceError(code, `A worker's ${name} must be a whole number from ${least} on, got ${value}.`);
}

function checkServed(app: App, queues: readonly string[]): void {
  if (queues.length === 0)
    throw new SluiceError(
      "NO_QUEUES",
      "A worker without queues would serve nothing. Name one at least, or leave `queues` out to serve all of them.",
    );
  const unknown = queues.filter((queue) => !app.queues.some(({ name }) => name === queue));
  if (unknown.length === 0) return;
  const known = app.queues.map(({ name }) => name);
  throw new SluiceError(
    "UNKNOWN_QUEUE",
    `There is no queue "${unknown.join('", "')}".${didYouMean(unknown[0] as string, known)} The app declares: ${known.join(", ")}.`,
  );
}
