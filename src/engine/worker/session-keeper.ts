/**
 * Keeps a session alive, and knows by its own clock when it can no longer be sure that it is. The deadline counts
 * from the moment a renewal was sent, and ends before the store's own, so we stop before others may begin.
 */
import type { Claims } from "../claiming/claims.ts";
import type { Env } from "../env.ts";

export interface Lease {
  readonly leaseMs: number;
  readonly heartbeatMs: number;
}

/** The part of the lease within which we trust it. */
const TRUSTED = 5 / 6;

export class SessionKeeper {
  readonly #claims: Claims;
  readonly #env: Env;
  readonly #lease: Lease;
  readonly #ended: () => void;
  #trustedUntil = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;
  #renewing: Promise<void> | undefined;
  #open = false;

  constructor(claims: Claims, env: Env, lease: Lease, ended: () => void) {
    this.#claims = claims;
    this.#env = env;
    this.#lease = lease;
    this.#ended = ended;
  }

  async open(): Promise<string> {
    const id = this.#env.newId();
    const sentAt = this.#env.monotonic();
    await this.#claims.open(id, this.#lease.leaseMs);
    this.#trust(sentAt);
    this.#open = true;
    this.#plan(this.#lease.heartbeatMs);
    return id;
  }

  /** Checked before every effect: a process that slept too long must not go on as if nothing had happened. */
  isTrusted(): boolean {
    return this.#open && this.#env.monotonic() < this.#trustedUntil;
  }

  async stop(): Promise<void> {
    this.#open = false;
    this.#cancel?.();
    await this.#renewing;
  }

  #trust(sentAt: number): void {
    this.#trustedUntil = sentAt + this.#lease.leaseMs * TRUSTED;
  }

  #plan(ms: number): void {
    this.#cancel?.();
    this.#cancel = this.#env.after(ms, () => {
      this.#renewing = this.#renew();
    });
  }

  /** Never gives up on an error: only the store's word, or our own clock, ends a session. */
  async #renew(): Promise<void> {
    const sentAt = this.#env.monotonic();
    try {
      const alive = await this.#claims.renew(this.#lease.leaseMs);
      if (!this.#open) return;
      if (!alive) return this.#end();
      this.#trust(sentAt);
      this.#plan(this.#lease.heartbeatMs);
    } catch {
      if (!this.#open) return;
      if (!this.isTrusted()) return this.#end();
      this.#plan((this.#lease.heartbeatMs / 4) * (0.5 + this.#env.random()));
    }
  }

  #end(): void {
    this.#open = false;
    this.#ended();
  }
}
