/** The state of a worker, and the only place where it changes. */
import { follow } from "./follow.ts";
import type { Happening, Order, State } from "./state.ts";
import { STOPPED_STATE } from "./state.ts";

export class Machine {
  readonly #carryOut: (order: Order) => void;
  #state = STOPPED_STATE;

  constructor(carryOut: (order: Order) => void) {
    this.#carryOut = carryOut;
  }

  get state(): State {
    return this.#state;
  }

  happened(happening: Happening): void {
    const { state, orders } = follow(this.#state, happening);
    if (state) this.#state = state;
    for (const order of orders) this.#carryOut(order);
  }
}
