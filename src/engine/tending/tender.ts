/** The poll: the safety net under every wake-up, and the clock of everything delayed. */
import type { Store } from "../../store/store.ts";
import type { Env } from "../env.ts";
import type { Service } from "../service.ts";

export interface TenderOptions {
  readonly pollMs: number;
  readonly jitterMs: number;
  /** Called after each look, with the gates that lanes are parked on. */
  readonly looked: (parkedOn: readonly string[]) => void;
  readonly failed?: (error: unknown) => void;
}

/** So much at once means that there is more. */
const A_BATCH = 500;
/** The store tells of so many parked gates at once. */
const A_LIST = 200;

export class Tender implements Service {
  readonly #store: Store;
  readonly #env: Env;
  readonly #options: TenderOptions;
  #cancel: (() => void) | undefined;
  #looking: Promise<void> | undefined;
  #stopped = false;
  #again = false;
  /** Parked gates are looked at in turn, some with each poll. */
  #parkedAfter = "";

  constructor(store: Store, env: Env, options: TenderOptions) {
    this.#store = store;
    this.#env = env;
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#stopped = false;
    await this.look();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    await this.#looking;
  }

  look(): Promise<void> {
    if (this.#looking) {
      this.#again = true;
      return this.#looking;
    }
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
      if (this.#again) {
        this.#again = false;
        if (!this.#stopped) void this.look();
      }
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { pollMs, jitterMs, looked, failed } = this.#options;
    let next = pollMs + this.#env.random() * jitterMs;
    try {
      const tended = await this.#store.tend(this.#parkedAfter);
      // A list that is not full was the end of the round: one that is empty must mean that nobody is parked.
      this.#parkedAfter = tended.parkedOn.length < A_LIST ? "" : (tended.parkedOn.at(-1) ?? "");
      if (tended.nextDueAt !== null) next = Math.min(next, Math.max(0, tended.nextDueAt - tended.now));
      if (tended.promoted >= A_BATCH || tended.expired >= A_BATCH) next = 0;
      if (tended.promoted > 0) this.#store.hint("work");
      looked(tended.parkedOn);
    } catch (error) {
      failed?.(error);
    }
    if (!this.#stopped) this.#plan(next);
  }

  #plan(ms: number): void {
    this.#cancel?.();
    this.#cancel = this.#env.after(Math.ceil(ms), () => void this.look());
  }
}
