/**
 * Keeps a session alive, and knows by its own clock until when the session can be trusted. This deadline
 * counts from the moment a renewal was sent and comes before the store's own, so we stop before another
 * worker may start.
 */
import { isStoreGone } from "../../core/error.ts";
import type { Env } from "../../env/env.ts";
import type { Claims } from "../claiming/claims.ts";
import type { Machine } from "./machine.ts";

export interface Lease {
  readonly leaseMs: number;
  readonly heartbeatMs: number;
}

/** The part of the lease during which we trust it. */
const TRUSTED = 5 / 6;

export class SessionKeeper {
  readonly #claims: Claims;
  readonly #env: Env;
  readonly #lease: Lease;
  readonly #machine: Pick<Machine, "happened">;
  readonly #trusted: (until: number) => void;
  #opening: Promise<string> | undefined;
  #trustedUntil = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;
  #cancelDeadline: (() => void) | undefined;
  /** The number of the session that is open. A late answer may be about an earlier one. */
  #opened = 0;
  #open = false;

  /** `trusted` is called with the time until which our claims are ours, by our own monotonic clock. */
  constructor(
    claims: Claims,
    env: Env,
    lease: Lease,
    machine: Pick<Machine, "happened">,
    trusted: (until: number) => void,
  ) {
    this.#claims = claims;
    this.#env = env;
    this.#lease = lease;
    this.#machine = machine;
    this.#trusted = trusted;
  }

  /** Opens a new session. If two exchanges want one at the same time, they get the same. */
  open(): Promise<string> {
    this.#opening ??= this.#openAnew().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** If the store answers so late that the lease is used up, the session is of no use, so it opens another one. */
  async #openAnew(): Promise<string> {
    for (;;) {
      const id = this.#env.newId();
      const sentAt = this.#env.monotonic();
      await this.#claims.open(id, this.#lease.leaseMs);
      const took = this.#env.monotonic() - sentAt;
      if (took >= this.#lease.leaseMs * TRUSTED) continue;
      this.#opened += 1;
      this.#open = true;
      this.#trust(sentAt);
      // The time that the opening took is gone from the lease, so the first renewal comes that much sooner.
      this.#plan(Math.max(0, this.#lease.heartbeatMs - took));
      this.#machine.happened({ kind: "sessionOpened", session: id });
      return id;
    }
  }

  /**
   * Checked before every effect: a process that slept too long must not continue as if nothing had happened.
   */
  isTrusted(): boolean {
    return this.#open && this.#env.monotonic() < this.#trustedUntil;
  }

  /** Stops renewing, without waiting for an answer that may never come. */
  forget(): void {
    this.#open = false;
    this.#cancel?.();
    this.#cancelDeadline?.();
  }

  /** The deadline has its own timer: a store that does not answer at all must not keep the code running. */
  #trust(sentAt: number): void {
    this.#trustedUntil = sentAt + this.#lease.leaseMs * TRUSTED;
    this.#trusted(this.#trustedUntil);
    this.#cancelDeadline?.();
    this.#cancelDeadline = this.#env.after(Math.ceil(this.#trustedUntil - this.#env.monotonic()) + 1, () => {
      if (this.#open && !this.isTrusted()) this.#end();
    });
  }

  #plan(ms: number): void {
    this.#cancel?.();
    this.#cancel = this.#env.after(ms, () => {
      void this.#renew();
    });
  }

  /**
   * A session ends only if the store says so, if our own clock says so, or if the store is gone. No other
   * error ends it.
   */
  async #renew(): Promise<void> {
    const sentAt = this.#env.monotonic();
    const session = this.#opened;
    const isOver = (): boolean => !this.#open || session !== this.#opened;
    try {
      const alive = await this.#claims.renew(this.#lease.leaseMs);
      if (isOver()) return;
      if (!alive) return this.#end();
      this.#trust(sentAt);
      this.#machine.happened("sessionRenewed");
      this.#plan(this.#lease.heartbeatMs);
    } catch (error) {
      if (isOver()) return;
      if (isStoreGone(error)) return this.#machine.happened({ kind: "unanswered", error });
      if (!this.isTrusted()) return this.#end();
      this.#plan((this.#lease.heartbeatMs / 4) * (0.5 + this.#env.random()));
    }
  }

  #end(): void {
    this.#open = false;
    this.#machine.happened("sessionLost");
  }
}
