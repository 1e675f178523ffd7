/** What a worker may be told, and what is made of it: checked before anything is opened or declared. */
import { hostname } from "node:os";
import type { App } from "../core/app/app.ts";
import { didYouMean } from "../core/app/near.ts";
import { SluiceError } from "../core/error.ts";
import { shortly } from "../core/text.ts";
import type { Duration } from "../core/time.ts";
import { formatDuration, parseDuration } from "../core/time.ts";
import type { Seat } from "../engine/claiming/claims.ts";
import type { WorkerEvent } from "../engine/worker/worker.ts";
import type { Startable } from "../executor/placed.ts";
import type { ClusterOptions } from "./pods.ts";

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

/** How often to look, and how long a step may wait for its pools. */
interface Polls {
  readonly pollMs: number;
  readonly jitterMs: number;
  readonly claimTimeoutMs: number;
}

/** Settings that are complete and make sense. */
export interface CheckedSettings {
  readonly seat: Seat;
  /** The most that may be claimed and not begun; no bound when absent. */
  readonly mostClaimed: number | undefined;
  readonly graceMs: number;
  readonly stopGraceMs: number;
  readonly polls: Polls;
}

const SLOTS = 10;
const SHORTEST_POLL_MS = 10;

export function checkSettings(app: App, settings: WorkerSettings): CheckedSettings {
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
    // A bound that slots and prefetch keep anyway is none.
    mostClaimed: isBound ? maxClaimPerWorker : undefined,
    graceMs: parseDuration(settings.grace ?? "30s"),
    stopGraceMs: parseDuration(settings.stopGrace ?? "5s"),
    polls: pollsOf(settings),
  };
}

/** Said in code, or in the environment, or the defaults. */
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
    `A worker's ${name} must be a whole number of at least ${least}, got ${value}.`,
  );
}

function checkServed(app: App, queues: readonly string[]): void {
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
    `There is no queue ${unknown.map((name) => shortly(name)).join(", ")}.${didYouMean(unknown[0] as string, known)} The app declares: ${known.join(", ")}.`,
  );
}
