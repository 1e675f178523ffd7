/**
 * Renews claims that have their own lease, every third of the shortest one. A claim that was not renewed in
 * time is no longer ours, so its code is aborted. If the store does not answer, it is asked again soon. If it
 * stays away, our own clock ends the claims whose lease may have run out.
 */
import { SluiceError } from "../../core/error.ts";
import type { Env } from "../../env/env.ts";
import type { Claims } from "../claiming/claims.ts";
import type { Leased } from "./holdings.ts";
import type { Running } from "./running.ts";

const PART = 1 / 3;

export class ClaimKeeper {
  readonly #claims: Claims;
  readonly #running: Pick<Running, "leased" | "lose">;
  readonly #env: Env;
  /** When each lease was last known to be valid, by epoch. */
  readonly #sureAt = new Map<number, number>();
  #cancel: (() => void) | undefined;
  #renewing = false;

  constructor(claims: Claims, running: Pick<Running, "leased" | "lose">, env: Env) {
    this.#claims = claims;
    this.#running = running;
    this.#env = env;
  }

  /** There may be new claims. */
  look(): void {
    if (this.#renewing) return;
    const held = this.#running.leased;
    if (held.length === 0) {
      this.stop();
      return;
    }
    const now = this.#env.monotonic();
    const known = new Set(held.map(({ epoch }) => epoch));
    for (const epoch of this.#sureAt.keys()) if (!known.has(epoch)) this.#sureAt.delete(epoch);
    for (const { epoch } of held) if (!this.#sureAt.has(epoch)) this.#sureAt.set(epoch, now);
    const due = held.map(({ epoch, leaseMs }) => (this.#sureAt.get(epoch) as number) + leaseMs * PART);
    this.#plan(Math.max(0, Math.min(...due) - now));
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#sureAt.clear();
  }

  #plan(ms: number): void {
    this.#cancel?.();
    this.#cancel = this.#env.after(Math.ceil(ms), () => void this.#renew());
  }

  async #renew(): Promise<void> {
    this.#renewing = true;
    const sentAt = this.#env.monotonic();
    const asked = this.#running.leased;
    const renewed = await this.#claims.renewClaims().catch(() => undefined);
    this.#renewing = false;
    if (renewed) this.#learn(asked, new Set(renewed), sentAt);
    else this.#distrust(asked);
    if (renewed) this.look();
    else if (asked.length > 0) this.#plan((Math.min(...asked.map(({ leaseMs }) => leaseMs)) * PART) / 4);
  }

  #learn(asked: readonly Leased[], renewed: ReadonlySet<number>, sentAt: number): void {
    for (const claim of asked) {
      if (renewed.has(claim.epoch)) this.#sureAt.set(claim.epoch, sentAt);
      else this.#running.lose(claim, LOST);
    }
  }

  /** By our own clock the lease has run out, so the task may have started elsewhere. */
  #distrust(asked: readonly Leased[]): void {
    const now = this.#env.monotonic();
    for (const claim of asked) {
      const since = this.#sureAt.get(claim.epoch) ?? now;
      if (now - since >= claim.leaseMs) this.#running.lose(claim, LOST);
    }
  }
}

const LOST = new SluiceError(
  "LEASE_LOST",
  "The lease of its pool could not be renewed in time; the task may already run elsewhere.",
);
