/**
 * The conversation with the store: what finished is reported and new work comes back in the same breath. With many
 * slots there are two exchanges under way: one half runs here while the store has the other. A failed exchange is
 * followed by a pause, and by asking what is ours before anything is believed.
 */
import type { Env } from "../../env/env.ts";
import { turn } from "../../env/timers.ts";
import { isStopped } from "../../store/store.ts";
import type { Answer, Claimed, Claims, Finished, Report } from "../claiming/claims.ts";
import { asideNotice } from "../claiming/set-aside.ts";
import type { Running } from "./running.ts";
import { Signal } from "./signal.ts";
import { stopped } from "./verdict.ts";
import type { Tell } from "./worker-event.ts";

export interface ExchangeOptions {
  readonly slots: number;
  readonly atOnce: number;
  /** The most that may be claimed and not begun; no bound when absent. */
  readonly mostClaimed?: number | undefined;
}

export interface ExchangeWatch {
  /** The session to speak for; opened if there is none. */
  session(): Promise<string>;
  isCurrent(session: string): boolean;
  isTrusted(): boolean;
  sessionEnded(): void;
  /** New claims are held. */
  taken(): void;
  /** Steps of runs have ended, and the store knows it. */
  stepsEnded(): void;
  /** Nothing runs and nothing is left to say. */
  idle(): void;
  readonly tell: Tell;
}

const IMMEDIATE_RETRY_MS = 50;
const MOST_BACKOFF_MS = 5_000;
const LAST_TRIES = 3;

export class Exchanges {
  readonly #claims: Claims;
  readonly #running: Running;
  readonly #env: Env;
  readonly #options: ExchangeOptions;
  readonly #watch: ExchangeWatch;
  readonly #appetite: number;
  readonly #wake = new Signal();
  readonly #flights = new Set<Promise<unknown>>();
  #recovering: Promise<void> | undefined;
  #finished: Finished[] = [];
  /** Claims of which a report is on its way that they are over, while their code runs on. */
  readonly #telling = new Set<number>();
  #more = false;
  #hinted = true;
  #ownTurn = false;
  #failures = 0;
  #stopped = true;

  constructor(claims: Claims, running: Running, env: Env, options: ExchangeOptions, watch: ExchangeWatch) {
    this.#claims = claims;
    this.#running = running;
    this.#env = env;
    this.#options = options;
    this.#watch = watch;
    this.#appetite = Math.ceil(options.slots / options.atOnce);
  }

  /** There may be something new in line. */
  hint(): void {
    this.#hinted = true;
    this.#wake.set();
  }

  /** There is something to say. */
  wake(): void {
    this.#wake.set();
  }

  report(finished: Finished): void {
    this.#finished.push(finished);
    this.#wake.set();
  }

  get isIdle(): boolean {
    return this.#running.size === 0 && this.#finished.length === 0 && this.#flights.size === 0;
  }

