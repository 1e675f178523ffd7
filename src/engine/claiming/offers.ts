/**
 * Tells other workers about units that they could start. It tells about the same units only once, so a worker
 * that could not take them is not asked again and again.
 */
import type { LaneSpec } from "../../store/lane.ts";
import type { Store } from "../../store/store.ts";
import { isRunQueue } from "../../store/store.ts";
import type { Decision } from "./decide.ts";

export class Offers {
  readonly #store: Pick<Store, "hint">;
  readonly #offered = new Set<string>();

  constructor(store: Pick<Store, "hint">) {
    this.#store = store;
  }

  /** Units have moved, so a unit that was offered before may be taken now. */
  renew(): void {
    this.#offered.clear();
  }

  withdraw(id: string): void {
    this.#offered.delete(id);
  }

  /**
   * Arrivals count too: a worker that looked for them while we had them locked found nothing and would not
   * look again.
   */
  tell({ forOthers, plan }: Decision, arrived: readonly LaneSpec[]): void {
    const fresh = new Set(forOthers.filter((id) => !this.#offered.has(id)));
    for (const id of fresh) this.#offered.add(id);
    if (fresh.size > 0 || arrived.length > 0) this.#store.hint("work");
    // A coordinator does not listen for "work".
    const runs = plan.left.some(({ id, queue }) => isRunQueue(queue) && fresh.has(id));
    if (runs || arrived.some(({ queue }) => isRunQueue(queue))) this.#store.hint("runs");
  }
}
