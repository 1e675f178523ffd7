/** Refuses asks that are larger than a limit, before anything is put in line. */
import type { App } from "../core/app/app.ts";
import type { Ask } from "../core/gate/gate.ts";
import { asksOf } from "../store/lane.ts";
import type { Store } from "../store/store.ts";
import { limitsOf } from "./declaration.ts";
import { largeAsks, refuseNever } from "./new-task.ts";

export class LargeAsks {
  readonly #store: Store;
  readonly #app: App | undefined;

  constructor(store: Store, app: App | undefined) {
    this.#store = store;
    this.#app = app;
  }

  /** The asks of units, as their lanes have them. */
  refuseIn(units: readonly { readonly lane: { readonly asks: string } }[]): Promise<void> {
    const texts = [...new Set(units.map(({ lane }) => lane.asks))];
    return this.refuse(texts.flatMap((asks) => asksOf(asks)));
  }

  /** If a gate has no limit yet, the limit that the app declares counts. */
  async refuse(asks: readonly Ask[]): Promise<void> {
    const large = largeAsks(asks);
    if (large.length === 0) return;
    const limits = await this.#store.limits(large.map(({ gate }) => gate));
    refuseNever(large, limits, this.#app && limitsOf(this.#app));
  }
}
