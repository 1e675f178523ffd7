/**
 * A walk that differs from a known one only at gates that few units ask for. Only these units are decided
 * again. Their changes spread to another gate if they change what a further unit finds there; then this gives
 * up (undefined), and the caller walks the whole line. The answer is that of the whole walk, or none.
 *
 * It knows gates that pass blocked units over, and nothing else: at other gates a waiting unit also holds
 * others back. So it gives up if it meets one.
 */
import type { Askers } from "./askers.ts";
import type { Course, Fate } from "./course.ts";
import type { Ask, Gate, Obstacle } from "./gate.ts";
import { obstacle, UNLIMITED } from "./gate.ts";
import type { Reason } from "./reason.ts";
import type { Waiter } from "./waiter.ts";
import { noWorker } from "./workers.ts";

interface Calm {
  readonly line: readonly Waiter[];
  readonly askers: Askers;
  readonly course: Course;
  /** The gates of the new walk. */
  gate(key: string): Gate;
  /** Whether some worker takes the unit at this place. */
  isServed(place: number): boolean;
}

export interface Rippled {
  readonly reasons: readonly Reason[] | undefined;
  /** The slots of a gate that the units up to the place take. */
  slotsTaken(gate: string): number;
  fate(place: number): Fate;
}

interface Shift {
  taken: number;
  waiting: number;
}

/** The walk up to this place. `changed` are the gates at which it differs from the known one. */
export function ripple(calm: Calm, place: number, changed: readonly string[]): Rippled | undefined {
  return new Ripple(calm, place).run(changed);
}

class Ripple {
  readonly #calm: Calm;
  readonly #place: number;
  readonly #fates = new Map<number, Fate>();
  readonly #shifts = new Map<string, Shift>();

  constructor(calm: Calm, place: number) {
    this.#calm = calm;
    this.#place = place;
  }

  run(changed: readonly string[]): Rippled | undefined {
    const { askers, course } = this.#calm;
    const near = changed.flatMap((gate) => askers.of(gate).places.slice(0, askers.before(gate, this.#place)));
    const again = new Set(changed);
    for (const place of [...new Set(near)].sort((a, b) => a - b))
      if (!this.#decide(place, again)) return undefined;
    const reasons = this.#reasonsAt(this.#place);
    if (reasons === "unknown" || !this.#decide(this.#place, again)) return undefined;
    return {
      reasons,
      slotsTaken: (gate) =>
        course.taken(gate, this.#place + 1) - this.#calm.gate(gate).held + this.#shift(gate).taken,
      fate: (at) => this.#fates.get(at) ?? course.fate(at),
    };
  }

  /** False if the change would spread. */
  #decide(place: number, again: ReadonlySet<string>): boolean {
    const { line, course } = this.#calm;
    const { asks } = line[place] as Waiter;
    const found = asks.map((ask) => this.#obstacle(ask, place));
    if (found.includes("unknown")) return false;
    const isFree = found.every((what) => what === undefined);
    const fate = !isFree ? "waits" : this.#calm.isServed(place) ? "starts" : "refused";
    const before = course.fate(place);
    if (fate === before) return true;
    this.#fates.set(place, fate);
    for (const { gate, slots } of asks) {
      const shift = this.#shift(gate);
      shift.taken += slots * (Number(fate === "starts") - Number(before === "starts"));
      shift.waiting += Number(fate === "waits") - Number(before === "waits");
      this.#shifts.set(gate, shift);
    }
    return asks.every(({ gate }) => again.has(gate) || this.#isStill(gate, place));
  }

  /** True if the units behind this place find the same obstacles at the gate as before. */
  #isStill(key: string, place: number): boolean {
    const { askers, course } = this.#calm;
    const gate = this.#calm.gate(key);
    const { limit } = gate;
    if (limit === null || limit === 0 || limit === UNLIMITED || gate.paused) return true;
    const { most, least } = askers.of(key);
    const { taken } = this.#shift(key);
    const fits = course.taken(key, this.#place) + Math.max(0, taken) + most <= limit;
    return fits || course.taken(key, place + 1) + Math.min(0, taken) + least > limit;
  }

  #obstacle({ gate: key, slots }: Ask, place: number): Obstacle | "unknown" | undefined {
    const gate = this.#calm.gate(key);
    return gate.line === "skip" ? obstacle(gate, this.#taken(key, place), 0, slots) : "unknown";
  }

  #taken(gate: string, place: number): number {
    return this.#calm.course.taken(gate, place) + this.#shift(gate).taken;
  }

  #shift(gate: string): Shift {
    return this.#shifts.get(gate) ?? { taken: 0, waiting: 0 };
  }

  /** As `admit` gives them. */
  #reasonsAt(place: number): readonly Reason[] | undefined | "unknown" {
    const unit = this.#calm.line[place] as Waiter;
    const reasons: Reason[] = [];
    for (const ask of unit.asks) {
      const what = this.#obstacle(ask, place);
      if (what === "unknown" || what === "behind") return "unknown";
      if (what) reasons.push(this.#reason(unit, ask, what, place));
    }
    if (reasons.length > 0) return reasons;
    return this.#calm.isServed(place) ? undefined : [noWorker(unit)];
  }

  #reason(unit: Waiter, { gate, slots }: Ask, what: Exclude<Obstacle, "behind">, place: number): Reason {
    const waiting = this.#calm.course.waiting(gate, place) + this.#shift(gate).waiting;
    const ahead = unit.ahead?.[gate] ?? waiting;
    if (what === "unset" || what === "paused") return { kind: what, gate, ahead };
    const limit = this.#calm.gate(gate).limit as number;
    if (what === "never") return { kind: what, gate, limit, asked: slots };
    return { kind: "full", gate, limit, held: this.#taken(gate, place), asked: slots, ahead };
  }
}
