/**
 * The worker: claims, runs, reports. One exchange at a time with its Claims port; what finished rides on the next
 * exchange, which brings new work in the same breath.
 *
 *   idle ── start ──▶ working ── stop ──▶ draining ── all done or grace over ──▶ stopped
 *
 * A session that ends (its lease could not be renewed) aborts everything it ran and a new one begins; nothing the
 * old one still reports is taken by the store.
 */
import { SluiceError } from "../../core/error.ts";
import { nextAttempt } from "../../core/task/retry.ts";
import type { Ending, Executor } from "../../executor/executor.ts";
import type { Answer, Claimed, Claims, Finished } from "../claiming/claims.ts";
import { storedOptions } from "../claiming/recovery.ts";
import type { Env } from "../env.ts";
import type { Service } from "../service.ts";
import { Active } from "./active.ts";
import { Journal } from "./journal.ts";
import type { Lease } from "./session-keeper.ts";
import { SessionKeeper } from "./session-keeper.ts";
import { Signal } from "./signal.ts";

export interface WorkerOptions {
  readonly slots: number;
  readonly prefetch: number;
  readonly lease: Lease;
  /** How long a stop waits for running tasks before it aborts them. */
  readonly graceMs: number;
  /** Told of what happens, for logs and tests. */
  readonly watch?: ((event: WorkerEvent) => void) | undefined;
}

export type WorkerEvent =
  | { readonly kind: "claimed"; readonly id: string; readonly held: boolean }
  | { readonly kind: "started"; readonly id: string; readonly name: string; readonly epoch: number }
  | { readonly kind: "finished"; readonly id: string; readonly to: Finished["to"] }
  | { readonly kind: "refused"; readonly id: string }
  | { readonly kind: "sessionEnded" }
  | { readonly kind: "error"; readonly error: unknown };

