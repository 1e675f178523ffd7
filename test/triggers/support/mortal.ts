// A process that dies at its n-th step, before or after that step is done. From then on it does nothing.

import type { Store } from "../../../src/store/store.ts";
import type { Firing } from "../../../src/store/triggers.ts";
import type { PatientEnv } from "./patient-env.ts";

export interface Death {
  /** The step it was about to do or had just done. */
  readonly step: string;
  readonly done: boolean;
}

export class Mortal {
  death: Death | undefined;
  /** How often another process had been faster. */
  late = 0;
  #left: number;
  readonly #after: boolean;

  constructor(left: number, after: boolean) {
    this.#left = left;
    this.#after = after;
  }

  static never(): Mortal {
    return new Mortal(Number.POSITIVE_INFINITY, false);
  }

  async step<T>(name: string, work: () => Promise<T> | T): Promise<T> {
    this.#left -= 1;
    const isLast = this.#left === 0;
    if (this.death || (isLast && !this.#after)) return this.#die({ step: name, done: false });
    const done = await work();
    return isLast || this.death ? this.#die({ step: name, done: true }) : done;
  }

  /** Makes every verb a step. A Proxy is needed because a store's fields are private. */
  over(store: Store, env: PatientEnv): Store {
    return new Proxy(store, {
      get: (target, verb) => {
        const found: unknown = Reflect.get(target, verb, target);
        if (typeof found !== "function") return found;
        const call = found.bind(target) as (...args: unknown[]) => Promise<unknown>;
        // A hint is not a step: it may be lost anyway.
        if (verb === "hint") return call;
        return (...args: unknown[]) =>
          this.step(nameOf(String(verb), args), async () => {
            const answer = await env.during(call(...args));
            if (verb === "fire" && answer === undefined) this.late += 1;
            return answer;
          });
      },
    });
  }

  #die(death: Death): Promise<never> {
    this.death ??= death;
    return new Promise<never>(() => {});
  }
}

export const submitOf = (trigger: string): string => `submit of ${trigger}`;

function nameOf(verb: string, args: readonly unknown[]): string {
  if (verb !== "fire") return verb;
  const { name, submit } = args[0] as Firing;
  return submit.length > 0 ? submitOf(name) : verb;
}
