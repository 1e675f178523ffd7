/**
 * The data read for the runs in hand, and the data that must be read before they can move. Everything is
 * measured before it is read. All reads of one look share one bound, so some steps may have to wait for the
 * next look.
 */
import type { Part } from "../../core/run/load.ts";
import { tooLarge } from "../../core/run/load.ts";
import type { ItemSeen, Reading, Results, StepKey } from "../../store/runs.ts";
import { bodySize, itemsSize, keyOfStep } from "../../store/runs.ts";

/** A text of the store: the result of a unit, the body of a step, or the outcomes of a step's items. */
export type DataSource =
  | { readonly unit: string; readonly step: string }
  | { readonly body: StepKey }
  | { readonly items: StepKey };

class Readings {
  readonly #units = new Set<string>();
  readonly #bodies = new Map<string, StepKey>();
  readonly #items = new Map<string, StepKey>();

  add(source: DataSource): void {
    if ("unit" in source) this.#units.add(source.unit);
    else if ("body" in source) this.#bodies.set(keyOfStep(source.body), source.body);
    else this.#items.set(keyOfStep(source.items), source.items);
  }

  get reading(): Reading | undefined {
    if (this.#units.size + this.#bodies.size + this.#items.size === 0) return undefined;
    return {
      units: [...this.#units].sort(),
      bodies: [...this.#bodies.values()],
      items: [...this.#items.values()],
    };
  }
}

export class Wanted {
  readonly most: number;
  readonly #results: Results;
  readonly #measures = new Readings();
  readonly #loads = new Readings();
  readonly #granted = new Set<string>();
  #read = 0;
  #built = 0;

  constructor(results: Results, most: number) {
    this.#results = results;
    this.most = most;
  }

  /** Sizes come first: what they say decides what is read. */
  get reading(): { readonly read: Reading } | undefined {
    const measure = this.#measures.reading;
    if (measure) return { read: { ...measure, measure: true } };
    const read = this.#loads.reading;
    return read && { read };
  }

  /**
   * True if all of this is here. False if it has to be read first, or in a later look. It is granted as a
   * whole, because a step needs all of it at once. Throws if that is too much for any look.
   */
  has(need: string, sources: readonly DataSource[]): boolean {
    const unknown = sources.filter((source) => this.sizeOf(source) === undefined);
    for (const source of unknown) this.#measures.add(source);
    if (unknown.length > 0) return false;
    const all = [...new Map(sources.map((source) => [sizeKey(source), source])).values()];
    const parts = all.map((source): Part => ({ what: nameOf(source), size: this.sizeOf(source) ?? 0 }));
    if (sumOf(parts) > this.most) throw tooLarge(need, parts, this.most);
    const fresh = all.filter((source) => !this.#granted.has(sizeKey(source)));
    const more = fresh.reduce((sum, source) => sum + (this.sizeOf(source) ?? 0), 0);
    if (this.#read > 0 && this.#read + more > this.most) return false;
    this.#read += more;
    for (const source of fresh) this.#granted.add(sizeKey(source));
    const unread = all.filter((source) => !this.#isHere(source));
    for (const source of unread) this.#loads.add(source);
    return unread.length === 0;
  }

  sizeOf(source: DataSource): number | undefined {
    return this.#results.sizes.get(sizeKey(source));
  }

  #isHere(source: DataSource): boolean {
    const { units, bodies, items } = this.#results;
    if ("unit" in source) return units.has(source.unit);
    return "body" in source ? bodies.has(keyOfStep(source.body)) : items.has(keyOfStep(source.items));
  }

  /** The text, or null if there is none. Asked only after `has`. */
  text(source: Exclude<DataSource, { items: StepKey }>): string | null {
    const { units, bodies } = this.#results;
    return ("unit" in source ? units.get(source.unit) : bodies.get(keyOfStep(source.body))) ?? null;
  }

  items(key: StepKey): readonly ItemSeen[] {
    return this.#results.items.get(keyOfStep(key)) ?? [];
  }

  /** Counts what is built for the database. True while there is room for more. */
  built(size: number): void {
    this.#built += size;
  }

  get isFull(): boolean {
    return this.#built >= this.most;
  }
}

const sumOf = (parts: readonly Part[]): number => parts.reduce((sum, { size }) => sum + size, 0);

function sizeKey(source: DataSource): string {
  if ("unit" in source) return source.unit;
  return "body" in source ? bodySize(keyOfStep(source.body)) : itemsSize(keyOfStep(source.items));
}

function nameOf(source: DataSource): string {
  if ("unit" in source) return `the result of step "${source.step}"`;
  return "body" in source
    ? `the results of step "${source.body.step}"`
    : `the results of the items of step "${source.items.step}"`;
}
