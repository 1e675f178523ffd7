/**
 * The worlds that an explanation looks at. A world is the line as it is, but without some of its hurdles. The
 * walk through a world decides every unit of the line, and no unit changes the decision about the units
 * ahead. So a world that is needed a second time is walked to the end of the line, and this walk then serves
 * every unit.
 */
import type { Plan, Snapshot, Waiter } from "./admit.ts";
import { admit } from "./admit.ts";
import type { Askers } from "./askers.ts";
import type { Fate } from "./course.ts";
import { Course } from "./course.ts";
import type { Gate } from "./gate.ts";
import { UNLIMITED } from "./gate.ts";
import { pausedWith } from "./key.ts";
import type { Reason } from "./reason.ts";
import type { Rippled } from "./ripple.ts";
import { ripple } from "./ripple.ts";
import type { GateWorker } from "./workers.ts";

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
  /** The slots of a gate that units take, up to this one and including it. */
  slotsTaken(gate: string): number;
  /** The first unit that takes from this gate. */
  firstTaking(gate: string): Waiter | undefined;
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
const MOST_WORLDS = 32;
const MOST_ASKED = 10_000;
/** A gate is narrow if at most this part of the line asks for it. */
const NARROW = 1 / 4;

/** A world that was walked to the end of the line. */
interface World {
  readonly gates: ReadonlyMap<string, Gate>;
  readonly plan: Plan;
  readonly course: Course;
  readonly line: readonly Waiter[];
  readonly workers: readonly GateWorker[] | undefined;
}

/** A hurdle to remove, or a limit to raise. */
interface Removal {
  readonly removed: ReadonlySet<Hurdle>;
  readonly limits: RaisedLimits;
}

export class Worlds {
  readonly #snapshot: Snapshot;
  readonly #line: readonly Waiter[];
  readonly #gates: readonly Gate[];
  readonly #askers: Askers;
  readonly #narrow: number;
  /** True if some units may be out of sight, or hold back others in a way that only a whole walk knows. */
  readonly #isIntricate: boolean;
  readonly #asked = new Set<string>();
  readonly #worlds = new Map<string, World>();

  /** `line` must be in order. `narrow` is 0 if every world is to be walked as a whole. */
  constructor(
    snapshot: Snapshot,
    line: readonly Waiter[],
    gates: readonly Gate[],
    askers: Askers,
    narrow = NARROW,
  ) {
    this.#snapshot = snapshot;
    this.#line = line;
    this.#gates = gates;
    this.#askers = askers;
    this.#narrow = narrow * line.length;
    const { me, horizon } = snapshot;
    this.#isIntricate =
      narrow === 0 ||
      me !== undefined ||
      horizon !== undefined ||
      gates.some(({ line, hidden }) => line === "bypass" || hidden !== undefined) ||
      line.some(({ frontier = false }) => frontier);
  }

  /** The outcome for the unit at this place of the line, in the world without these hurdles. */
  outcome(place: number, removed: ReadonlySet<Hurdle>, limits: RaisedLimits = new Map()): WorldOutcome {
    return this.#nearby(place, { removed, limits }) ?? this.#walked(place, { removed, limits });
  }

  #walked(place: number, removal: Removal): WorldOutcome {
    const unit = this.#line[place] as Waiter;
    const key = this.#keyOf(unit, removal);
    const known = this.#worlds.get(key);
    // This world may never be needed again, so the first walk stops at this unit.
    if (!known && !this.#asked.has(key)) {
      if (this.#asked.size > MOST_ASKED) this.#asked.clear();
      this.#asked.add(key);
      return this.#outcomeIn(this.#walk(unit, this.#line.slice(0, place + 1), removal), place);
    }
    return this.#outcomeIn(known ?? this.#whole(unit, removal), place);
  }

  #outcomeIn({ plan, course, gates }: World, place: number): WorldOutcome {
    return {
      reasons: plan.waiting.get((this.#line[place] as Waiter).id),
      slotsTaken: (gate) => course.taken(gate, place + 1) - (gates.get(gate)?.held ?? 0),
      firstTaking: (gate) => this.#first(gate, place, (at) => course.fate(at)),
    };
  }

  #first(gate: string, place: number, fate: (place: number) => Fate): Waiter | undefined {
    const first = this.#askers.of(gate).places.find((at) => at <= place && fate(at) === "starts");
    return first === undefined ? undefined : this.#line[first];
  }

  /** The world, walked to the end of the line. */
  #whole(unit: Waiter, removal: Removal): World {
    const key = this.#keyOf(unit, removal);
    const known = this.#worlds.get(key);
    if (known) return known;
    if (this.#worlds.size >= MOST_WORLDS) this.#worlds.delete(this.#worlds.keys().next().value ?? "");
    const world = this.#walk(unit, this.#line, removal);
    this.#worlds.set(key, world);
    return world;
  }

