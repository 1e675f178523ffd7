// A worker without the code. Imports no test runner, because child processes use it too.

import type { Answer, Report, Seat } from "../../src/engine/claiming/claims.ts";
import { StoreClaims } from "../../src/engine/claiming/store-claims.ts";
import type { Store } from "../../src/store/store.ts";

export const SEAT: Seat = {
  name: "claimer",
  slots: 4,
  prefetch: 0,
  claimLeaseMs: 60_000,
  queues: ["race"],
  tasks: ["run"],
};

const CALM: Report = {
  finished: [],
  started: [],
  active: 0,
  appetite: 1_000,
  draining: false,
  hinted: true,
  ownTurn: true,
};

/** A worker without the code: it claims, and reports success when told to. */
export class Claimer {
  readonly claims: StoreClaims;
  #finished: Report["finished"] = [];

  private constructor(store: Store, seat: Seat) {
    this.claims = new StoreClaims(store, seat);
  }

  static async open(store: Store, session: string, seat: Seat = SEAT): Promise<Claimer> {
    const claimer = new Claimer(store, seat);
    await claimer.claims.open(session, 600_000);
    return claimer;
  }

  /** Claims what it can get. Returns how many claims it got. */
  async take(): Promise<number> {
    const { claimed } = await this.claims.exchange(CALM);
    this.#finished = [
      ...this.#finished,
      ...claimed.map(({ id, epoch }) => ({ id, epoch, to: "succeeded", body: null, delayMs: 0 }) as const),
    ];
    return claimed.length;
  }

  /** Claims what it can get, and tells whether it would look again at once. */
  async looksAgain(): Promise<boolean> {
    const { claimed, more } = await this.claims.exchange({ ...CALM, hinted: false });
    if (claimed.length > 0) throw new Error(`claimed ${claimed.map(({ id }) => id).join(", ")}`);
    return more;
  }

  /** Reports everything as done, and takes nothing new. */
  async finish(): Promise<Answer> {
    const finished = this.#finished;
    this.#finished = [];
    return this.claims.exchange({ ...CALM, finished, draining: true });
  }
}
