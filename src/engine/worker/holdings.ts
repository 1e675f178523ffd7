/**
 * The claims that this worker holds, and the state of each: claimed ahead of its slot, running, or stopping.
 * A claim that was taken away (cancelled, timed out, lost) is stopping and uses its slot here until its code
 * has ended. Stopping claims are kept by epoch, because the same task may run here again by then.
 */
import type { Claimed } from "../claiming/claims.ts";
import type { ActiveSlots } from "./active.ts";

/** A claim with its own lease. */
export interface Leased {
  readonly id: string;
  readonly epoch: number;
  readonly leaseMs: number;
}

export class Holdings {
  readonly #active = new Map<string, ActiveSlots>();
  readonly #stopping = new Map<number, ActiveSlots>();
  readonly #prefetched = new Map<string, Claimed>();

  /** How many tasks run right now, including those that should have ended. */
  get size(): number {
    return this.#active.size + this.#stopping.size;
  }

  /** Claims that run and are ours. */
  get active(): ActiveSlots[] {
    return [...this.#active.values()];
  }

  /** Claims taken ahead of their slots. */
  get ahead(): Claimed[] {
    return [...this.#prefetched.values()];
  }

  /** True if exactly this claim runs, is stopping or waits here. */
  knows({ id, epoch }: { readonly id: string; readonly epoch: number }): boolean {
    return (
      this.#stopping.has(epoch) ||
      this.#active.get(id)?.claim.epoch === epoch ||
      this.#prefetched.get(id)?.epoch === epoch
    );
  }

  /** The number of claims that have not started, as far as the store knows. */
  get unbegun(): number {
    let unmarked = 0;
    for (const { marked } of this.#active.values()) if (!marked) unmarked += 1;
    return this.#prefetched.size + unmarked;
  }

  /** Claims whose code runs, but the store does not know it yet. */
  get unmarked(): ActiveSlots[] {
    return this.active.filter(({ marked, begunAt }) => !marked && begunAt !== undefined);
  }

  /** Claims that have their own lease, and how long it is. */
  get leased(): readonly Leased[] {
    const stopping = [...this.#stopping.values()].filter(({ isLost }) => !isLost);
    const begun = [...this.#active.values(), ...stopping].map(({ claim }) => claim);
    const all = [...begun, ...this.#prefetched.values()];
    return all.flatMap(({ id, epoch, leaseMs }) => (leaseMs === null ? [] : [{ id, epoch, leaseMs }]));
  }

  /** The claim of this task that runs and is ours. */
  running(id: string): ActiveSlots | undefined {
    return this.#active.get(id);
  }

  isRunning(active: ActiveSlots): boolean {
    return this.#active.get(active.claim.id) === active;
  }

  /** The claim with this epoch, whether it is ours or should have ended. */
  find({ id, epoch }: { readonly id: string; readonly epoch: number }): ActiveSlots | undefined {
    const active = this.#stopping.get(epoch) ?? this.#active.get(id);
    return active?.claim.epoch === epoch ? active : undefined;
  }

  begin(active: ActiveSlots): void {
    this.#active.set(active.claim.id, active);
  }

  end(active: ActiveSlots): void {
    this.#active.delete(active.claim.id);
  }

  /** It is no longer ours, but its code has not ended. */
  stop(active: ActiveSlots): void {
    this.#active.delete(active.claim.id);
    this.#stopping.set(active.claim.epoch, active);
  }

  /** False if it was not stopping. */
  stopped(active: ActiveSlots): boolean {
    return this.#stopping.delete(active.claim.epoch);
  }

  keepAhead(claim: Claimed): void {
    this.#prefetched.set(claim.id, claim);
  }

  /** Removes and returns the claim that was kept ahead for this task. */
  takeAhead(id: string): Claimed | undefined {
    const claim = this.#prefetched.get(id);
    this.#prefetched.delete(id);
    return claim;
  }

  /** Returns false if exactly this claim was not kept ahead. */
  dropAhead({ id, epoch }: { readonly id: string; readonly epoch: number }): boolean {
    return this.#prefetched.get(id)?.epoch === epoch && this.#prefetched.delete(id);
  }

  /** Removes and returns all claims that were kept ahead. */
  takeAllAhead(): Claimed[] {
    const all = this.ahead;
    this.#prefetched.clear();
    return all;
  }

  /** Forgets everything. Returns the claims that ran. */
  clear(): ActiveSlots[] {
    const all = this.active;
    this.#active.clear();
    this.#stopping.clear();
    this.#prefetched.clear();
    return all;
  }
}