const IMMEDIATE_RETRY_MS = 50;
const MOST_BACKOFF_MS = 5_000;
const CANCEL_LOOK_MS = 50;
const MARK_AFTER_MS = 100;
const LAST_TRIES = 3;
/** What is longer than this, Node takes for no time at all. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class Worker implements Service {
  readonly #claims: Claims;
  readonly #executor: Executor;
  readonly #env: Env;
  readonly #options: WorkerOptions;
  readonly #keeper: SessionKeeper;
  readonly #journal: Journal;
  readonly #wake = new Signal();
  readonly #active = new Map<string, Active>();
  readonly #prefetched = new Map<string, Claimed>();
  /** Exchanges on their way. With many slots there are two: one half runs here while the store has the other. */
  readonly #flights = new Set<Promise<unknown>>();
  readonly #mostFlights: number;
  readonly #appetite: number;
  #recovering: Promise<void> | undefined;
  #opening: Promise<string> | undefined;
  #more = false;
  #finished: Finished[] = [];
  #session: string | undefined;
  #draining = false;
  #stopped = true;
  #ownTurn = false;
  #marking = false;
  #hinted = true;
  #failures = 0;
  #lookingForCancelled = false;
  #clock = { storeNow: 0, at: 0 };
  #loop: Promise<void> | undefined;
  #unlisten: (() => Promise<void>) | undefined;
  /** Those who wait for the last task to end: each call of `stop` has a patience of its own. */
  readonly #idle = new Set<() => void>();

  constructor(claims: Claims, executor: Executor, env: Env, options: WorkerOptions) {
    this.#claims = claims;
    this.#executor = executor;
    this.#env = env;
    this.#options = options;
    this.#mostFlights = claims.atOnce;
    this.#appetite = Math.ceil(options.slots / this.#mostFlights);
    this.#keeper = new SessionKeeper(claims, env, options.lease, {
      ended: () => this.#sessionEnded(),
      renewed: () => this.#renewed(),
    });
    this.#journal = new Journal(claims, env);
  }

  get session(): string | undefined {
    return this.#session;
  }

  /** How many tasks run right now. */
  get running(): number {
    return this.#active.size;
  }

  async start(): Promise<void> {
    this.#stopped = false;
    this.#draining = false;
    this.#session = await this.#keeper.open();
    this.#unlisten = await this.#claims.listen((hint) => this.#hear(hint));
    this.#loop = this.#run();
    this.wake();
  }

  /** There may be something new to do. */
  wake(): void {
    this.#hinted = true;
    this.#wake.set();
  }

  async stop({ graceMs = this.#options.graceMs }: { graceMs?: number } = {}): Promise<void> {
    if (this.#stopped) return;
    this.#draining = true;
    this.#returnPrefetched();
    this.wake();
    await this.#drained(graceMs);
    this.#abortAll(new SluiceError("WORKER_STOPPED", "The worker stopped before the task was done."));
    await this.#drained(1_000);
    this.#stopped = true;
    this.wake();
    await this.#loop;
    await this.#keeper.stop();
    await this.#unlisten?.();
    await this.#claims.close().catch(() => {});
    this.#session = undefined;
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#wake.wait();
      await immediate();
      await this.#mayFly();
      if (this.#stopped && this.#finished.length === 0) {
        // What is on its way may bring claims that must be given back; its end wakes us.
        if (this.#flights.size > 0) continue;
        return;
      }
      void this.#exchange();
      if (this.#finished.length > 0 || (this.#more && this.#room() > 0)) this.#wake.set();
    }
  }

  /** An exchange that fails says so itself, and is followed by a recovery: that is waited for, too. */
  async #mayFly(): Promise<void> {
    while (this.#recovering || this.#flights.size >= this.#mostFlights)
      await (this.#recovering ?? Promise.race(this.#flights).catch(() => {}));
  }

  /** Slots that neither run anything nor may be filled by an exchange on its way. */
  #room(): number {
    return this.#options.slots - this.#active.size - this.#flights.size * this.#appetite;
  }

  async #exchange(): Promise<void> {
    const finished = this.#finished;
    this.#finished = [];
    const others = this.#flights.size * this.#appetite;
    const flight = this.#report(finished, others);
    this.#flights.add(flight);
    try {
      await flight;
      this.#failures = 0;
    } catch (error) {
      this.#finished = [...finished, ...this.#finished];
      this.#recovering ??= this.#recover(error).finally(() => {
        this.#recovering = undefined;
      });
    } finally {
      this.#flights.delete(flight);
    }
    if (this.#stopped || this.#recovering) this.wake();
    if (this.#draining && this.#isIdle()) for (const idle of this.#idle) idle();
  }

  #isIdle(): boolean {
    return this.#active.size === 0 && this.#finished.length === 0 && this.#flights.size === 0;
  }

  async #report(finished: readonly Finished[], others: number): Promise<void> {
    const session = this.#session ?? (await this.#openOnce());
    const begun = this.#toMark();
    for (const active of begun) active.marked = true;
    const ownTurn = this.#ownTurn;
    this.#ownTurn = false;
    const hinted = this.#hinted;
    this.#hinted = false;
    try {
      const answer = await this.#claims.exchange({
        finished,
        started: begun.map(({ claim: { id, epoch } }) => ({ id, epoch })),
        active: this.#active.size + others,
        appetite: this.#appetite,
        draining: this.#draining,
        hinted,
        ownTurn,
      });
      if (session === this.#session) this.#take(answer);
    } catch (error) {
      for (const active of begun) active.marked = false;
      throw error;
    }
  }

  /** What runs for a while is told to the store; what is over in a moment will be told as finished. */
  #toMark(): Active[] {
    const begunBy = this.#env.monotonic() - MARK_AFTER_MS;
    return [...this.#active.values()].filter(({ marked, begunAt }) => !marked && begunAt <= begunBy);
  }

  #markSoon(): void {
    if (this.#marking) return;
    this.#marking = true;
    this.#env.after(MARK_AFTER_MS, () => {
      this.#marking = false;
      if (this.#toMark().length > 0) this.#wake.set();
      if ([...this.#active.values()].some(({ marked }) => !marked)) this.#markSoon();
    });
  }

  /** Two exchanges may want a new session at the same time. */
  #openOnce(): Promise<string> {
    this.#opening ??= this.#keeper
      .open()
      .then((id) => {
        this.#session = id;
        return id;
      })
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  #take(answer: Answer): void {
    this.#clock = { storeNow: answer.now, at: this.#env.monotonic() };
    for (const id of answer.refused) this.#tell({ kind: "refused", id });
    if (answer.ended) {
      this.#sessionEnded();
      return;
    }
    for (const claim of answer.claimed) {
      this.#tell({ kind: "claimed", id: claim.id, held: claim.held });
      if (this.#draining) this.#giveBack(claim);
      else if (claim.held) this.#begin(claim, false);
      else this.#prefetched.set(claim.id, claim);
    }
    for (const id of answer.started) {
      const claim = this.#prefetched.get(id);
      this.#prefetched.delete(id);
      if (claim) this.#begin(claim, true);
    }
    this.#more = answer.more && !this.#draining;
    if (this.#more) this.#wake.set();
    if (answer.yielded) this.#lookAgainSoon();
  }

  /** Slots were left to others; if nobody took them by then, they are ours. */
  #lookAgainSoon(): void {
    this.#env.after(IMMEDIATE_RETRY_MS, () => {
      this.#ownTurn = true;
      this.wake();
    });
  }

  #begin(claim: Claimed, marked: boolean): void {
    if (!this.#keeper.isTrusted()) {
      this.#sessionEnded();
      return;
    }
    const active = new Active(claim, marked, this.#env.monotonic());
    this.#active.set(claim.id, active);
    if (!marked) this.#markSoon();
    this.#tell({ kind: "started", id: claim.id, name: claim.name, epoch: claim.epoch });
    void this.#execute(active);
  }

  async #execute(active: Active): Promise<void> {
    const { epoch } = active.claim;
    // An executor answers even for code that throws; if it fails itself, the attempt has failed and not the worker.
    const ending = await this.#attempt(active).catch(broken);
    if (this.#journal.has(epoch)) await this.#journal.flush();
    this.#ended(active, ending);
  }

  async #attempt(active: Active): Promise<Ending> {
    const { id, name, input, attempt, epoch, options } = active.claim;
    const { timeoutMs } = storedOptions(options);
    return this.#executor.run({
      id,
      name,
      input,
      attempt,
      fence: epoch,
      timeoutMs,
      get signal() {
        return active.signal;
      },
      progress: (value) => this.#journal.progress(id, epoch, value),
      log: (message, data) => this.#journal.log(id, epoch, message, data),
    });
  }

  #ended(active: Active, ending: Ending): void {
    const { claim } = active;
    // Aborted and forgotten: its claim is no longer ours, so there is nothing to report.
    if (this.#active.get(claim.id) !== active) return;
    this.#active.delete(claim.id);
    const report = this.#reportOf(claim, ending);
    this.#finished.push(report);
    this.#tell({ kind: "finished", id: claim.id, to: report.to });
    this.#wake.set();
  }

  #reportOf(claim: Claimed, ending: Ending): Finished {
    const { id, epoch } = claim;
    if (ending.ok) return { id, epoch, to: "succeeded", body: ending.result, delayMs: 0 };
    const body = JSON.stringify(ending.error);
    const { retry: policy } = storedOptions(claim.options);
    const now = this.#clock.storeNow + (this.#env.monotonic() - this.#clock.at);
    const next = nextAttempt({
      policy,
      attempt: claim.attempt,
      now,
      goodUntil: claim.goodUntil,
      random: this.#env.random(),
    });
    if (!ending.retryable || !next.retry) return { id, epoch, to: "failed", body, delayMs: 0 };
    return { id, epoch, to: "retry", body, delayMs: Math.max(0, Math.round(next.at - now)) };
  }

  /** The answer was lost or the store is away: report again, and ask what is ours before believing anything. */
  async #recover(error: unknown): Promise<void> {
    this.#tell({ kind: "error", error });
    const backoff = Math.min(MOST_BACKOFF_MS, 50 * 2 ** this.#failures);
    this.#failures += 1;
    // Stopping must end even when the store does not come back: what is not reported is recovered by others.
    if (this.#stopped && this.#failures > LAST_TRIES) this.#finished = [];
    await new Promise<void>((resolve) => setTimeout(resolve, backoff * (0.5 + this.#env.random())));
    // What another exchange brings is taken first, or it would be taken for something that was lost.
    await Promise.allSettled(this.#flights);
    if (!this.#keeper.isTrusted()) this.#sessionEnded();
    else await this.#adopt().catch(() => {});
    this.wake();
  }

  /** Claims that an unanswered exchange may have brought: they are ours, so they run. */
  async #adopt(): Promise<void> {
    const held = await this.#claims.held();
    // Only now: what ended while we asked is ours no more.
    const reported = new Set(this.#finished.map(({ epoch }) => epoch));
    for (const claim of held) {
      if (reported.has(claim.epoch) || this.#active.has(claim.id) || this.#prefetched.has(claim.id)) continue;
      if (this.#draining) this.#giveBack(claim);
      else if (claim.held) this.#begin(claim, false);
      else this.#prefetched.set(claim.id, claim);
    }
  }

  #renewed(): void {
    // A renewal that came at the last moment may have been too late for some of our claims.
    void this.#dropStale();
  }

  #hear(hint: string): void {
    if (hint === "cancel") this.#lookForCancelled();
    else if (hint === "work") this.wake();
  }

  /** Where hints are not told apart there may be very many; a twentieth of a second is soon enough. */
  #lookForCancelled(): void {
    if (this.#lookingForCancelled || this.#active.size === 0) return;
    this.#lookingForCancelled = true;
    this.#env.after(CANCEL_LOOK_MS, () => {
      this.#lookingForCancelled = false;
      void this.#dropStale();
    });
  }

  async #dropStale(): Promise<void> {
    const asked = [...this.#active.values()];
    if (asked.length === 0) return;
    const claims = asked.map(({ claim: { id, epoch } }) => ({ id, epoch }));
    const stale = new Set(await this.#claims.stale(claims).catch(() => []));
    for (const active of asked) {
      const { id } = active.claim;
      // By now the same task may run here again, under another epoch: that claim was not asked about.
      if (!stale.has(id) || this.#active.get(id) !== active) continue;
      this.#abort(id, new SluiceError("CANCELLED", "The task was cancelled."));
    }
    if (stale.size > 0) this.wake();
  }

  #abort(id: string, reason: SluiceError): void {
    const active = this.#active.get(id);
    this.#active.delete(id);
    active?.abort(reason);
  }

  #abortAll(reason: SluiceError): void {
    for (const active of this.#active.values()) active.abort(reason);
  }

  #sessionEnded(): void {
    if (!this.#session) return;
    this.#session = undefined;
    this.#tell({ kind: "sessionEnded" });
    const reason = new SluiceError(
      "LEASE_LOST",
      "The worker could not renew its lease in time; the task may run elsewhere by now.",
    );
    for (const id of [...this.#active.keys()]) this.#abort(id, reason);
    this.#prefetched.clear();
    this.#keeper.forget();
    this.wake();
  }

  #returnPrefetched(): void {
    for (const claim of this.#prefetched.values()) this.#giveBack(claim);
    this.#prefetched.clear();
  }

  /** A claim that was never begun goes back to its place, and no attempt is burnt. */
  #giveBack({ id, epoch }: Claimed): void {
    this.#finished.push({ id, epoch, to: "returned", body: null, delayMs: 0 });
    this.#wake.set();
  }

  #drained(graceMs: number): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#idle.delete(done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(graceMs, LONGEST_TIMER_MS));
      this.#idle.add(done);
    });
  }

  #tell(event: WorkerEvent): void {
    this.#options.watch?.(event);
  }
}

const broken = (error: unknown): Ending => ({
  ok: false,
  error: { name: "Error", message: error instanceof Error ? error.message : "The executor failed." },
  retryable: true,
});

const immediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
