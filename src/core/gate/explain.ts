/**
 * Why a unit does not start, as the smallest set of hurdles whose removal starts it. `admit` is asked again and again,
 * each time without the hurdles that were found so far, until it lets the unit in; whatever proves to be needless is
 * put back. So the answer is complete (without all of it the unit starts) and minimal (without a part of it, it does
 * not), and nothing here knows the rule by which `admit` decides.
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

/** Fronts have fronts. So far they are followed; further on they are only named. */
const DEEPEST = 4;
/** Up to so many hurdles every part of them is tried; of more, only the parts without one of them. */
const FEW = 5;

/** A hurdle by its name: the pause of a gate, its limit, or that no worker takes the unit. */
type Hurdle = string;
const WORKERS: Hurdle = "workers";
const pauseOf = (gate: string): Hurdle => `pause ${pausedWith(gate)}`;
const limitOf = (gate: string): Hurdle => `limit ${gate}`;

type Found = ReadonlyMap<Hurdle, Reason>;

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
    const ask = (removed: Iterable<Hurdle>, limits?: ReadonlyMap<string, number>): Plan =>
      admit(this.#without(unit, line, new Set(removed), limits));
    const starts = (removed: readonly Hurdle[]): boolean => !ask(removed).waiting.has(unit.id);
    const found = this.#search(unit, ask, depth);
    const needed = least([...found.keys()], starts);
    const rooms = this.#rooms(unit, line, needed, found, ask);
    const reasons = needed.map((hurdle) => roomy(found.get(hurdle) as Reason, rooms));
    return inOrderOf(unit, reasons);
  }

  /** Takes away what is in the way until nothing is. Each turn takes something, so it ends. */
  #search(unit: Waiter, ask: (removed: Iterable<Hurdle>) => Plan, depth: number): Found {
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
   * The world without these hurdles: gates unlimited or resumed, and a worker more. Where some serve the unit, it is one
   * that serves whatever they do; else one for its queue.
   */
  #without(
    unit: Waiter,
    line: readonly Waiter[],
    removed: ReadonlySet<Hurdle>,
    limits: ReadonlyMap<string, number> = new Map(),
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
  #rooms(
    unit: Waiter,
    line: readonly Waiter[],
    needed: readonly Hurdle[],
    found: Found,
    ask: (removed: Iterable<Hurdle>, limits?: ReadonlyMap<string, number>) => Plan,
  ): ReadonlyMap<string, number> {
    const gates = needed.flatMap((hurdle) => {
      const reason = found.get(hurdle) as Reason;
      return "gate" in reason && hurdle === limitOf(reason.gate) ? [reason.gate] : [];
    });
    if (gates.length === 0) return new Map();
    const plan = ask(needed);
    const withRoomFor = (units: readonly Waiter[]) =>
      new Map(gates.map((gate) => [gate, (this.#gates.get(gate)?.held ?? 0) + slotsAt(gate, units)]));
    const exact = withRoomFor([...plan.admitted, ...plan.left]);
    const suffices = !ask(needed, exact).waiting.has(unit.id);
    // Those who wait in a strict line keep room for themselves, too.
    return suffices ? exact : withRoomFor(line);
  }
}

export function explain(snapshot: Snapshot, id: string): readonly Reason[] {
  return new Explainer(snapshot).reasonsOf(id);
}

/** The smallest part of these whose removal is enough; all of them are. */
function least(hurdles: readonly Hurdle[], suffice: (part: readonly Hurdle[]) => boolean): readonly Hurdle[] {
  if (hurdles.length <= 1) return hurdles;
  if (hurdles.length <= FEW) return parts(hurdles).find(suffice) ?? hurdles;
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

/** The first who takes from this gate. */
function firstAt(gate: string, { admitted, left }: Plan): string {
  const takes = ({ asks }: Waiter): boolean => asks.some((ask) => ask.gate === gate);
  const [first] = inOrder([...admitted, ...left].filter(takes));
  return (first as Waiter).id;
}

const slotsAt = (gate: string, units: readonly Waiter[]): number =>
  units.reduce((sum, { asks }) => sum + (asks.find((ask) => ask.gate === gate)?.slots ?? 0), 0);

/** Told only where it is another number than the one that the reason itself suggests. */
function roomy(reason: Reason, rooms: ReadonlyMap<string, number>): Reason {
  const room = "gate" in reason ? rooms.get(reason.gate) : undefined;
  if (room === undefined) return reason;
  if (reason.kind === "full") return room === reason.held + reason.asked ? reason : { ...reason, room };
  if (reason.kind === "never") return room === reason.asked ? reason : { ...reason, room };
  return reason.kind === "paused" && reason.zero ? { ...reason, room } : reason;
}

/** As the unit asks; what is about workers comes last. */
function inOrderOf({ asks }: Waiter, reasons: readonly Reason[]): Reason[] {
  const place = (reason: Reason): number => {
    if (!("gate" in reason)) return asks.length;
    return asks.findIndex(({ gate }) => gate === reason.gate || pausedWith(gate) === reason.gate);
  };
  return [...reasons].sort((a, b) => place(a) - place(b));
}
