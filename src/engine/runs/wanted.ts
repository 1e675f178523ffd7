/** The data read for the runs in hand, and the data that must be read before they can move. */
import type { Reading, Results, StepKey } from "../../store/runs.ts";
import { keyOfStep } from "../../store/runs.ts";

export class Wanted {
  readonly #results: Results;
  readonly #units = new Set<string>();
  readonly #bodies = new Map<string, StepKey>();
  readonly #items = new Map<string, StepKey>();

  constructor(results: Results) {
    this.#results = results;
  }

  get reading(): { readonly read: Reading } | undefined {
    if (this.#units.size + this.#bodies.size + this.#items.size === 0) return undefined;
    return {
      read: {
        units: [...this.#units].sort(),
        bodies: [...this.#bodies.values()],
        items: [...this.#items.values()],
      },
    };
  }

  unit(id: string): string | null | undefined {
    const known = this.#results.units.get(id);
    if (known === undefined) this.#units.add(id);
    return known;
  }

  body(key: StepKey): string | null | undefined {
    const known = this.#results.bodies.get(keyOfStep(key));
    if (known === undefined) this.#bodies.set(keyOfStep(key), key);
    return known;
  }

  items(key: StepKey) {
    const known = this.#results.items.get(keyOfStep(key));
    if (known === undefined) this.#items.set(keyOfStep(key), key);
    return known;
  }
}
