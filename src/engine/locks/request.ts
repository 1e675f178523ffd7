/**
 * One request for a lock, as its process sees it. Several callers with the same holder share one.
 *
 *   state     happening                            next      what follows
 *   asking    it is in line                        waiting
 *   asking    granted                              held      its callers get permits
 *   waiting   granted                              held      its callers get permits
 *   waiting   it is gone from the line             asking    it goes in line again, at the end
 *   asking    the last caller leaves, or an error  over      withdrawn once it is in line
 *   waiting   the last caller leaves, or an error  over      withdrawn
 *   held      the last permit is released          over      reported, and the store frees the slots
 *   held      lost: lease, cancel, close           lost      its signal aborts
 *   lost      the last permit is released          over
 *
 * All of this is synchronous. So of a grant, an abort and a timeout in the same moment, the first one counts:
 * either the caller gets a permit, or an error and never a permit.
 */
import type { LockGrant } from "./grant.ts";
import { Permit } from "./permit.ts";

export interface Wish {
  /** The key of the lock's gate. */
  readonly gate: string;
  readonly slots: number;
  readonly priority: number;
  /** The name under which people see it. */
  readonly label: string;
  /** Callers that name the same holder share a permit. Undefined if the caller named none. */
  readonly holder: string | undefined;
}

/** A caller that waits. */
interface Caller {
  granted(permit: Permit): void;
  refused(error: unknown): void;
}

type State = "asking" | "waiting" | "held" | "lost" | "over";

export class Request {
  readonly wish: Wish;
  /** Its unit. It has another one each time it goes in line. */
  id: string;
  #state: State = "asking";
  #grant: LockGrant | undefined;
  readonly #callers = new Set<Caller>();

  constructor(wish: Wish, id: string) {
    this.wish = wish;
    this.id = id;
  }

  get state(): State {
    return this.#state;
  }

  get wasGranted(): boolean {
    return this.#grant !== undefined;
  }

  get isWanted(): boolean {
    return this.#state === "asking" || this.#state === "waiting";
  }

  join(caller: Caller): void {
    if (this.#state === "held") caller.granted(this.#permit());
    else this.#callers.add(caller);
  }

  inLine(): void {
    if (this.#state === "asking") this.#state = "waiting";
  }

  askAgain(id: string): void {
    this.#state = "asking";
    this.id = id;
  }

  /** False if nobody wants it any more. */
  granted(grant: LockGrant): boolean {
    if (!this.isWanted) return false;
    this.#state = "held";
    this.#grant = grant;
    // The first permit must not end the grant before the others have theirs.
    const waiting = [...this.#callers].map((caller) => ({ caller, permit: this.#permit() }));
    this.#callers.clear();
    for (const { caller, permit } of waiting) caller.granted(permit);
    return true;
  }

  /** Returns whether nobody wants it any more. False also if it was granted already. */
  leave(caller: Caller): boolean {
    if (!this.isWanted || !this.#callers.delete(caller) || this.#callers.size > 0) return false;
    this.#state = "over";
    return true;
  }

  refuse(error: unknown): boolean {
    if (!this.isWanted) return false;
    this.#state = "over";
    for (const caller of this.#callers) caller.refused(error);
    this.#callers.clear();
    return true;
  }

  lost(): void {
    if (this.#state === "held") this.#state = "lost";
  }

  #permit(): Permit {
    const grant = this.#grant as LockGrant;
    grant.use();
    return new Permit(this.id, grant, () => {
      if (grant.unuse()) this.#state = "over";
    });
  }
}