  #walk(unit: Waiter, line: readonly Waiter[], { removed, limits }: Removal): World {
    const snapshot = this.#without(unit, line, removed, limits);
    const plan = admit(snapshot);
    const gates = new Map([...snapshot.gates].map((gate) => [gate.key, gate]));
    const course = new Course(snapshot.line, this.#askers, gates, plan);
    return { gates, plan, course, line: snapshot.line, workers: snapshot.workers };
  }

  /**
   * The same outcome, found with a walk that other units need too: of the world in which the narrow gates keep
   * their hurdles, and raised limits are unlimited. Undefined if it cannot be found so.
   */
  #nearby(place: number, { removed, limits }: Removal): WorldOutcome | undefined {
    if (this.#isIntricate) return undefined;
    const limited = limitsIn([...removed]);
    const narrow = limited.filter((gate) => this.#askers.of(gate).places.length <= this.#narrow);
    const own = new Set(narrow.map(limitOf));
    const raised = limited.filter((gate) => limits.has(gate) && !narrow.includes(gate));
    if (narrow.length + raised.length === 0) return undefined;
    const shared = new Set([...removed].filter((hurdle) => !own.has(hurdle)));
    const unit = this.#line[place] as Waiter;
    const base = this.#whole(unit, { removed: shared, limits: new Map() });
    const isServed = servedIn(base);
    if (!isServed) return undefined;
    const changed = new Map(
      narrow.map((key) => [key, this.#cleared(base.gates.get(key) as Gate, removed, limits)]),
    );
    const gate = (key: string): Gate => changed.get(key) ?? (base.gates.get(key) as Gate);
    const found = ripple(
      { line: base.line, askers: this.#askers, course: base.course, gate, isServed },
      place,
      narrow,
    );
    if (!found || !raised.every((key) => this.#isRoomy(key, found, unit, gate(key), limits)))
      return undefined;
    return { ...found, firstTaking: (key) => this.#first(key, place, found.fate) };
  }

  /**
   * True if a raised limit is in nobody's way up to this unit, so the gate might as well be unlimited. A unit
   * that waits elsewhere must not find it full either.
   */
  #isRoomy(key: string, found: Rippled, { asks }: Waiter, gate: Gate, limits: RaisedLimits): boolean {
    const own = found.reasons ? 0 : (asks.find((ask) => ask.gate === key)?.slots ?? 0);
    const taken = gate.held + found.slotsTaken(key) - own;
    const { most } = this.#askers.of(key);
    return gate.line === "skip" && taken + most <= (limits.get(key) as number);
  }

  #cleared(gate: Gate, removed: ReadonlySet<Hurdle>, limits: RaisedLimits): Gate {
    return {
      ...gate,
      paused: gate.paused && !removed.has(pauseOf(gate.key)),
      limit: removed.has(limitOf(gate.key)) ? (limits.get(gate.key) ?? UNLIMITED) : gate.limit,
    };
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
    const gates = this.#gates.map((gate) => this.#cleared(gate, removed, limits));
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

  /** The added worker serves different units depending on this unit, so that is part of the key. */
  #keyOf(unit: Waiter, { removed, limits }: Removal): string {
    const served = removed.has(WORKERS)
      ? [unit.queue ?? null, unit.workers ?? [], this.#appsOf(unit).map(({ app }) => app)]
      : [];
    const raised = [...limits].filter(([gate]) => removed.has(limitOf(gate))).sort();
    return JSON.stringify([[...removed].sort(), raised, served]);
  }
}

type AppOf = NonNullable<Snapshot["apps"]>[number];

/** If the app of the task is not known, any worker of its queue may run both. */
const isOfOne = (apps: readonly AppOf[], { name = "" }: Waiter): boolean =>
  apps.length === 0 || apps.some(({ tasks }) => tasks.includes(name));

/**
 * Tells of each place whether a worker takes its unit. Undefined if that depends on the units ahead, because
 * workers may run out of slots.
 */
function servedIn({ line, workers }: World): ((place: number) => boolean) | undefined {
  if (!workers) return () => true;
  const isAmple = workers.map(({ slots, used }) => slots - used >= line.length);
  const known = served.get(line);
  const isCalm =
    known ??
    line.every(({ workers = [] }) => workers.length === 0 || workers.some((index) => isAmple[index]));
  served.set(line, isCalm);
  return isCalm ? (place) => ((line[place] as Waiter).workers ?? []).length > 0 : undefined;
}

const served = new WeakMap<readonly Waiter[], boolean>();
