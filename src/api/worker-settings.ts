/** The settings of a worker. They are checked before anything is opened or declared. */
import { hostname } from "node:os";
import type { App } from "../core/app/app.ts";
import { didYouMean } from "../core/app/near.ts";
import { SluiceError } from "../core/error.ts";
import { sayNumber } from "../core/number.ts";
import { shortly } from "../core/text.ts";
import type { Duration } from "../core/time.ts";
import { formatDuration, parseDuration } from "../core/time.ts";
import type { Seat } from "../engine/claiming/claims.ts";
import type { WorkerEvent } from "../engine/worker/worker.ts";
import type { Startable } from "../executor/placed.ts";
import type { OptionNames } from "./call-options.ts";
import { checkList, knownOptions } from "./call-options.ts";
import type { ClusterOptions } from "./pods.ts";

export interface WorkerSettings {
  readonly name?: string;
  /** The most tasks that run at once. Default: 10. */
  readonly slots?: number;
  /** The queues to serve. Default: all queues of the app. */
  readonly queues?: readonly string[];
  /** The most claims of one queue in one pass. Default: unbounded. */
  readonly maxClaimBatch?: number;
  /** The most units that may be claimed and not yet running. Default: 0, which means slots plus prefetch. */
  readonly maxClaimPerWorker?: number;
  /** How long the whole stop may take. Default: 30s. */
  readonly grace?: Duration;
  /**
   * How long code in a child process may take to end after a cancel or a timeout. Then the process is ended.
   * Default: 5s.
   */
  readonly stopGrace?: Duration;
  /** The time between two polls, at least 10ms. Default: SLUICE_CLAIM_POLL_INTERVAL, or 1s. */
  readonly poll?: Duration;
  /** The longest random time added to a poll. Default: SLUICE_CLAIM_POLL_JITTER, or 500ms. */
  readonly pollJitter?: Duration;
  /** How long a step may wait for its pools. Default: SLUICE_CLAIM_TIMEOUT, or 10m. */
  readonly claimTimeout?: Duration;
  readonly watch?: (event: WorkerEvent) => void;
  /** Runs the code. Default: in this process. Steps in pods go to the cluster in any case. */
  readonly executor?: Startable;
  /** How to reach the cluster, for steps in pods. */
  readonly cluster?: ClusterOptions;
  /** The app's own file. Child processes for tasks with `cpu: true` load it, and its package may name the app. */
  readonly file?: string | URL;
  /** Puts the app's limits in force even if a later deploy has replaced them. */
  readonly deploy?: boolean;
  /** The number of child processes. Default: one per CPU, or as many as a run may use if more, but at most `slots`. */
  readonly processes?: number;
}

const FIELDS: OptionNames<WorkerSettings> = {
  name: true,
  slots: true,
  queues: true,
  maxClaimBatch: true,
  maxClaimPerWorker: true,
  grace: true,
  stopGrace: true,
  poll: true,
  pollJitter: true,
  claimTimeout: true,
  watch: true,
  executor: true,
  cluster: true,
  file: true,
  deploy: true,
  processes: true,
};

const OF_CLUSTER: OptionNames<ClusterOptions> = {
  owner: true,
  kubeconfig: true,
  context: true,
  command: true,
  graceSeconds: true,
  startSeconds: true,
  patienceMs: true,
  goneWithinMs: true,
  pacing: true,
  watch: true,
  connect: true,
};

/** The interval and the jitter of polls, and how long a step may wait for its pools. */
interface Polls {
  readonly pollMs: number;
  readonly jitterMs: number;
  readonly claimTimeoutMs: number;
}

/** Settings that are complete and valid. */
export interface CheckedSettings {
  readonly seat: Seat;
  /** The most units that may be claimed and not yet running. Unbounded if undefined. */
  readonly mostClaimed: number | undefined;
  readonly graceMs: number;
  readonly stopGraceMs: number;
  readonly polls: Polls;
}

