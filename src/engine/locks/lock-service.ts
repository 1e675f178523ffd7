/**
 * What a process runs while it wants or holds locks: a worker whose only tasks are its own requests, and the
 * poll. Sessions, leases, epochs, hints and recovery are those of every worker.
 */
import { LOCKS, processName, requestsOf } from "../../core/lock/request.ts";
import type { Env } from "../../env/env.ts";
import type { Executor } from "../../executor/executor.ts";
import type { LaneSpec } from "../../store/lane.ts";
import type { Store } from "../../store/store.ts";
import type { Service, StopOptions } from "../service.ts";
import { Services } from "../services.ts";
import { Tender } from "../tending/tender.ts";
import { Worker } from "../worker/worker.ts";
import type { WorkerEvent } from "../worker/worker-event.ts";
import type { Heard } from "./request-claims.ts";
import { RequestClaims } from "./request-claims.ts";

/** The most locks that one process holds at once. */
const SLOTS = 10_000;
const POLL_MS = 1_000;
const JITTER_MS = 500;
/** A grant that nobody has taken is bound only by the lease of its session. */
const CLAIM_LEASE_MS = 24 * 60 * 60 * 1_000;
const HEARTBEATS = 3;

interface Serving {
  readonly process: string;
  readonly leaseMs: number;
  readonly executor: Executor;
  readonly heard: Heard;
  /** A unit may have left the line without us. Called with every poll, and when something was cancelled. */
  readonly look: () => void;
  readonly watch: (event: WorkerEvent) => void;
}

export class LockService implements Service {
  readonly #claims: RequestClaims;
  readonly #worker: Worker;
  readonly #all: Services;

  constructor(store: Store, env: Env, serving: Serving) {
    const { process, leaseMs, executor, heard, look, watch } = serving;
    const seat = {
      name: processName(process),
      slots: SLOTS,
      prefetch: 0,
      claimLeaseMs: CLAIM_LEASE_MS,
      queues: [LOCKS],
      tasks: [requestsOf(process)],
    };
    this.#claims = new RequestClaims(store, seat, env, heard);
    const lease = { leaseMs, heartbeatMs: Math.floor(leaseMs / HEARTBEATS) };
    this.#worker = new Worker(this.#claims, executor, env, { slots: SLOTS, lease, graceMs: 0, watch });
    const looked = (parkedOn: readonly string[]): void => {
      this.#claims.lookAt(parkedOn);
      this.#worker.wake();
      look();
    };
    const failed = (error: unknown): void => this.#worker.unanswered(error);
    const tender = new Tender(store, env, { pollMs: POLL_MS, jitterMs: JITTER_MS, failed, looked });
    this.#all = new Services([this.#worker, tender, listening(store, look)]);
  }

  start(): Promise<void> {
    return this.#all.start();
  }

  stop(options?: StopOptions): Promise<void> {
    return this.#all.stop(options);
  }

  /** Units of these lanes were put in line. */
  wake(lanes: readonly LaneSpec[]): void {
    this.#claims.asked(lanes);
    this.#worker.wake();
  }

  /** Resolves after the store was asked once more for what is ours. */
  asked(): Promise<void> {
    const asked = this.#claims.exchanged();
    this.#worker.wake();
    return asked;
  }
}

function listening(store: Store, look: () => void): Service {
  let unlisten: (() => Promise<void>) | undefined;
  return {
    start: async () => {
      unlisten = await store.listen((hint) => {
        if (hint === "cancel") look();
      });
    },
    stop: async () => {
      await unlisten?.();
    },
  };
}
