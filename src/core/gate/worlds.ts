/**
 * The worlds that an explanation looks at. A world is the line as it is, but without some of its hurdles. The
 * walk through a world decides every unit of the line, and no unit changes the decision about the units
 * ahead. So a world that is needed a second time is walked to the end of the line, and this walk then serves
 * every unit.
 */
import type { Plan, Snapshot, Waiter } from "./admit.ts";
import { admit } from "./admit.ts";
import type { Gate } from "./gate.ts";
import { UNLIMITED } from "./gate.ts";
import { pausedWith } from "./key.ts";
import { compare, inOrder } from "./order.ts";
import type { Reason } from "./reason.ts";

/** The name of a hurdle: the pause of a gate, its limit, or that no worker takes the unit. */
export type Hurdle = string;
export const WORKERS: Hurdle = "workers";
export const pauseOf = (gate: string): Hurdle => `pause ${pausedWith(gate)}`;
export const limitOf = (gate: string): Hurdle => `limit ${gate}`;
export const isLimit = (hurdle: Hurdle): boolean => hurdle.startsWith(limitOf(""));
/** The gates whose limits are among these hurdles. */
export const limitsIn = (hurdles: readonly Hurdle[]): string[] =>
  hurdles.filter(isLimit).map((hurdle) => hurdle.slice(limitOf("").length));

/** The raised limits of gates. A gate that is not listed becomes unlimited. */
export type RaisedLimits = ReadonlyMap<string, number>;

/** The outcome for one unit in a world. */
export interface WorldOutcome {
  /** The obstacles of the unit. Undefined if it starts. */
  readonly reasons: readonly Reason[] | undefined;
  /** The units that start, up to this one, in order. Includes this one if it starts. */
  readonly starting: readonly Waiter[];
}

/** The gates that a unit in line asks for. All others only make a walk slower. */
export function gatesAsked(gates: Iterable<Gate>, line: readonly Waiter[]): ReadonlyMap<string, Gate> {
  const asked = new Map<string, Gate>();
  for (const { asks } of line)
    for (const { gate: key } of asks)
      asked.set(key, { key, limit: null, paused: false, line: "skip", held: 0 });
  for (const gate of gates) if (asked.has(gate.key)) asked.set(gate.key, gate);
  return asked;
}

/** Most lines need only a few worlds. If each unit has hurdles of its own, old worlds are forgotten. */
const MOST_PLANS = 32;
const MOST_ASKED = 10_000;

export class Worlds {
  readonly #snapshot: Snapshot;
  readonly #line: readonly Waiter[];
  readonly #gates: readonly Gate[];
  readonly #asked = new Set<string>();
  readonly #plans = new Map<string, Plan>();

  /** `line` must be in order. */
  constructor(snapshot: Snapshot, line: readonly Waiter[], gates: readonly Gate[]) {
    this.#snapshot = snapshot;
    this.#line = line;
    this.#gates = gates;
  }

  /** The outcome for the unit at this place of the line, in the world without these hurdles. */
  outcome(place: number, removed: ReadonlySet<Hurdle>, limits: RaisedLimits = new Map()): WorldOutcome {
    const unit = this.#line[place] as Waiter;
    const plan = this.#planFor(place, removed, limits);
    return {
      reasons: plan.waiting.get(unit.id),
      get starting() {
        return inOrder([...plan.admitted, ...plan.left].filter((other) => compare(other, unit) <= 0));
      },
    };
  }

  #planFor(place: number, removed: ReadonlySet<Hurdle>, limits: RaisedLimits): Plan {
    const unit = this.#line[place] as Waiter;
    const key = keyOf(unit, removed, limits, this.#appsOf(unit));
    const known = this.#plans.get(key);
    if (known) return known;
    const walk = (line: readonly Waiter[]): Plan => admit(this.#without(unit, line, removed, limits));
    // This world may never be needed again, so the first walk stops at this unit.
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

  #appsOf({ name = "" }: Waiter): readonly AppOf[] {
    return (this.#snapshot.apps ?? []).filter(({ tasks }) => tasks.includes(name));
  }

  /**
   * The world without these hurdles: gates are unlimited or resumed, and there is one more worker. If some
   * workers serve the unit, the new worker serves everything that they do. Otherwise it is a worker of the
   * unit's app, for its queue.
   */
  #without(
    unit: Waiter,
    line: readonly Waiter[],
    removed: ReadonlySet<Hurdle>,
    limits: RaisedLimits,
  ): Snapshot {
    const gates = this.#gates.map((gate) => ({
      ...gate,
      paused: gate.paused && !removed.has(pauseOf(gate.key)),
      limit: removed.has(limitOf(gate.key)) ? (limits.get(gate.key) ?? UNLIMITED) : gate.limit,
    }));
    const { workers } = this.#snapshot;
    if (!workers || !removed.has(WORKERS)) return { ...this.#snapshot, gates, line };
    const serving = new Set(unit.workers);
    const apps = this.#appsOf(unit);
    const isServed = (other: Waiter): boolean =>
      serving.size > 0
        ? (other.workers ?? []).some((index) => serving.has(index))
        : other.queue === unit.queue && isOfOne(apps, other);
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

type AppOf = NonNullable<Snapshot["apps"]>[number];

/** If the app of the task is not known, any worker of its queue may run both. */
const isOfOne = (apps: readonly AppOf[], { name = "" }: Waiter): boolean =>
  apps.length === 0 || apps.some(({ tasks }) => tasks.includes(name));

/** The added worker serves different units depending on this unit, so that is part of the key. */
function keyOf(
  unit: Waiter,
  removed: ReadonlySet<Hurdle>,
  limits: RaisedLimits,
  apps: readonly AppOf[],
): string {
  const served = removed.has(WORKERS)
    ? [unit.queue ?? null, unit.workers ?? [], apps.map(({ app }) => app)]
    : [];
  const raised = [...limits].filter(([gate]) => removed.has(limitOf(gate))).sort();
  return JSON.stringify([[...removed].sort(), raised, served]);
}
