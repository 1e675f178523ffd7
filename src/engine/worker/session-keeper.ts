/**
 * Keeps a session alive, and knows by its own clock when it can no longer be sure that it is. The deadline counts
 * from the moment a renewal was sent, and ends before the store's own, so we stop before others may begin.
 */
import { isStoreGone } from "../../core/error.ts";
import type { Env } from "../../env/env.ts";
import type { Claims } from "../claiming/claims.ts";
import type { Machine } from "./machine.ts";

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
  readonly #machine: Pick<Machine, "happened">;
  readonly #trusted: (until: number) => void;
  #opening: Promise<string> | undefined;
  #trustedUntil = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;
  #cancelDeadline: (() => void) | undefined;
  /** Which of the sessions kept so far is open; an answer that comes late speaks of an earlier one. */
  #opened = 0;
  #open = false;

  /** `trusted`: told until when, by our own monotonic clock, what we hold is ours. */
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

  /** A new session. Two exchanges may want one at the same time: they get the same. */
  open(): Promise<string> {
    this.#opening ??= this.#openAnew().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** A store that took so long to answer that its lease is used up gives us nothing to claim under: begin again. */
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
      // What the opening took is gone from the lease, so it is renewed so much sooner.
      this.#plan(Math.max(0, this.#lease.heartbeatMs - took));
      this.#machine.happened({ kind: "sessionOpened", session: id });
      return id;
    }
  }

  /** Checked before every effect: a process that slept too long must not go on as if nothing had happened. */
  isTrusted(): boolean {
    return this.#open && this.#env.monotonic() < this.#trustedUntil;
  }

  /** Renews no more, and does not wait for an answer that may never come. */
  forget(): void {
    this.#open = false;
    this.#cancel?.();
    this.#cancelDeadline?.();
  }

  /** The deadline has a timer of its own: a store that does not answer at all must not keep the code running. */
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

  /** No other error ends a session: only the store's word, our own clock, or a store that is not there any more. */
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
