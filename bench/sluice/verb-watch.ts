// Which way an exchange took: the whole pass or the swap. A version without a swap is measured, too.
import type { Store } from "../../src/store/index.ts";

export type Verb = "pass" | "swap";

const VERBS: readonly PropertyKey[] = ["pass", "swap"] satisfies Verb[];

export function hasVerb(store: Store, verb: Verb): boolean {
  return typeof Reflect.get(store, verb) === "function";
}

/**
 * The same store, and what it was asked for since the last question. Undefined if that was neither or both: a
 * swap that fell back to the whole pass is neither way at its usual price. To time passes, a claimer must not know
 * that the store can swap.
 */
export function watchVerbs(store: Store, timed: Verb): { store: Store; taken(): Verb | undefined } {
  const asked = new Set<Verb>();
  const { capabilities } = store;
  const ports = capabilities.ports.filter((port: string) => timed === "swap" || port !== "swaps");
  const watched = new Proxy(store, {
    get: (target, name) => {
      if (name === "capabilities") return { ...capabilities, ports };
      const value: unknown = Reflect.get(target, name);
      if (!VERBS.includes(name) || typeof value !== "function") return value;
      return (...given: unknown[]) => {
        asked.add(name as Verb);
        return value(...given);
      };
    },
  });
  const taken = (): Verb | undefined => {
    const [first, ...more] = asked;
    asked.clear();
    return more.length === 0 ? first : undefined;
  };
  return { store: watched, taken };
}
