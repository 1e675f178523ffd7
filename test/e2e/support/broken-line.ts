// A connection to a store that can be cut, with verbs that can be held up, to test a worker whose store is
// away.

import type { Store } from "../../../src/index.ts";
import { deferred } from "./deferred.ts";

export class BrokenLine {
  readonly #store: Store;
  readonly #held = new Map<string, Promise<void>>();
  #cut = false;
  /** Hints that are lost in both directions. */
  deafTo: readonly string[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** Makes every call fail, as if the network were down. */
  cut(): void {
    this.#cut = true;
  }

  mend(): void {
    this.#cut = false;
  }

  /** Delays the answer of this verb until the returned function is called. */
  hold(verb: keyof Store): () => void {
    const { promise, resolve } = deferred();
    this.#held.set(verb, promise);
    return () => {
      this.#held.delete(verb);
      resolve();
    };
  }

  /** The store as the worker sees it. Closing it leaves the store itself open. */
  get end(): Store {
    return new Proxy(this.#store, {
      get: (store, verb: keyof Store) => {
        const own = store[verb];
        if (typeof own !== "function") return own;
        if (verb === "close") return async () => {};
        const call = own.bind(store) as (...args: unknown[]) => unknown;
        if (verb === "hint") return call;
        if (verb === "listen")
          return (hear: (hint: string) => void) =>
            call((hint: string) => !this.deafTo.includes(hint) && hear(hint));
        return async (...args: unknown[]) => {
          await this.#held.get(verb);
          if (this.#cut) throw new Error("the line is cut");
          return call(...args);
        };
      },
    });
  }
}
