/**
 * Recovery after an answer was lost or the store was away. The worker assumes nothing until the store has
 * said which claims are its own. Then it reports everything again.
 */
import type { Env } from "../../env/env.ts";
import type { Claims } from "../claiming/claims.ts";
import type { Exchanges } from "./exchanges.ts";
import type { Holdings } from "./holdings.ts";
import type { Machine } from "./machine.ts";
import type { Outbox } from "./outbox.ts";
import type { Running } from "./running.ts";
import { isClosing } from "./state.ts";
import { stopped } from "./verdict.ts";
import type { Tell } from "./worker-event.ts";

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;
const LAST_TRIES = 3;

/** Its collaborators. */
interface RecoveryParts {
  readonly claims: Claims;
  readonly env: Env;
  readonly exchanges: Pick<Exchanges, "landed">;
  readonly holdings: Holdings;
  readonly outbox: Outbox;
  readonly running: Pick<Running, "adopt">;
  readonly session: { isTrusted(): boolean };
  readonly machine: Machine;
  readonly tell: Tell;
}

export class AnswerRecovery {
  readonly #parts: RecoveryParts;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /** `failures` counts the failures in a row, from 1. */
  async recover(error: unknown, failures: number): Promise<void> {
    const { env, exchanges, machine, outbox, session, tell } = this.#parts;
    tell({ kind: "error", error });
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
    await env.sleep(pauseMs * (0.5 + env.random()));
    // Answers of other exchanges are taken first; otherwise their claims would look lost.
    await exchanges.landed();
    // A stop must end even if the store does not come back. Other workers recover the claims that were not
    // reported.
    const givesUp = isClosing(machine.state) && machine.state.failures > LAST_TRIES;
    if (givesUp) outbox.clear();
    else if (!session.isTrusted()) machine.happened("sessionLost");
    else {
      // Claims that no worker knows of would hold their slots for nothing, so the worker goes on only after
      // this answer.
      const failed = await this.#adopt().catch((cause: unknown) => ({ cause }));
      if (failed) return machine.happened({ kind: "stillAway", error: failed.cause });
    }
    machine.happened("recovered");
  }

  async #adopt(): Promise<void> {
    const { claims, machine, running } = this.#parts;
    const [held, stopping] = await Promise.all([claims.held(), claims.stopping()]);
    // Applied only now, because claims that ended while we asked are no longer ours.
    running.adopt(held);
    this.#letGo(stopping);
    machine.happened("leased");
  }

  /**
   * Lets go of claims that were taken away and do not run here: they were cancelled before we heard of them,
   * and the answer with them was lost. A claim in an answer still in flight will run here, so such answers
   * are awaited first.
   */
  async reconcile(): Promise<void> {
    const { claims, exchanges } = this.#parts;
    const stopping = await claims.stopping().catch(() => []);
    if (stopping.length === 0) return;
    await exchanges.landed();
    this.#letGo(stopping);
  }

  #letGo(claims: readonly { readonly id: string; readonly epoch: number }[]): void {
    const { holdings, outbox } = this.#parts;
    for (const claim of claims) if (!holdings.knows(claim)) outbox.add(stopped(claim));
  }
}