  /** Runs until it was told to finish, and everything is said. */
  async run(): Promise<void> {
    this.#stopped = false;
    for (;;) {
      await this.#wake.wait();
      await turn();
      await this.#mayFly();
      if (this.#stopped && this.#finished.length === 0) {
        // What is on its way may bring claims that must be given back; its end wakes us.
        if (this.#flights.size > 0) continue;
        return;
      }
      void this.#exchange();
      if (this.#sayable().length > 0 || (this.#more && this.#room() > 0)) this.#wake.set();
    }
  }

  finish(): void {
    this.#stopped = true;
    this.#wake.set();
  }

  /** An exchange that fails says so itself, and is followed by a recovery: that is waited for, too. */
  async #mayFly(): Promise<void> {
    while (this.#recovering || this.#flights.size >= this.#options.atOnce)
      await (this.#recovering ?? Promise.race(this.#flights).catch(() => {}));
  }

  /** Slots that neither run anything nor may be filled by an exchange on its way. */
  #room(): number {
    const { size, blocked } = this.#running;
    return this.#options.slots - size - blocked - this.#flights.size * this.#appetite;
  }

  /** That code has stopped is said when it is known that its claim was over: before, the store would not know of what. */
  #sayable(): Finished[] {
    return this.#finished.filter((one) => !isStopped(one) || !this.#telling.has(one.epoch));
  }

  async #exchange(): Promise<void> {
    const finished = this.#sayable();
    this.#finished = this.#finished.filter((one) => isStopped(one) && this.#telling.has(one.epoch));
    const running = finished.filter((one) => "stopping" in one);
    for (const { epoch } of running) this.#telling.add(epoch);
    const flight = this.#fly(finished, this.#flights.size * this.#appetite);
    this.#flights.add(flight);
    try {
      const followed = new Set((await flight).map(({ lane }) => lane));
      this.#failures = 0;
      // After an item that another one has followed there is nothing to do yet.
      if (finished.some((one) => isStopped(one) || (one.news && !followed.has(one.news.lane ?? ""))))
        this.#watch.stepsEnded();
    } catch (error) {
      this.#finished = [...finished, ...this.#finished];
      this.#recovering ??= this.#recover(error).finally(() => {
        this.#recovering = undefined;
      });
    } finally {
      this.#flights.delete(flight);
      for (const { epoch } of running) this.#telling.delete(epoch);
    }
    if (this.#stopped || this.#recovering || this.#finished.length > 0) this.#wake.set();
    if (this.#running.isDraining && this.isIdle) this.#watch.idle();
  }

  async #fly(finished: readonly Finished[], others: number): Promise<readonly Claimed[]> {
    const session = await this.#watch.session();
    const begun = this.#running.toMark();
    for (const active of begun) active.marked = true;
    const report = this.#reportOf(finished, others);
    this.#ownTurn = false;
    this.#hinted = false;
    const askedAt = this.#env.monotonic();
    try {
      const answer = await this.#claims.exchange({
        ...report,
        started: begun.map(({ claim: { id, epoch } }) => ({ id, epoch })),
      });
      if (this.#watch.isCurrent(session)) this.#take(answer, finished, askedAt);
      return answer.claimed;
    } catch (error) {
      for (const active of begun) active.marked = false;
      throw error;
    }
  }

  #reportOf(finished: readonly Finished[], others: number): Omit<Report, "started"> {
    const { mostClaimed } = this.#options;
    return {
      finished,
      active: this.#running.size + this.#running.blocked + others,
      appetite: this.#appetite,
      claims: mostClaimed === undefined ? undefined : Math.max(0, mostClaimed - this.#running.unbegun),
      draining: this.#running.isDraining,
      hinted: this.#hinted,
      ownTurn: this.#ownTurn,
    };
  }

  #take(answer: Answer, finished: readonly Finished[], askedAt: number): void {
    for (const id of answer.refused) this.#watch.tell({ kind: "refused", id });
    for (const lane of answer.aside ?? []) this.#watch.tell({ kind: "error", error: asideNotice(lane) });
    if (answer.ended) {
      this.#watch.sessionEnded();
      return;
    }
    // It was cancelled while we said how it ended: its record is another one, but its code has ended.
    const refused = new Set(answer.refused);
    for (const one of finished)
      if (!isStopped(one) && refused.has(one.id) && !this.#running.knows(one)) this.report(stopped(one));
    this.#running.take(answer, askedAt);
    if (answer.claimed.some(({ leaseMs }) => leaseMs !== null)) this.#watch.taken();
    this.#more = answer.more && !this.#running.isDraining;
    if (this.#more) this.#wake.set();
    if (answer.yielded) this.#lookAgainSoon();
  }

  /** Slots were left to others; if nobody took them by then, they are ours. */
  #lookAgainSoon(): void {
    this.#env.after(IMMEDIATE_RETRY_MS, () => {
      this.#ownTurn = true;
      this.hint();
    });
  }

  /** The answer was lost or the store is away: ask what is ours before believing anything, and then report again. */
  async #recover(error: unknown): Promise<void> {
    this.#watch.tell({ kind: "error", error });
    await this.#pause();
    // What another exchange brings is taken first, or it would be taken for something that was lost.
    await Promise.allSettled(this.#flights);
    // Stopping must end even when the store does not come back: what is not reported is recovered by others.
    const givesUp = this.#stopped && this.#failures > LAST_TRIES;
    if (givesUp) this.#finished = [];
    else if (!this.#watch.isTrusted()) this.#watch.sessionEnded();
    else {
      // Claims that nobody knows of would hold their slots for nothing: not before this was answered.
      const failed = await this.#adopt().catch((cause: unknown) => ({ cause }));
      if (failed) return this.#recover(failed.cause);
    }
    this.hint();
  }

  async #pause(): Promise<void> {
    const backoff = Math.min(MOST_BACKOFF_MS, 50 * 2 ** this.#failures);
    this.#failures += 1;
    await this.#env.sleep(backoff * (0.5 + this.#env.random()));
  }

  async #adopt(): Promise<void> {
    const [held, stopping] = await Promise.all([this.#claims.held(), this.#claims.stopping()]);
    // Only now: what ended while we asked is ours no more.
    this.#running.adopt(held, new Set(this.#finished.map(({ epoch }) => epoch)));
    this.#letGo(stopping);
    this.#watch.taken();
  }

  /**
   * Lets go of claims that were taken away and do not run here: cancelled before we heard of them, in an answer that was
   * lost. One in an answer that is still on its way will run here, so such answers are waited for.
   */
  async reconcile(): Promise<void> {
    const stopping = await this.#claims.stopping().catch(() => []);
    if (stopping.length === 0) return;
    await Promise.allSettled(this.#flights);
    this.#letGo(stopping);
  }

  #letGo(claims: readonly { readonly id: string; readonly epoch: number }[]): void {
    for (const claim of claims) if (!this.#running.knows(claim)) this.report(stopped(claim));
  }
}
