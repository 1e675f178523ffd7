/**
 * The worlds that an explanation asks about: a line as it is, but without some of the hurdles in it. The walk through a
 * world says of every unit of the line what becomes of it, and nobody changes what is decided about those ahead. So a
 * world that is asked about again is walked once more, to the end of the line, and then answers for everybody.
 */
import type { Plan, Snapshot, Waiter } from "./admit.ts";
import { admit } from "./admit.ts";
import type { Gate } from "./gate.ts";
import { UNLIMITED } from "./gate.ts";
import { pausedWith } from "./key.ts";
import { compare, inOrder } from "./order.ts";
import type { Reason } from "./reason.ts";

/** A hurdle by its name: the pause of a gate, its limit, or that no worker takes the unit. */
export type Hurdle = string;
export const WORKERS: Hurdle = "workers";
export const pauseOf = (gate: string): Hurdle => `pause ${pausedWith(gate)}`;
export const limitOf = (gate: string): Hurdle => `limit ${gate}`;
export const isLimit = (hurdle: Hurdle): boolean => hurdle.startsWith(limitOf(""));
/** The gates whose limits are among these. */
export const limitsIn = (hurdles: readonly Hurdle[]): string[] =>
  hurdles.filter(isLimit).map((hurdle) => hurdle.slice(limitOf("").length));

/** What the limits of gates are raised to; unlimited where nothing is said. */
export type Limits = ReadonlyMap<string, number>;

/** What becomes of one unit in a world. */
export interface Outcome {
  /** What is in its way; undefined when it starts. */
  readonly reasons: readonly Reason[] | undefined;
  /** Those who start up to it, in order, itself among them when it does. */
  readonly starting: readonly Waiter[];
}

/** The gates that somebody in line asks for. All others cost a walk something and change nothing. */
export function gatesAsked(gates: Iterable<Gate>, line: readonly Waiter[]): ReadonlyMap<string, Gate> {
  const asked = new Map<string, Gate>();
  for (const { asks } of line)
    for (const { gate: key } of asks)
      asked.set(key, { key, limit: null, paused: false, line: "skip", held: 0 });
  for (const gate of gates) if (asked.has(gate.key)) asked.set(gate.key, gate);
  return asked;
}

/** Most lines have a handful of them. Where each unit has hurdles of its own, old worlds are forgotten. */
const MOST_PLANS = 32;
const MOST_ASKED = 10_000;

export class Worlds {
  readonly #snapshot: Snapshot;
  readonly #line: readonly Waiter[];
  readonly #gates: readonly Gate[];
  readonly #asked = new Set<string>();
  readonly #plans = new Map<string, Plan>();

  /** `line` is in order. */
  constructor(snapshot: Snapshot, line: readonly Waiter[], gates: readonly Gate[]) {
    this.#snapshot = snapshot;
    this.#line = line;
    this.#gates = gates;
  }

  /** Of the unit at this place of the line, in the world without these hurdles. */
  outcome(place: number, removed: ReadonlySet<Hurdle>, limits: Limits = new Map()): Outcome {
    const unit = this.#line[place] as Waiter;
    const plan = this.#planFor(place, removed, limits);
    return {
      reasons: plan.waiting.get(unit.id),
      get starting() {
        return inOrder([...plan.admitted, ...plan.left].filter((other) => compare(other, unit) <= 0));
      },
    };
  }

  #planFor(place: number, removed: ReadonlySet<Hurdle>, limits: Limits): Plan {
    const unit = this.#line[place] as Waiter;
    const key = keyOf(unit, removed, limits);
    const known = this.#plans.get(key);
    if (known) return known;
    const walk = (line: readonly Waiter[]): Plan => admit(this.#without(unit, line, removed, limits));
    // The first time, nobody else may ever want to know.
    if (!this.#asked.has(key)) {
      if (this.#asked.size > MOST_ASKED) this.#asked.clear();
      this.#asked.add(key);
      return walk(this.#line.slice(0, place + 1));
    }
    if (this.#plans.size >= MOST_PLANS) this.#plans.delete(this.#plans.keys().next().value ?? "");
    const plan = walk(this.#line);
    this.#plans.set(key, plan);
    return plan;
  }

  /**
   * The world without these hurdles: gates unlimited or resumed, and a worker more. Where some serve the unit, it is one
   * that serves whatever they do; else one for its queue.
   */
  #without(unit: Waiter, line: readonly Waiter[], removed: ReadonlySet<Hurdle>, limits: Limits): Snapshot {
    const gates = this.#gates.map((gate) => ({
      ...gate,
      paused: gate.paused && !removed.has(pauseOf(gate.key)),
      limit: removed.has(limitOf(gate.key)) ? (limits.get(gate.key) ?? UNLIMITED) : gate.limit,
    }));
    const { workers } = this.#snapshot;
    if (!workers || !removed.has(WORKERS)) return { ...this.#snapshot, gates, line };
    const serving = new Set(unit.workers);
    const isServed = (other: Waiter): boolean =>
      other.queue === unit.queue || (other.workers ?? []).some((index) => serving.has(index));
    return {
      ...this.#snapshot,
      gates,
      workers: [...workers, { id: "", slots: Number.POSITIVE_INFINITY, used: 0 }],
      line: line.map((other) =>
        isServed(other) ? { ...other, workers: [...(other.workers ?? []), workers.length] } : other,
      ),
    };
  }
}

/** Whom the worker serves that is added depends on the unit. */
function keyOf(unit: Waiter, removed: ReadonlySet<Hurdle>, limits: Limits): string {
  const served = removed.has(WORKERS) ? [unit.queue ?? null, unit.workers ?? []] : [];
  const raised = [...limits].filter(([gate]) => removed.has(limitOf(gate))).sort();
  return JSON.stringify([[...removed].sort(), raised, served]);
}
