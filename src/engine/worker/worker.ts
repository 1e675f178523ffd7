/**
 * The worker claims, runs and reports. It is one machine (`state.ts`): the parts say what happens,
 * `follow.ts` says what follows, and the orders are carried out here.
 *
 * `running.ts` runs the claims (`holdings.ts`), `exchanges.ts` talks to the store, `recovery.ts` finds out
 * which claims are ours after an answer was lost, and `session-keeper.ts` and `claim-keeper.ts` know how long
 * our claims can be trusted. A session whose lease could not be renewed is lost, together with everything it
 * ran, and a new one begins. The store refuses all later reports of the old session.
 */
import { SluiceError } from "../../core/error.ts";
import type { Env } from "../../env/env.ts";
import type { Executor } from "../../executor/executor.ts";
import type { Claims } from "../claiming/claims.ts";
import type { Service, StopOptions } from "../service.ts";
import { Machine } from "./machine.ts";
import type { Parts } from "./parts.ts";
import { assemble } from "./parts.ts";
import { Patience } from "./patience.ts";
import type { Order, PlainOrder } from "./state.ts";
import { STOPPED } from "./verdict.ts";
import type { WorkerEvent } from "./worker-event.ts";
import type { WorkerOptions } from "./worker-options.ts";

export type { WorkerEvent, WorkerOptions };

/** If the store cannot tell hints apart, there may be very many. A twentieth of a second is soon enough. */
const CANCEL_LOOK_MS = 50;
/** The worker has left slots to other workers. After this time it takes those that are still free. */
const OWN_TURN_MS = 50;

export class Worker implements Service {
  readonly #claims: Claims;
  readonly #executor: Executor;
  readonly #env: Env;
  readonly #options: WorkerOptions;
  readonly #machine: Machine;
  readonly #parts: Parts;
  readonly #patience: Patience;
  #opening: Promise<void> | undefined;
  #unlisten: (() => Promise<void>) | undefined;
  /** Callers that wait for the stop to end. */
  #stops: { resolve(): void; reject(error: unknown): void }[] = [];

  constructor(claims: Claims, executor: Executor, env: Env, options: WorkerOptions) {
    this.#claims = claims;
    this.#executor = executor;
    this.#env = env;
    this.#options = options;
    this.#machine = new Machine((order) => this.#carryOut(order));
    this.#parts = assemble(claims, executor, env, options, this.#machine);
    this.#patience = new Patience(env, this.#machine, () => this.#parts.exchanges.isIdle);
  }

  get session(): string | undefined {
    return this.#machine.state.session;
  }

  /** How many tasks run right now. */
  get running(): number {
    return this.#parts.holdings.size;
  }

  async start(): Promise<void> {
    this.#machine.happened("start");
    await this.#opening;
  }

  /** There may be something new to do. */
  wake(): void {
    this.#machine.happened("hint");
  }

  /** Another part could not reach the store. If the store is gone, the worker must know. */
  unanswered(error: unknown): void {
    this.#machine.happened({ kind: "unanswered", error });
  }

  async stop({ graceMs = this.#options.graceMs }: StopOptions = {}): Promise<void> {
    if (this.#machine.state.phase === "stopped") return;
    const stopped = new Promise<void>((resolve, reject) => this.#stops.push({ resolve, reject }));
    this.#machine.happened({ kind: "stop", graceMs });
    await stopped;
  }

  #carryOut(order: Order): void {
    if (typeof order === "string") this.#orders[order]();
    else if (order.do === "wait") this.#patience.wait(order.ms);
    else if (order.do === "giveUp") this.#giveUp(order.error);
    else void this.#parts.recovery.recover(order.error, order.failures);
  }

  readonly #orders: Readonly<Record<PlainOrder, () => void>> = {
    open: () => {
      this.#opening = this.#open();
    },
    converse: () => void this.#parts.exchanges.run(),
    speak: () => this.#parts.exchanges.speak(),
    retire: () => this.#retire(),
    giveBack: () => this.#parts.running.giveBack(),
    abort: () => this.#parts.running.abortAll(STOPPED),
    halt: () => void this.#halt(),
    leave: () => void this.#leave(),
    forget: () => this.#forget(),
    dropStale: () => void this.#parts.running.dropStale(this.#claims),
    reconcile: () => void this.#reconcile(),
    lookForCancelled: () => this.#later(CANCEL_LOOK_MS, "cancelDue"),
    lookAgain: () => this.#later(OWN_TURN_MS, "ownTurn"),
    keepClaims: () => this.#parts.claimKeeper.look(),
    tellSteps: () => this.#options.stepsEnded?.(),
  };

  #later(ms: number, happening: "cancelDue" | "ownTurn"): void {
    this.#env.after(ms, () => this.#machine.happened(happening));
  }

  async #open(): Promise<void> {
    try {
      await this.#parts.session.open();
      this.#unlisten = await this.#claims.listen((hint) => this.#hear(hint));
    } catch (error) {
      if (this.session !== undefined) await this.#letGo();
      this.#machine.happened("notOpened");
      this.#isOver();
      throw error;
    }
    this.#machine.happened("opened");
  }

  #hear(hint: string): void {
    if (hint === "work") this.#machine.happened("hint");
    else if (hint === "cancel" && this.running > 0) this.#machine.happened("cancelHeard");
  }

  async #reconcile(): Promise<void> {
    await this.#parts.running.dropStale(this.#claims);
    await this.#parts.recovery.reconcile();
  }

  /**
   * A worker that runs nothing is gone in a moment, so it need not retire. If the store is away, other
   * workers cannot read it either.
   */
  #retire(): void {
    if (this.running > 0) void this.#claims.retire().catch(() => {});
  }

  #forget(): void {
    this.#options.watch?.({ kind: "sessionEnded" });
    this.#parts.running.forgetAll(LEASE_LOST);
    this.#parts.session.forget();
  }

  /** Code is aborted as with a lost lease, and counts as running until it has ended. */
  #giveUp(error: unknown): void {
    this.#parts.session.forget();
    this.#parts.running.loseAll(
      new SluiceError("LEASE_LOST", "The store of its worker is gone; the task may run elsewhere by now.", {
        cause: error,
      }),
    );
    this.#options.watch?.({ kind: "storeGone", error });
  }

  async #halt(): Promise<void> {
    await this.#executor.halt?.().catch(() => {});
    this.#machine.happened("halted");
  }

  async #leave(): Promise<void> {
    this.#patience.end();
    this.#parts.claimKeeper.stop();
    let failed: { readonly error: unknown } | undefined;
    await this.#unlisten?.().catch((error: unknown) => {
      failed = { error };
    });
    await this.#letGo();
    this.#machine.happened("left");
    this.#isOver(failed);
  }

  async #letGo(): Promise<void> {
    this.#parts.session.forget();
    await this.#claims.close().catch(() => {});
  }

  #isOver(failed?: { readonly error: unknown }): void {
    for (const { resolve, reject } of this.#stops.splice(0)) {
      if (failed) reject(failed.error);
      else resolve();
    }
  }
}

const LEASE_LOST = new SluiceError(
  "LEASE_LOST",
  "The worker could not renew its lease in time; the task may already run elsewhere.",
);
