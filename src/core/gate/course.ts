/** The course of one walk to the end of a line: what each unit came to, and the state of each gate at each place. */
import type { Plan } from "./admit.ts";
import type { Askers } from "./askers.ts";
import { sumsOf } from "./askers.ts";
import type { Gate } from "./gate.ts";
import type { Waiter } from "./waiter.ts";

/** `waits` stands in line at its gates. `refused` has no worker, and stands in no line. */
export type Fate = "starts" | "waits" | "refused";

interface Sums {
  readonly taken: readonly number[];
  readonly waiting: readonly number[];
}

export class Course {
  readonly #line: readonly Waiter[];
  readonly #askers: Askers;
  readonly #gates: ReadonlyMap<string, Gate>;
  readonly #plan: Plan;
  readonly #starting: ReadonlySet<string>;
  readonly #sums = new Map<string, Sums>();

  constructor(line: readonly Waiter[], askers: Askers, gates: ReadonlyMap<string, Gate>, plan: Plan) {
    this.#line = line;
    this.#askers = askers;
    this.#gates = gates;
    this.#plan = plan;
    this.#starting = new Set([...plan.admitted, ...plan.left].map(({ id }) => id));
  }

  fate(place: number): Fate {
    // A walk that stopped earlier did not come to this unit.
    const { id = "" } = this.#line[place] ?? {};
    if (this.#starting.has(id)) return "starts";
    const reasons = this.#plan.waiting.get(id) ?? [];
    return reasons.some((reason) => "gate" in reason) ? "waits" : "refused";
  }

  /** Slots that are held or taken when the walk comes to this place. */
  taken(gate: string, place: number): number {
    const held = this.#gates.get(gate)?.held ?? 0;
    return held + (this.#sumsOf(gate).taken[this.#askers.before(gate, place)] as number);
  }

  /** How many units stand in line at the gate when the walk comes to this place. */
  waiting(gate: string, place: number): number {
    return this.#sumsOf(gate).waiting[this.#askers.before(gate, place)] as number;
  }

  #sumsOf(gate: string): Sums {
    const known = this.#sums.get(gate);
    if (known) return known;
    const { places, slots } = this.#askers.of(gate);
    const fates = places.map((place) => this.fate(place));
    const sums = {
      taken: sumsOf(slots.map((own, index) => (fates[index] === "starts" ? own : 0))),
      waiting: sumsOf(fates.map((fate) => (fate === "waits" ? 1 : 0))),
    };
    this.#sums.set(gate, sums);
    return sums;
  }
}
