/**
 * Admits runs and advances them. Any number of processes may do this: a run is admitted by a pass like any
 * other, under the gates' locks, and advances under its own lock.
 *
 *   queued ── pass ──▶ notStarted ── advance ──▶ started ── advance … ──▶ ended
 *
 * An admitted run leaves news, and so does every step that ends. If this process dies in between, another one
 * reads the news. If none does within the start timeout, the run goes back in line or fails, as its app says.
 */

import type { Hint } from "../../core/hint.ts";
import type { Env } from "../../env/env.ts";
import type { Store } from "../../store/store.ts";
import { RUNS } from "../../store/store.ts";
import { asideNotice } from "../claiming/set-aside.ts";
import { StoreClaims } from "../claiming/store-claims.ts";
import type { Polling } from "../loop.ts";
import { Loop } from "../loop.ts";
import type { Service } from "../service.ts";
import { advanceRuns } from "./advance.ts";
import { lookAtTimers } from "./timers.ts";

interface CoordinatorOptions extends Polling {
  readonly startTimeoutMs: number;
  readonly claimTimeoutMs: number;
  /** The most bytes that one look at runs reads. */
  readonly most: number;
}

/** More than can run at once, so the gates decide and not the coordinator. */
const SLOTS = 1_000_000;
/** The most runs admitted by one pass. */
const A_PASS = 200;
const PAUSE_MS = 5;

export class Coordinator implements Service {
  readonly #store: Store;
  readonly #env: Env;
  readonly #options: CoordinatorOptions;
  readonly #claims: StoreClaims;
  readonly #letIn: Loop;
  readonly #moveOn: Loop;
  readonly #timers: Loop;
  #asking = false;
  /** The last pass said that there is more, so this pass needs no hint. */
  #goesOn = false;
  #unlisten: (() => Promise<void>) | undefined;

  constructor(store: Store, env: Env, options: CoordinatorOptions) {
    this.#store = store;
    this.#env = env;
    this.#options = options;
    const seat = { slots: SLOTS, prefetch: 0, claimLeaseMs: options.startTimeoutMs };
    this.#claims = new StoreClaims(store, { ...seat, name: RUNS, queues: [RUNS], tasks: ["*"] }, env);
    this.#claims.speakFor(RUNS);
    this.#letIn = new Loop(env, options, () => this.#admit());
    this.#moveOn = new Loop(env, options, () => this.#advance());
    const { claimTimeoutMs, failed } = options;
    const newId = (): string => env.newId();
    this.#timers = new Loop(env, options, () => lookAtTimers(store, { claimTimeoutMs, failed, newId }));
  }

  async start(): Promise<void> {
    this.#unlisten = await this.#store.listen((hint) => this.#hear(hint));
    for (const loop of [this.#letIn, this.#moveOn, this.#timers]) void loop.start();
  }

  async stop(): Promise<void> {
    await this.#unlisten?.();
    await Promise.all([this.#letIn.stop(), this.#moveOn.stop(), this.#timers.stop()]);
  }

  /** A step ended or a run was submitted in this process, so there is no need to wait for a hint. */
  wake(): void {
    this.#moveOn.wake();
  }

  /** Gates that lanes of runs are parked on. */
  lookAt(parkedOn: readonly string[]): void {
    this.#claims.lookAt(parkedOn);
    this.#letIn.wake();
  }

  /**
   * If the store cannot tell hints apart, there may be very many, mostly about tasks, so a cheap look comes
   * first.
   */
  #hear(hint: Hint): void {
    if (hint !== "runs" || this.#asking) return;
    this.#asking = true;
    this.#env.after(PAUSE_MS, () => void this.#ask());
  }

  async #ask(): Promise<void> {
    this.#asking = false;
    const stirring = await this.#store.stirring().catch(() => undefined);
    if (stirring?.news) this.#moveOn.wake();
    if (stirring?.queued) this.#letIn.wake();
  }

  /** Makes one pass, and another one at once if that may bring more. */
  async #admit(): Promise<number | undefined> {
    const hinted = !this.#goesOn;
    this.#goesOn = false;
    const answer = await this.#claims.exchange({
      finished: [],
      started: [],
      active: 0,
      appetite: A_PASS,
      draining: false,
      hinted,
      ownTurn: true,
    });
    this.#claims.forget(answer.claimed);
    for (const lane of answer.aside ?? []) this.#options.failed?.(asideNotice(lane));
    if (answer.claimed.length > 0) this.#moveOn.wake();
    this.#goesOn = answer.more;
    return answer.more ? 0 : undefined;
  }

  /** Repeats until there is no news. */
  async #advance(): Promise<number | undefined> {
    const { claimTimeoutMs, most } = this.#options;
    const settings = { newId: () => this.#env.newId(), claimTimeoutMs, most };
    let timed = false;
    let aborted = false;
    let handled = false;
    const { news, enqueued, freed } = await this.#store.advance((runs, results) => {
      const answer = advanceRuns(runs, results, settings);
      const moves = "moves" in answer ? answer.moves : [];
      timed ||= moves.some(({ start }) => start && start.timeoutMs !== null);
      timed ||= moves.some(({ steps }) => steps.some(({ wait }) => Boolean(wait?.until)));
      handled ||= moves.some(({ finish }) => finish?.handler !== undefined);
      aborted ||= moves.some(({ endItems }) => endItems.some(({ inFlight }) => inFlight));
      return answer;
    }, most);
    // A run's timeout, or the time of a step that waits, may end before the next poll.
    if (timed) this.#timers.wake();
    if (aborted) this.#store.hint("cancel");
    if (enqueued > 0 || aborted || handled) this.#store.hint("work");
    if (freed.length > 0) {
      this.#claims.notice(freed);
      this.#letIn.wake();
      this.#store.hint("runs");
    }
    return news === 0 ? undefined : 0;
  }
}