const SLOTS = 10;
const SHORTEST_POLL_MS = 10;

export function checkSettings(app: App, settings: WorkerSettings): CheckedSettings {
  knownOptions("worker", settings, FIELDS);
  if (settings.cluster !== undefined) knownOptions("worker: cluster", settings.cluster, OF_CLUSTER);
  const { slots = SLOTS, queues = app.queues.map(({ name }) => name) } = settings;
  const { maxClaimBatch, maxClaimPerWorker = 0 } = settings;
  checkServed(app, queues);
  checkCount("slots", slots, 1);
  checkCount("processes", settings.processes, 1);
  checkCount("maxClaimBatch", maxClaimBatch, 1);
  checkCount("maxClaimPerWorker", maxClaimPerWorker, 0);
  const { prefetch, claimLeaseMs } = app;
  const isBound = maxClaimPerWorker > 0 && maxClaimPerWorker < slots + prefetch;
  return {
    seat: {
      name: settings.name ?? `${hostname()}:${process.pid}`,
      slots,
      prefetch,
      claimLeaseMs,
      claimBatch: maxClaimBatch,
      queues,
      tasks: [...app.tasks.keys()],
    },
    // A bound that slots and prefetch keep anyway is left out.
    mostClaimed: isBound ? maxClaimPerWorker : undefined,
    graceMs: parseDuration(settings.grace ?? "30s"),
    stopGraceMs: parseDuration(settings.stopGrace ?? "5s"),
    polls: pollsOf(settings),
  };
}

/** Each value comes from the code, else from the environment, else it is the default. */
function pollsOf({ poll, pollJitter, claimTimeout }: WorkerSettings): Polls {
  const pollMs = said("SLUICE_CLAIM_POLL_INTERVAL", poll, "1s");
  if (pollMs < SHORTEST_POLL_MS)
    throw new SluiceError(
      "BAD_POLL",
      `A poll of ${formatDuration(pollMs)} would keep a CPU busy. The shortest is ${formatDuration(SHORTEST_POLL_MS)} (poll, or SLUICE_CLAIM_POLL_INTERVAL); workers are also woken by new work, so 1s is enough.`,
    );
  return {
    pollMs,
    jitterMs: said("SLUICE_CLAIM_POLL_JITTER", pollJitter, "500ms"),
    claimTimeoutMs: said("SLUICE_CLAIM_TIMEOUT", claimTimeout, "10m"),
  };
}

function said(name: string, value: Duration | undefined, otherwise: Duration): number {
  const text = value ?? process.env[name] ?? otherwise;
  try {
    return parseDuration(text);
  } catch (cause) {
    throw new SluiceError("BAD_DURATION", `${name} is not a duration: "${text}". Write 30s, 5m or 1h30m.`, {
      cause,
    });
  }
}

function checkCount(name: string, value: number | undefined, least: number): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return;
  const code = name.startsWith("max") ? "BAD_CLAIM_BOUND" : "BAD_SLOTS";
  throw new SluiceError(
    code,
    `A worker's ${name} must be a whole number of at least ${least}, got ${sayNumber(value)}.`,
  );
}

function checkServed(app: App, queues: readonly string[]): void {
  checkList("worker: queues", queues);
  if (queues.length === 0)
    throw new SluiceError(
      "NO_QUEUES",
      "A worker without queues would serve nothing. Name at least one, or leave `queues` out to serve all of them.",
    );
  const unknown = queues.filter((queue) => !app.queues.some(({ name }) => name === queue));
  if (unknown.length === 0) return;
  const known = app.queues.map(({ name }) => name);
  throw new SluiceError(
    "UNKNOWN_QUEUE",
    `There is no queue ${unknown.map((name) => shortly(name)).join(", ")}.${didYouMean(unknown[0], known)} The app declares: ${known.join(", ")}.`,
  );
}
