/**
 * What this worker holds: claims whose code runs here, and those it has claimed ahead of time. Every claim that is
 * begun ends exactly once: as a report, or forgotten because it is no longer ours.
 *
 * A claim that was taken away (cancelled, timed out, lost) is told to stop, and uses its slot here until its code has
 * ended; then that is reported, by epoch, because the same task may run here again by then.
 */
import { SluiceError } from "../../core/error.ts";
import type { Env } from "../../env/env.ts";
import type { Ending, Executor } from "../../executor/executor.ts";
import type { Answer, Claimed, Claims, Finished } from "../claiming/claims.ts";
import { storedOptions } from "../claiming/recovery.ts";
import { Active } from "./active.ts";
import type { Journal } from "./journal.ts";
import { returned, STOPPED, stopped, verdict } from "./verdict.ts";
import type { Tell } from "./worker-event.ts";

export interface BeginTimes {
  /** After how long the store is told that a task has begun, if it is not over by then. */
  readonly markAfterMs: number;
  /** How long a claim may wait until its code begins; no bound when absent. */
  readonly claimLeaseMs?: number | undefined;
}

export interface RunningWatch {
  /** Asked before every beginning. */
  isTrusted(): boolean;
  /** A beginning was refused for lack of trust. */
  distrusted(): void;
  ended(finished: Finished): void;
  /** There is something to tell the store. */
  wake(): void;
  readonly tell: Tell;
}

export class Running {
  readonly #executor: Executor;
  readonly #journal: Journal;
  readonly #env: Env;
  readonly #watch: RunningWatch;
  readonly #markAfterMs: number;
  readonly #beginWithinMs: number;
  readonly #active = new Map<string, Active>();
  /** By epoch: code that should have ended. */
  readonly #stopping = new Map<number, Active>();
  readonly #prefetched = new Map<string, Claimed>();
  #marking = false;
  #draining = false;
  #clock = { storeNow: 0, at: 0 };

  constructor(executor: Executor, journal: Journal, env: Env, times: BeginTimes, watch: RunningWatch) {
    this.#executor = executor;
    this.#journal = journal;
    this.#env = env;
    this.#markAfterMs = times.markAfterMs;
    // The rest is for telling the store, so that a claim does not lapse while its code has just begun.
    this.#beginWithinMs = (times.claimLeaseMs ?? Number.POSITIVE_INFINITY) * 0.75;
    this.#watch = watch;
  }

  /** How many tasks run right now, those included that should have ended. */
  get size(): number {
    return this.#active.size + this.#stopping.size;
  }

  /** Whether a claim of ours runs here, or waits to. */
  knows({ id, epoch }: { readonly id: string; readonly epoch: number }): boolean {
    return (
      this.#stopping.has(epoch) ||
      this.#active.get(id)?.claim.epoch === epoch ||
      this.#prefetched.get(id)?.epoch === epoch
    );
  }

  /** Slots that neither run anything nor could begin anything now. */
  get blocked(): number {
    return this.#executor.blocked?.() ?? 0;
  }

  /** Claims of which the store has not been told that they began. */
  get unbegun(): number {
    let unmarked = 0;
    for (const { marked } of this.#active.values()) if (!marked) unmarked += 1;
    return this.#prefetched.size + unmarked;
  }

  /** What the store gave us, asked for at that instant: no claim is older. */
  take({ now, claimed, started }: Answer, askedAt = this.#env.monotonic()): void {
    this.#clock = { storeNow: now, at: this.#env.monotonic() };
    for (const claim of claimed) {
      this.#watch.tell({ kind: "claimed", id: claim.id, held: claim.held });
      this.#have(claim, askedAt);
    }
    for (const id of started) {
      const claim = this.#prefetched.get(id);
      this.#prefetched.delete(id);
      if (claim) this.#begin(claim, true, askedAt);
    }
  }

  /** Claims that an unanswered exchange may have brought: they are ours, so they run. */
  adopt(held: readonly Claimed[], reported: ReadonlySet<number>): void {
    for (const claim of held)
      if (!this.knows(claim) && !reported.has(claim.epoch)) this.#have(claim, this.#env.monotonic());
  }

  #have(claim: Claimed, askedAt: number): void {
    if (this.#draining) this.#watch.ended(returned(claim));
    else if (claim.held) this.#begin(claim, false, askedAt);
    else this.#prefetched.set(claim.id, claim);
  }

  #begin(claim: Claimed, marked: boolean, askedAt: number): void {
    if (!this.#watch.isTrusted()) {
      this.#watch.distrusted();
      return;
    }
    // Claimed anew, so the claim that we still run was taken away.
    const before = this.#active.get(claim.id);
    if (before) this.#stop(before, CANCELLED);
    const active = new Active(claim, marked);
    this.#active.set(claim.id, active);
    void this.#execute(active, askedAt + this.#beginWithinMs);
  }

