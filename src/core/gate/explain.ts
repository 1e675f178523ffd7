/**
 * Why a unit does not start, as the smallest set of hurdles whose removal starts it. `admit` is asked again and again,
 * each time without the hurdles that were found so far, until it lets the unit in; whatever proves to be needless is
 * put back. So the answer is complete (without all of it the unit starts) and minimal (without a part of it, it does
 * not), and nothing here knows the rule by which `admit` decides. A limit is removed by raising it to `room`, which
 * counts those ahead who start with that; all that is named together is what starts the unit.
 *
 * What is told of a hurdle is what is true now: `full` means held by real holders. Where there is room, and others
 * would take it first, the unit is `behind` them.
 */
import type { Plan, Snapshot, Waiter } from "./admit.ts";
import { admit } from "./admit.ts";
import type { Gate } from "./gate.ts";
import { UNLIMITED } from "./gate.ts";
import { pausedWith } from "./key.ts";
import { compare, inOrder } from "./order.ts";
import type { Reason } from "./reason.ts";
import { MANY } from "./reason.ts";

/** Fronts have fronts. So far they are followed; further on they are only named. */
const DEEPEST = 4;
/** Up to so many hurdles every part of them is tried; of more, only the parts without one of them. */
const FEW = 5;

/** A hurdle by its name: the pause of a gate, its limit, or that no worker takes the unit. */
type Hurdle = string;
const WORKERS: Hurdle = "workers";
const pauseOf = (gate: string): Hurdle => `pause ${pausedWith(gate)}`;
const limitOf = (gate: string): Hurdle => `limit ${gate}`;

const isLimit = (hurdle: Hurdle): boolean => hurdle.startsWith(limitOf(""));

type Found = ReadonlyMap<Hurdle, Reason>;
/** What the limits of gates are raised to; unlimited where nothing is said. */
type Limits = ReadonlyMap<string, number>;
/** The plan of a world without these hurdles. */
type Ask = (removed: Iterable<Hurdle>, limits?: Limits) => Plan;

