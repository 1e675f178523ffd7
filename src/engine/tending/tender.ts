/** The poll: the safety net under every wake-up, and the clock of everything delayed. */
import type { Env } from "../../env/env.ts";
import type { Store } from "../../store/store.ts";
import type { Polling } from "../loop.ts";
import { Loop } from "../loop.ts";
import type { Service } from "../service.ts";

interface TenderOptions extends Polling {
  /** Called after each look with the gates that lanes are parked on. */
  readonly looked: (parkedOn: readonly string[]) => void;
}

/** If this many units were moved at once, there may be more. */
const A_BATCH = 500;
/** If this much was swept at once, there may be more. */
const A_SWEEP = 200;
/** How long nobody has asked for a lock before what it left in the store is swept. */
export const SWEEP_AFTER_MS = 60_000;
/** The most parked gates that the store lists at once. */
const A_LIST = 200;

export class Tender implements Service {
  readonly #store: Store;
  readonly #options: TenderOptions;
  readonly #loop: Loop;
  /** Parked gates are looked at in turn, some with each poll. */
  #parkedAfter = "";

  constructor(store: Store, env: Env, options: TenderOptions) {
    this.#store = store;
    this.#options = options;
    this.#loop = new Loop(env, options, () => this.#look());
  }

  start(): Promise<void> {
    return this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  wake(): void {
    this.#loop.wake();
  }

  async #look(): Promise<number | undefined> {
    const { parkedOn, promoted, expired, nextDueAt, now } = await this.#store.tend(this.#parkedAfter);
    // A list that is not full ends the round, because an empty list must mean that no lane is parked.
    this.#parkedAfter = parkedOn.length < A_LIST ? "" : (parkedOn.at(-1) ?? "");
    if (promoted > 0) this.#store.hint("work");
    this.#options.looked(parkedOn);
    const swept = await this.#store.sweepRequests(SWEEP_AFTER_MS);
    if (swept > 0) this.#store.hint("work");
    if (swept >= A_SWEEP) return 0;
    if (promoted >= A_BATCH || expired >= A_BATCH) return 0;
    return nextDueAt === null ? undefined : nextDueAt - now;
  }
}
