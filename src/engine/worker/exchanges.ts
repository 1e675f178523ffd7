/**
 * The exchanges with the store. An exchange reports finished claims and brings new ones. With many slots, two
 * exchanges are in flight: one half of the tasks runs here while the store works on the other half. After a
 * failed exchange, none is sent until the worker knows which claims are its own (`recovery.ts`).
 */
import type { Env } from "../../env/env.ts";
import { turn } from "../../env/timers.ts";
import { isStopped } from "../../store/store.ts";
import type { Answer, Claimed, Claims, Finished, Report } from "../claiming/claims.ts";
import { asideNotice } from "../claiming/set-aside.ts";
import type { Holdings } from "./holdings.ts";
import type { Machine } from "./machine.ts";
import type { Marks } from "./marks.ts";
import type { Outbox } from "./outbox.ts";
import type { Running } from "./running.ts";
import type { SessionKeeper } from "./session-keeper.ts";
import { Signal } from "./signal.ts";
import { isClosing, isDraining } from "./state.ts";
import { stopped } from "./verdict.ts";
import type { Tell } from "./worker-event.ts";

interface ExchangeOptions {
  readonly slots: number;
  readonly atOnce: number;
  /** The most claims that may be waiting to start. Unbounded if absent. */
  readonly mostClaimed?: number | undefined;
  /** Slots that run nothing and cannot start anything now. */
  readonly blocked: () => number;
}

/** Its collaborators. */
interface ExchangeParts {
  readonly claims: Claims;
  readonly env: Env;
  readonly holdings: Holdings;
  readonly marks: Marks;
  readonly outbox: Outbox;
  readonly running: Pick<Running, "take">;
  readonly session: Pick<SessionKeeper, "open">;
  readonly machine: Machine;
  readonly tell: Tell;
}

export class Exchanges {
  readonly #parts: ExchangeParts;
  readonly #options: ExchangeOptions;
  readonly #appetite: number;
  readonly #wake = new Signal();
  /** Set whenever an exchange may have become possible. */
  readonly #cleared = new Signal();
  readonly #flights = new Set<Promise<unknown>>();

  constructor(parts: ExchangeParts, options: ExchangeOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#appetite = Math.ceil(options.slots / options.atOnce);
  }

  /** Sends the next exchange as soon as possible. */
  speak(): void {
    this.#wake.set();
    this.#cleared.set();
  }

  get isIdle(): boolean {
    const { holdings, outbox } = this.#parts;
    return holdings.size === 0 && outbox.isEmpty && this.#flights.size === 0;
  }

