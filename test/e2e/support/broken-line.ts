// A store behind a line that can be cut, and verbs that can be held up: what happens to a worker whose store is away.

import type { Store } from "../../../src/index.ts";
import { deferred } from "./deferred.ts";

export class BrokenLine {
  readonly #store: Store;
  readonly #held = new Map<string, Promise<void>>();
  #cut = false;
  /** Wake-ups that do not get through, on either side. */
  deafTo: readonly string[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** Everything fails, as if the network were gone. */
  cut(): void {
    this.#cut = true;
  }

  mend(): void {
    this.#cut = false;
  }

  /** This verb is not answered until the returned function is called. */
  hold(verb: keyof Store): () => void {
    const { promise, resolve } = deferred();
    this.#held.set(verb, promise);
    return () => {
      this.#held.delete(verb);
      resolve();
    };
  }

  /** The store as the worker at the other end of the line sees it. Closing it leaves the store itself open. */
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
