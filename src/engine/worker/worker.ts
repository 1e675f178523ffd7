/**
 * The worker: claims, runs, reports.
 *
 *   idle ── start ──▶ working ── stop ──▶ draining ── all done or grace over ──▶ stopped
 *
 * `running.ts` is what it holds, `exchanges.ts` how it speaks with the store, `session-keeper.ts` how long it may trust
 * itself. A session that ends (its lease could not be renewed) aborts everything it ran and a new one begins; nothing
 * the old one still reports is taken by the store.
 */
import { SluiceError } from "../../core/error.ts";
import type { Env } from "../../env/env.ts";
import type { Executor } from "../../executor/executor.ts";
import type { Claims } from "../claiming/claims.ts";
import type { Service } from "../service.ts";
import { ClaimKeeper } from "./claim-keeper.ts";
import { Exchanges } from "./exchanges.ts";
import { Journal } from "./journal.ts";
import { Running } from "./running.ts";
import type { Lease } from "./session-keeper.ts";
import { SessionKeeper } from "./session-keeper.ts";
import { STOPPED } from "./verdict.ts";
import type { Tell, WorkerEvent } from "./worker-event.ts";

export type { WorkerEvent };

export interface WorkerOptions {
  readonly slots: number;
  readonly lease: Lease;
  /** How long a stop may take altogether: tasks that run longer are aborted shortly before. */
  readonly graceMs: number;
  /** After how long the store is told that a task has begun, if it is not over by then. */
  readonly markAfterMs?: number;
  /** How long a claim may wait until its code begins: then it goes back in line. No bound when absent. */
  readonly claimLeaseMs?: number | undefined;
  /** The most that may be claimed and not begun; no bound when absent. */
  readonly mostClaimed?: number | undefined;
  /** Steps of runs have ended, and the store knows it. */
  readonly stepsEnded?: (() => void) | undefined;
  /** Told of what happens, for logs and tests. */
  readonly watch?: ((event: WorkerEvent) => void) | undefined;
}

const CANCEL_LOOK_MS = 50;
const MARK_AFTER_MS = 100;

export class Worker implements Service {
  readonly #claims: Claims;
  readonly #executor: Executor;
  readonly #env: Env;
  readonly #options: WorkerOptions;
  readonly #keeper: SessionKeeper;
  readonly #running: Running;
  readonly #claimKeeper: ClaimKeeper;
  readonly #exchanges: Exchanges;
  #session: string | undefined;
  #opening: Promise<string> | undefined;
  #stopped = true;
  #lookingForCancelled = false;
  #loop: Promise<void> | undefined;
  #unlisten: (() => Promise<void>) | undefined;
  /** Those who wait for the last task to end: each call of `stop` has a patience of its own. */
  readonly #idle = new Set<() => void>();

  constructor(claims: Claims, executor: Executor, env: Env, options: WorkerOptions) {
    this.#claims = claims;
    this.#executor = executor;
    this.#env = env;
    this.#options = options;
    const tell: Tell = (event) => options.watch?.(event);
    this.#keeper = new SessionKeeper(claims, env, options.lease, {
      ended: () => this.#sessionEnded(),
      renewed: () => void this.#running.dropStale(claims).then(() => this.#exchanges.reconcile()),
      trusted: (until) => executor.trustedUntil?.(until),
    });
    const isBounded = options.mostClaimed !== undefined;
    const markAfterMs = isBounded ? 0 : (options.markAfterMs ?? MARK_AFTER_MS);
    this.#running = new Running(
      executor,
      new Journal(claims, env),
      env,
      { markAfterMs, claimLeaseMs: options.claimLeaseMs },
      {
        isTrusted: () => this.#keeper.isTrusted(),
        distrusted: () => this.#sessionEnded(),
        ended: (finished) => this.#exchanges.report(finished),
        wake: () => this.#exchanges.wake(),
        tell,
      },
    );
    this.#claimKeeper = new ClaimKeeper(claims, this.#running, env);
    const { slots, mostClaimed } = options;
    const exchanging = { slots, mostClaimed, atOnce: isBounded ? 1 : claims.atOnce };
    this.#exchanges = new Exchanges(claims, this.#running, env, exchanging, {
      session: () => this.#openOnce(),
      isCurrent: (session) => session === this.#session,
      isTrusted: () => this.#keeper.isTrusted(),
      sessionEnded: () => this.#sessionEnded(),
      taken: () => this.#claimKeeper.look(),
      stepsEnded: () => options.stepsEnded?.(),
      idle: () => {
        for (const idle of this.#idle) idle();
      },
      tell,
    });
  }

  get session(): string | undefined {
    return this.#session;
  }

  /** How many tasks run right now. */
  get running(): number {
    return this.#running.size;
  }

  async start(): Promise<void> {
    this.#running.resume();
    this.#session = await this.#keeper.open();
    try {
      this.#unlisten = await this.#claims.listen((hint) => this.#hear(hint));
    } catch (error) {
      await this.#leave();
      throw error;
    }
    this.#stopped = false;
    this.#loop = this.#exchanges.run();
    this.wake();
  }

  /** There may be something new to do. */
  wake(): void {
    this.#exchanges.hint();
  }

  async stop({ graceMs = this.#options.graceMs }: { graceMs?: number } = {}): Promise<void> {
    if (this.#stopped) return;
    this.#running.drain();
    this.wake();
    const last = lastPart(graceMs);
    await this.#drained(graceMs - last);
    this.#running.abortAll(STOPPED);
    await this.#drained(last / 3);
    await this.#executor.halt?.().catch(() => {});
    await this.#drained(last / 3);
    this.#stopped = true;
    this.#exchanges.finish();
    await this.#loop;
    this.#claimKeeper.stop();
    await this.#unlisten?.();
    await this.#leave();
  }

  async #leave(): Promise<void> {
    this.#keeper.forget();
    await this.#claims.close().catch(() => {});
    this.#session = undefined;
  }

  /** Two exchanges may want a new session at the same time. */
  async #openOnce(): Promise<string> {
    if (this.#session) return this.#session;
    this.#opening ??= this.#keeper.open().finally(() => {
      this.#opening = undefined;
    });
    this.#session = await this.#opening;
    return this.#session;
  }

  #hear(hint: string): void {
    if (hint === "cancel") this.#lookForCancelled();
    else if (hint === "work") this.wake();
  }

  /** Where hints are not told apart there may be very many; a twentieth of a second is soon enough. */
  #lookForCancelled(): void {
    if (this.#lookingForCancelled || this.#running.size === 0) return;
    this.#lookingForCancelled = true;
    this.#env.after(CANCEL_LOOK_MS, () => {
      this.#lookingForCancelled = false;
      void this.#running.dropStale(this.#claims);
    });
  }

  #sessionEnded(): void {
    if (!this.#session) return;
    this.#session = undefined;
    this.#options.watch?.({ kind: "sessionEnded" });
    this.#running.forgetAll(
      new SluiceError(
        "LEASE_LOST",
        "The worker could not renew its lease in time; the task may run elsewhere by now.",
      ),
    );
    this.#keeper.forget();
    this.wake();
  }

  #drained(ms: number): Promise<void> {
    if (this.#exchanges.isIdle) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        this.#idle.delete(done);
        resolve();
      };
      const cancel = this.#env.after(ms, done, { keepsAlive: true });
      this.#idle.add(done);
    });
  }
}

/** The end of a grace period is for code that was aborted, and for saying how it ended. */
function lastPart(graceMs: number): number {
  return Math.min(5_000, Math.max(100, graceMs * 0.3));
}