  /** Resolves when every exchange in flight was answered or has failed. */
  async landed(): Promise<void> {
    await Promise.allSettled(this.#flights);
  }

  /** Runs until the worker closes and everything is reported. */
  async run(): Promise<void> {
    const { machine, outbox } = this.#parts;
    for (;;) {
      await this.#wake.wait();
      await turn();
      while (!this.#mayFly()) await this.#cleared.wait();
      if (machine.state.isGone) this.#dropReports();
      if (isClosing(machine.state) && outbox.isEmpty) {
        // An exchange in flight may bring claims that must be given back. Its end wakes us.
        if (this.#flights.size > 0) continue;
        break;
      }
      if (machine.state.isGone || this.#isIdleTalk) continue;
      void this.#exchange();
      if (outbox.sayable.length > 0 || (machine.state.more && this.#room() > 0)) this.#wake.set();
    }
    machine.happened("allSaid");
  }

  /**
   * Reports that came while an exchange was in flight may have left with the next one already. Then there is
   * nothing to say, and without a hint nothing to ask.
   */
  get #isIdleTalk(): boolean {
    const { machine, marks, outbox } = this.#parts;
    const { hinted, ownTurn, more, session } = machine.state;
    if (hinted || ownTurn || more || session === undefined) return false;
    return outbox.sayable.length === 0 && marks.due.length === 0;
  }

  /** The store is gone, so reports can no longer be delivered. */
  #dropReports(): void {
    this.#parts.outbox.clear();
    if (this.isIdle) this.#parts.machine.happened("idle");
  }

  #mayFly(): boolean {
    return !this.#parts.machine.state.isRecovering && this.#flights.size < this.#options.atOnce;
  }

  /** Slots that run nothing and are not reserved for an exchange in flight. */
  #room(): number {
    const { slots, blocked } = this.#options;
    return slots - this.#parts.holdings.size - blocked() - this.#flights.size * this.#appetite;
  }

  async #exchange(): Promise<void> {
    const { machine, outbox } = this.#parts;
    // What does not fit into this exchange leaves with the next one.
    const finished = outbox.take(this.#appetite);
    const flight = this.#fly(finished, this.#flights.size * this.#appetite);
    this.#flights.add(flight);
    try {
      const claimed = await flight;
      outbox.told(finished);
      machine.happened("reached");
      if (isNewsIn(finished, claimed)) machine.happened("stepsEnded");
    } catch (error) {
      outbox.untold(finished);
      machine.happened({ kind: "unanswered", error });
    } finally {
      this.#flights.delete(flight);
      this.#cleared.set();
    }
    const { state } = machine;
    if (isClosing(state) || state.isRecovering || !outbox.isEmpty) this.#wake.set();
    if (this.isIdle) machine.happened("idle");
  }

  async #fly(finished: readonly Finished[], others: number): Promise<readonly Claimed[]> {
    const { claims, env, machine, marks, session: keeper } = this.#parts;
    const session = machine.state.session ?? (await keeper.open());
    const begun = marks.due;
    for (const active of begun) active.marked = true;
    const report = this.#reportOf(finished, others);
    machine.happened("asked");
    const askedAt = env.monotonic();
    try {
      const answer = await claims.exchange({
        ...report,
        started: begun.map(({ claim: { id, epoch } }) => ({ id, epoch })),
      });
      if (session === machine.state.session) this.#take(answer, finished, askedAt);
      return answer.claimed;
    } catch (error) {
      for (const active of begun) active.marked = false;
      throw error;
    }
  }

  #reportOf(finished: readonly Finished[], others: number): Omit<Report, "started"> {
    const { mostClaimed, blocked } = this.#options;
    const { holdings, machine } = this.#parts;
    return {
      finished,
      active: holdings.size + blocked() + others,
      appetite: this.#appetite,
      claims: mostClaimed === undefined ? undefined : Math.max(0, mostClaimed - holdings.unbegun),
      draining: isDraining(machine.state),
      hinted: machine.state.hinted,
      ownTurn: machine.state.ownTurn,
    };
  }

  #take(answer: Answer, finished: readonly Finished[], askedAt: number): void {
    const { holdings, machine, outbox, running, tell } = this.#parts;
    for (const id of answer.refused) tell({ kind: "refused", id });
    for (const lane of answer.aside ?? []) tell({ kind: "error", error: asideNotice(lane) });
    if (answer.ended) {
      machine.happened("sessionLost");
      return;
    }
    // These claims were cancelled while we reported their end. The store has another outcome, but must learn
    // that the code has ended.
    const refused = new Set(answer.refused);
    for (const one of finished)
      if (!isStopped(one) && refused.has(one.id) && !holdings.knows(one)) outbox.add(stopped(one));
    running.take(answer, askedAt);
    if (answer.claimed.some(({ leaseMs }) => leaseMs !== null)) machine.happened("leased");
    machine.happened({ kind: "answered", more: answer.more, yielded: answer.yielded });
  }
}

/** True if runs may advance. An item changes nothing yet if this exchange has claimed another item of its lane. */
function isNewsIn(finished: readonly Finished[], claimed: readonly Claimed[]): boolean {
  const followed = new Set(claimed.map(({ lane }) => lane));
  return finished.some((one) => isStopped(one) || (one.news && !followed.has(one.news.lane ?? "")));
}
