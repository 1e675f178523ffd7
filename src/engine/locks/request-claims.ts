/** The claims of a process that holds locks. It says which reports have arrived, and when the store was asked. */

import type { Env } from "../../env/env.ts";
import type { Store } from "../../store/store.ts";
import type { Answer, Report, Seat } from "../claiming/claims.ts";
import { StoreClaims } from "../claiming/store-claims.ts";

export class RequestClaims extends StoreClaims {
  /** One exchange at a time: two of them would only wait for each other at the gate. */
  override readonly atOnce: number = 1;
  readonly #arrived: (id: string) => void;
  #begun = 0;
  #waiting: { readonly after: number; resolve(): void }[] = [];

  constructor(store: Store, seat: Seat, env: Env, arrived: (id: string) => void) {
    super(store, seat, env);
    this.#arrived = arrived;
  }

  override async exchange(report: Report): Promise<Answer> {
    this.#begun += 1;
    const number = this.#begun;
    try {
      const answer = await super.exchange(report);
      for (const { id } of report.finished) this.#arrived(id);
      return answer;
    } finally {
      const over = this.#waiting.filter(({ after }) => after < number);
      this.#waiting = this.#waiting.filter(({ after }) => after >= number);
      for (const { resolve } of over) resolve();
    }
  }

  /** Resolves after an exchange that begins from now on, whatever became of it. */
  exchanged(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ after: this.#begun, resolve }));
  }
}