  /** Its executor says that its code begins. */
  #hasBegun(active: Active): void {
    const { id, name, epoch } = active.claim;
    active.begunAt = this.#env.monotonic();
    this.#watch.tell({ kind: "started", id, name, epoch });
    if (!active.marked) this.#markSoon();
  }

  async #execute(active: Active, beginBy: number): Promise<void> {
    const { epoch } = active.claim;
    // An executor answers even for code that throws; if it fails itself, the attempt has failed and not the worker.
    const ending = await this.#attempt(active, beginBy).catch(broken);
    if (this.#journal.has(epoch)) await this.#journal.flush();
    this.#ended(active, ending);
    if (!ending.ok) await Promise.resolve(ending.stopping).catch(() => {});
    this.#stopped(active);
  }

  async #attempt(active: Active, beginBy: number): Promise<Ending> {
    const { id, name, input, attempt, epoch, options } = active.claim;
    const { timeoutMs, step, cpu, pod } = storedOptions(options);
    return this.#executor.run({
      id,
      name,
      input,
      attempt,
      fence: epoch,
      timeoutMs,
      beginBy: Number.isFinite(beginBy) ? beginBy : undefined,
      step,
      cpu,
      pod,
      get signal() {
        return active.signal;
      },
      begins: () => this.#hasBegun(active),
      progress: (value) => this.#journal.progress(id, epoch, value),
      log: (message, data) => this.#journal.log(id, epoch, message, data),
    });
  }

  #ended(active: Active, ending: Ending): void {
    const { claim } = active;
    // Aborted and forgotten: its claim is no longer ours, so there is nothing to report.
    if (this.#active.get(claim.id) !== active) return;
    this.#active.delete(claim.id);
    const now = this.#clock.storeNow + (this.#env.monotonic() - this.#clock.at);
    const isStopped = active.abortedFor === STOPPED;
    const finished = verdict(claim, ending, { now, random: this.#env.random(), isStopped });
    if ("stopping" in finished) this.#stopping.set(claim.epoch, active);
    this.#watch.tell({ kind: "finished", id: claim.id, to: finished.to });
    this.#watch.ended(finished);
  }

  /** It is no longer ours, but its code has not ended. */
  #stop(active: Active, reason: SluiceError): void {
    this.#active.delete(active.claim.id);
    this.#stopping.set(active.claim.epoch, active);
    active.abort(reason);
  }

  /** The code of a claim that was taken away has ended. */
  #stopped(active: Active): void {
    if (this.#stopping.delete(active.claim.epoch)) this.#watch.ended(stopped(active.claim));
  }

  /** What runs for a while is told to the store; what is over in a moment will be told as finished. */
  toMark(): Active[] {
    const begunBy = this.#env.monotonic() - this.#markAfterMs;
    return this.#unmarked().filter(({ begunAt = 0 }) => begunAt <= begunBy);
  }

  /** Code that runs, and the store has not been told. */
  #unmarked(): Active[] {
    return [...this.#active.values()].filter(({ marked, begunAt }) => !marked && begunAt !== undefined);
  }

  #markSoon(): void {
    if (this.#marking) return;
    this.#marking = true;
    this.#env.after(this.#markAfterMs, () => {
      this.#marking = false;
      if (this.toMark().length > 0) this.#watch.wake();
      if (this.#unmarked().length > 0) this.#markSoon();
    });
  }

  /** Lets go of claims that are no longer ours: cancelled, or lapsed before they began. */
  async dropStale(claims: Claims): Promise<void> {
    const asked = [...this.#active.values()];
    const ahead = [...this.#prefetched.values()];
    const all = [...asked.map(({ claim }) => claim), ...ahead].map(({ id, epoch }) => ({ id, epoch }));
    if (all.length === 0) return;
    const stale = new Set(await claims.stale(all).catch(() => []));
    for (const claim of ahead) {
      if (!stale.has(claim.id) || this.#prefetched.get(claim.id) !== claim) continue;
      this.#prefetched.delete(claim.id);
      this.#watch.ended(stopped(claim));
    }
    for (const active of asked) {
      const { id } = active.claim;
      // By now the same task may run here again, under another epoch: that claim was not asked about.
      if (!stale.has(id) || this.#active.get(id) !== active) continue;
      this.#stop(active, CANCELLED);
    }
    if (stale.size > 0) this.#watch.wake();
  }

  /** Claims that have a lease of their own, and how long it is. */
  get leased(): readonly { readonly id: string; readonly epoch: number; readonly leaseMs: number }[] {
    const stopping = [...this.#stopping.values()].filter(({ isLost }) => !isLost);
    const begun = [...this.#active.values(), ...stopping].map(({ claim }) => claim);
    const all = [...begun, ...this.#prefetched.values()];
    return all.flatMap(({ id, epoch, leaseMs }) => (leaseMs === null ? [] : [{ id, epoch, leaseMs }]));
  }

  /** A claim that is no longer ours, because its own lease was not renewed in time. */
  lose({ id, epoch }: { readonly id: string; readonly epoch: number }, reason: SluiceError): void {
    const ahead = this.#prefetched.get(id);
    if (ahead?.epoch === epoch) {
      this.#prefetched.delete(id);
      this.#watch.ended(stopped(ahead));
    }
    const active = this.#stopping.get(epoch) ?? this.#active.get(id);
    if (active?.claim.epoch !== epoch) return;
    active.isLost = true;
    if (this.#active.get(id) === active) this.#stop(active, reason);
    this.#watch.wake();
  }

  /** From now on nothing begins; what was claimed ahead goes back to its place. */
  drain(): void {
    this.#draining = true;
    for (const claim of this.#prefetched.values()) this.#watch.ended(returned(claim));
    this.#prefetched.clear();
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  resume(): void {
    this.#draining = false;
  }

  /** Asks all code to end; its ends are still reported. */
  abortAll(reason: SluiceError): void {
    for (const active of this.#active.values()) active.abort(reason);
  }

  /** Nothing of all this is ours any more. */
  forgetAll(reason: SluiceError): void {
    const all = [...this.#active.values()];
    this.#active.clear();
    this.#stopping.clear();
    this.#prefetched.clear();
    for (const active of all) active.abort(reason);
  }
}

const CANCELLED = new SluiceError("CANCELLED", "The task was cancelled.");

const broken = (error: unknown): Ending => ({
  ok: false,
  error: { name: "Error", message: error instanceof Error ? error.message : "The executor failed." },
  retryable: true,
});
