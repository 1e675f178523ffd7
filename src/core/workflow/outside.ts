/**
 * What a group takes from outside of it while it is built. Each value that its steps refer to becomes a field of the
 * group's input, and each step that they come after becomes a need of the group.
 */
import type { Need } from "./graph.ts";
import type { Source, Template } from "./template.ts";
import { reference } from "./template.ts";

/** The build that the group belongs to. */
interface Outer {
  take(referred: { readonly build: object; readonly source: Source }): Source | undefined;
  comesAfter(name: string, ending: Need & { readonly build: object }): Need[];
  knows(build: object): boolean;
  groupIn(build: object): string | undefined;
}

export class Outside {
  readonly #name: string;
  readonly #outer: Outer;
  /** The field of the input that has a value, by the value's source. */
  readonly #fields = new Map<string, { readonly key: string; readonly value: Template }>();
  readonly #needs: Need[] = [];

  constructor(name: string, outer: Outer) {
    this.#name = name;
    this.#outer = outer;
  }

  /** The input of the group. */
  get input(): Template {
    return Object.fromEntries([...this.#fields.values()].map(({ key, value }) => [key, value]));
  }

  /** The needs that its steps have outside of it, each once. */
  get needs(): readonly Need[] {
    return [...new Map(this.#needs.map((need) => [`${need.on} ${need.step}`, need])).values()];
  }

  /** The same value as the steps of the group see it. */
  take(build: object, source: Source): Source | undefined {
    const taken = this.#outer.take({ build, source });
    if (!taken) return undefined;
    const value = reference(taken);
    const text = JSON.stringify(value);
    const known = this.#fields.get(text);
    const key = known?.key ?? `v${this.#fields.size}`;
    if (!known) this.#fields.set(text, { key, value });
    return { input: true, path: [key] };
  }

  /** False if the step does not belong to anything outside of the group. */
  comesAfter(name: string, ending: Need & { readonly build: object }): boolean {
    if (!this.#outer.knows(ending.build)) return false;
    this.#needs.push(...this.#outer.comesAfter(name, ending));
    return true;
  }

  knows(build: object): boolean {
    return this.#outer.knows(build);
  }

  /** The name of the group directly inside of `build` that has this one in it. Undefined if there is none. */
  groupIn(build: object): string | undefined {
    return this.#outer === build ? this.#name : this.#outer.groupIn(build);
  }
}