export class Explainer {
  readonly #snapshot: Snapshot;
  readonly #line: readonly Waiter[];
  readonly #gates: ReadonlyMap<string, Gate>;
  readonly #known = new Map<string, readonly Reason[]>();

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
    this.#line = inOrder(snapshot.line);
    this.#gates = new Map([...snapshot.gates].map((gate) => [gate.key, gate]));
  }

  /** Empty when it starts with the next pass. */
  reasonsOf(id: string, depth = 0): readonly Reason[] {
    const known = this.#known.get(id);
    if (known) return known;
    const unit = this.#line.find((each) => each.id === id);
    const reasons = unit ? this.#explain(unit, depth) : [];
    this.#known.set(id, reasons);
    return reasons;
  }

  #explain(unit: Waiter, depth: number): readonly Reason[] {
    // Nobody behind it changes what is decided about it.
    const line = this.#line.filter((other) => compare(other, unit) <= 0);
    const ask = (removed: Iterable<Hurdle>, limits?: Limits): Plan =>
      admit(this.#without(unit, line, new Set(removed), limits));
    const starts = (removed: readonly Hurdle[], limits?: Limits): boolean =>
      !ask(removed, limits).waiting.has(unit.id);
    const found = this.#search(unit, ask, depth);
    const gone = least([...found.keys()], starts);
    const isFar = gone.filter(isLimit).every((hurdle) => isBehindMany(found.get(hurdle) as Reason));
    // Nobody raises a limit for so many, so nobody needs to know how far.
    const [needed, rooms] = isFar
      ? [gone, new Map<string, number>()]
      : this.#fitted(gone, this.#rooms(unit, line, gone, ask), ask, starts);
    const reasons = needed.map((hurdle) => roomy(found.get(hurdle) as Reason, rooms, line));
    return inOrderOf(unit, reasons);
  }

  /** Takes away what is in the way until nothing is. Each turn takes something, so it ends. */
  #search(unit: Waiter, ask: Ask, depth: number): Found {
    const found = new Map<Hurdle, Reason>();
    for (;;) {
      const removed = new Set(found.keys());
      const plan = ask(removed);
      const reasons = plan.waiting.get(unit.id);
      if (!reasons) return found;
      for (const reason of reasons) {
        const hurdle = this.#hurdleOf(reason, removed);
        if (!found.has(hurdle)) found.set(hurdle, this.#asItIs(unit, reason, plan, depth, hurdle));
      }
    }
  }

  /** A gate can be paused and have a limit of 0: with the pause gone, it is the limit. */
  #hurdleOf(reason: Reason, removed: ReadonlySet<Hurdle>): Hurdle {
    if (!("gate" in reason)) return WORKERS;
    const pause = pauseOf(reason.gate);
    const isPaused = reason.kind === "paused" && this.#gates.get(reason.gate)?.paused;
    return isPaused && !removed.has(pause) ? pause : limitOf(reason.gate);
  }

  /**
   * The world without these hurdles: gates unlimited or resumed, and a worker more. If some workers serve the unit, the new
   * one serves whatever they do. Otherwise it is a worker of the unit's app, for its queue.
   */
  #without(
    unit: Waiter,
    line: readonly Waiter[],
    removed: ReadonlySet<Hurdle>,
    limits: Limits = new Map(),
  ): Snapshot {
    const asked = unit.asks.map(({ gate }) => gate).filter((key) => !this.#gates.has(key));
    const unknown = asked.map((key): Gate => ({ key, limit: null, paused: false, line: "skip", held: 0 }));
    const gates = [...this.#gates.values(), ...unknown].map((gate) => ({
      ...gate,
      paused: gate.paused && !removed.has(pauseOf(gate.key)),
      limit: removed.has(limitOf(gate.key)) ? (limits.get(gate.key) ?? UNLIMITED) : gate.limit,
    }));
    const { workers } = this.#snapshot;
    if (!workers || !removed.has(WORKERS)) return { ...this.#snapshot, gates, line };
    const serving = new Set(unit.workers);
    const isServed = (other: Waiter): boolean =>
      serving.size > 0
        ? (other.workers ?? []).some((index) => serving.has(index))
        : other.queue === unit.queue && this.#isOfOneApp(unit, other);
    return {
      ...this.#snapshot,
      gates,
      workers: [...workers, { id: "", slots: Number.POSITIVE_INFINITY, used: 0 }],
      line: line.map((other) =>
        isServed(other) ? { ...other, workers: [...(other.workers ?? []), workers.length] } : other,
      ),
    };
  }

  /** Where nobody knows whose task it is, any worker of its queue may run both. */
  #isOfOneApp(unit: Waiter, other: Waiter): boolean {
    const apps = (this.#snapshot.apps ?? []).filter(({ tasks }) => tasks.includes(unit.name ?? ""));
    return apps.length === 0 || apps.some(({ tasks }) => tasks.includes(other.name ?? ""));
  }

  /** A reason of a walk in which some had started already, told as things stand. */
  #asItIs(unit: Waiter, reason: Reason, plan: Plan, depth: number, hurdle: Hurdle): Reason {
    if (reason.kind === "busy") return this.#busy(unit, reason);
    if (reason.kind === "paused")
      return hurdle === limitOf(reason.gate)
        ? { ...reason, zero: true }
        : { ...reason, gate: pausedWith(reason.gate) };
    if (reason.kind !== "full" && reason.kind !== "behind") return reason;
    const { gate, limit, asked, ahead } = reason;
    const held = this.#gates.get(gate)?.held ?? 0;
    if (held + asked > limit) return { kind: "full", gate, limit, held, asked, ahead };
    const front = reason.kind === "behind" ? reason.front.unit : firstAt(gate, plan);
    const reasons = depth < DEEPEST ? this.reasonsOf(front, depth + 1) : [];
    return { kind: "behind", gate, limit, held, asked, ahead, front: { unit: front, reasons } };
  }

  /** Workers may have slots that those ahead would take. */
  #busy(unit: Waiter, reason: Extract<Reason, { kind: "busy" }>): Reason {
    const serving = (unit.workers ?? []).flatMap((index) => this.#snapshot.workers?.[index] ?? []);
    const free = serving.reduce((sum, { slots, used }) => sum + Math.max(0, slots - used), 0);
    return free > 0 ? { ...reason, free } : reason;
  }

  /** The limit from which on each gate has room for it, and for those ahead who start then. */
  #rooms(unit: Waiter, line: readonly Waiter[], needed: readonly Hurdle[], ask: Ask): Limits {
    if (!needed.some(isLimit)) return new Map();
    const exact = this.#roomFor(needed, startingIn(ask(needed)));
    const suffices = !ask(needed, exact).waiting.has(unit.id);
    // Those who wait in a strict line keep room for themselves, too.
    return suffices ? exact : this.#roomFor(needed, line);
  }

  /**
   * A limit that is raised, and not taken away, lets fewer of those ahead in, so less may be in the way: as long as less is
   * enough, no more than that is named.
   */
  #fitted(
    needed: readonly Hurdle[],
    rooms: Limits,
    ask: Ask,
    starts: (removed: readonly Hurdle[], limits: Limits) => boolean,
  ): readonly [readonly Hurdle[], Limits] {
    const part = least(needed, (some) => starts(some, rooms));
    const exact = this.#roomFor(part, startingIn(ask(part, rooms)));
    const isLess = [...exact].some(([gate, limit]) => limit < (rooms.get(gate) as number));
    if (isLess && starts(part, exact)) return this.#fitted(part, exact, ask, starts);
    return [part, rooms];
  }

  #roomFor(needed: readonly Hurdle[], units: readonly Waiter[]): Limits {
    const gates = needed.filter(isLimit).map((hurdle) => hurdle.slice(limitOf("").length));
    return new Map(gates.map((gate) => [gate, (this.#gates.get(gate)?.held ?? 0) + slotsAt(gate, units)]));
  }
}

export function explain(snapshot: Snapshot, id: string): readonly Reason[] {
  return new Explainer(snapshot).reasonsOf(id);
}

/** The smallest part of these whose removal is enough; all of them are. */
function least(hurdles: readonly Hurdle[], suffice: (part: readonly Hurdle[]) => boolean): readonly Hurdle[] {
  if (hurdles.length <= 1) return hurdles;
  if (hurdles.length <= FEW) return parts(hurdles).find((part) => suffice(part)) ?? hurdles;
  const fewer = hurdles.map((one) => hurdles.filter((other) => other !== one)).find((part) => suffice(part));
  return fewer ? least(fewer, suffice) : hurdles;
}

/** Every proper part that is not empty, the smaller ones first. */
function parts(hurdles: readonly Hurdle[]): Hurdle[][] {
  const all = Array.from({ length: 2 ** hurdles.length - 2 }, (_, bits) =>
    hurdles.filter((_hurdle, index) => (bits + 1) & (1 << index)),
  );
  return all.sort((a, b) => a.length - b.length);
}

const isBehindMany = (reason: Reason): boolean => "ahead" in reason && reason.ahead > MANY;

/** The first who takes from this gate. */
function firstAt(gate: string, { admitted, left }: Plan): string {
  const takes = ({ asks }: Waiter): boolean => asks.some((ask) => ask.gate === gate);
  const [first] = inOrder([...admitted, ...left].filter(takes));
  return (first as Waiter).id;
}

const startingIn = ({ admitted, left }: Plan): readonly Waiter[] => [...admitted, ...left];

const slotsAt = (gate: string, units: readonly Waiter[]): number =>
  units.reduce((sum, { asks }) => sum + (asks.find((ask) => ask.gate === gate)?.slots ?? 0), 0);

/** The limit with which it starts, together with all else that is named. Where not all are seen who stand ahead, nobody knows it. */
function roomy(reason: Reason, rooms: Limits, line: readonly Waiter[]): Reason {
  const room = "gate" in reason ? rooms.get(reason.gate) : undefined;
  if (room === undefined || !("gate" in reason) || (reason.kind === "paused" && !reason.zero)) return reason;
  const seen = line.filter(({ asks }) => asks.some(({ gate }) => gate === reason.gate)).length;
  const isCut = "ahead" in reason && seen <= reason.ahead;
  return isCut ? reason : ({ ...reason, room } as Reason);
}

/** As the unit asks; what is about workers comes last. */
function inOrderOf({ asks }: Waiter, reasons: readonly Reason[]): Reason[] {
  const place = (reason: Reason): number => {
    if (!("gate" in reason)) return asks.length;
    return asks.findIndex(({ gate }) => gate === reason.gate || pausedWith(gate) === reason.gate);
  };
  return [...reasons].sort((a, b) => place(a) - place(b));
}
