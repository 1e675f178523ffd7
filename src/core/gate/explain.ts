/**
 * Why a unit does not start, as the smallest set of hurdles whose removal starts it. `admit` is asked again and again,
 * each time without the hurdles that were found so far, until it lets the unit in; whatever proves to be needless is
 * put back. So the answer is complete (without all of it the unit starts) and minimal (without a part of it, it does
 * not), and nothing here knows the rule by which `admit` decides. A limit is removed by raising it to `room`, which
 * counts those ahead who start with that; all that is named together is what starts the unit.
 *
 * Whoever explains many units of a line asks for the same worlds again and again, so the plans of a world are kept
 * (`worlds.ts`): a page of a line costs little more than its last unit.
 *
 * What is told of a hurdle is what is true now: `full` means held by real holders. Where there is room, and others
 * would take it first, the unit is `behind` them.
 */
import type { Snapshot, Waiter } from "./admit.ts";
import type { Gate } from "./gate.ts";
import { pausedWith } from "./key.ts";
import { inOrder } from "./order.ts";
import type { Reason } from "./reason.ts";
import { MANY } from "./reason.ts";
import type { Hurdle, RaisedLimits, WorldOutcome } from "./worlds.ts";
import { gatesAsked, isLimit, limitOf, limitsIn, pauseOf, WORKERS, Worlds } from "./worlds.ts";

/** Fronts have fronts. So far they are followed; further on they are only named. */
const DEEPEST = 4;
/** Up to so many hurdles every part of them is tried; of more, only the parts without one of them. */
const FEW = 5;

type Found = ReadonlyMap<Hurdle, Reason>;
/** What becomes of the unit, and of those ahead of it, in a world without these hurdles. */
type Ask = (removed: Iterable<Hurdle>, limits?: RaisedLimits) => WorldOutcome;

export class Explainer {
  readonly #snapshot: Snapshot;
  readonly #line: readonly Waiter[];
  readonly #places: ReadonlyMap<string, number>;
  readonly #gates: ReadonlyMap<string, Gate>;
  readonly #worlds: Worlds;
  readonly #known = new Map<string, readonly Reason[]>();
  readonly #told = new Map<string, readonly Reason[]>();

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
    this.#line = inOrder(snapshot.line);
    this.#places = new Map(this.#line.map(({ id }, index) => [id, index]));
    this.#gates = gatesAsked(snapshot.gates, this.#line);
    this.#worlds = new Worlds(snapshot, this.#line, [...this.#gates.values()]);
  }

  /** Empty when it starts with the next pass. */
  reasonsOf(id: string): readonly Reason[] {
    return this.#tell(id, 0);
  }

  /** With the reasons of those in front, up to a depth that counts from the unit that was asked about. */
  #tell(id: string, depth: number): readonly Reason[] {
    const key = `${depth} ${id}`;
    const told = this.#told.get(key) ?? this.#reasons(id).map((reason) => this.#withFront(reason, depth));
    this.#told.set(key, told);
    return told;
  }

  #withFront(reason: Reason, depth: number): Reason {
    if (reason.kind !== "behind") return reason;
    const { unit } = reason.front;
    const reasons = depth < DEEPEST ? this.#tell(unit, depth + 1) : [];
    return { ...reason, front: { unit, reasons } };
  }

  /** Its own, without those of others. */
  #reasons(id: string): readonly Reason[] {
    const place = this.#places.get(id);
    const reasons = this.#known.get(id) ?? (place === undefined ? [] : this.#explain(place));
    this.#known.set(id, reasons);
    return reasons;
  }

  #explain(place: number): readonly Reason[] {
    // Nobody behind it changes what is decided about it.
    const line = this.#line.slice(0, place + 1);
    const unit = this.#line[place] as Waiter;
    const ask = (removed: Iterable<Hurdle>, limits?: RaisedLimits): WorldOutcome =>
      this.#worlds.outcome(place, new Set(removed), limits);
    const starts = (removed: readonly Hurdle[], limits?: RaisedLimits): boolean =>
      !ask(removed, limits).reasons;
    const found = this.#search(unit, ask);
    const gone = least([...found.keys()], starts);
    const isFar = gone.filter(isLimit).every((hurdle) => isBehindMany(found.get(hurdle) as Reason));
    // Nobody raises a limit for so many, so nobody needs to know how far.
    const [needed, rooms] = isFar
      ? [gone, new Map<string, number>()]
      : this.#fitted(gone, this.#rooms(line, gone, ask), ask, starts);
    const reasons = needed.map((hurdle) => roomy(found.get(hurdle) as Reason, rooms, line));
    return inOrderOf(unit, reasons);
  }

  /** Takes away what is in the way until nothing is. Each turn takes something, so it ends. */
  #search(unit: Waiter, ask: Ask): Found {
    const found = new Map<Hurdle, Reason>();
    for (;;) {
      const removed = new Set(found.keys());
      const outcome = ask(removed);
      const { reasons } = outcome;
      if (!reasons) return found;
      for (const reason of reasons) {
        const hurdle = this.#hurdleOf(reason, removed);
        if (!found.has(hurdle)) found.set(hurdle, this.#asItIs(unit, reason, outcome, hurdle));
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

  /** A reason of a walk in which some had started already, told as things stand. */
  #asItIs(unit: Waiter, reason: Reason, outcome: WorldOutcome, hurdle: Hurdle): Reason {
    if (reason.kind === "busy") return this.#busy(unit, reason);
    if (reason.kind === "paused")
      return hurdle === limitOf(reason.gate)
        ? { ...reason, zero: true }
        : { ...reason, gate: pausedWith(reason.gate) };
    if (reason.kind !== "full" && reason.kind !== "behind") return reason;
    const { gate, limit, asked, ahead } = reason;
    const held = this.#gates.get(gate)?.held ?? 0;
    if (held + asked > limit) return { kind: "full", gate, limit, held, asked, ahead };
    const front = reason.kind === "behind" ? reason.front.unit : firstAt(gate, outcome);
    return { kind: "behind", gate, limit, held, asked, ahead, front: { unit: front, reasons: [] } };
  }

  /** Workers may have slots that those ahead would take. */
  #busy(unit: Waiter, reason: Extract<Reason, { kind: "busy" }>): Reason {
    const serving = (unit.workers ?? []).flatMap((index) => this.#snapshot.workers?.[index] ?? []);
    const free = serving.reduce((sum, { slots, used }) => sum + Math.max(0, slots - used), 0);
    return free > 0 ? { ...reason, free } : reason;
  }

  /** The limit from which on each gate has room for it, and for those ahead who start then. */
  #rooms(line: readonly Waiter[], needed: readonly Hurdle[], ask: Ask): RaisedLimits {
    if (!needed.some(isLimit)) return new Map();
    const exact = this.#roomFor(needed, ask(needed).starting);
    const suffices = !ask(needed, exact).reasons;
    // Those who wait in a strict line keep room for themselves, too.
    return suffices ? exact : this.#roomFor(needed, line);
  }

  /**
   * A limit that is raised, and not taken away, lets fewer of those ahead in, so less may be in the way: as long as less is
   * enough, no more than that is named.
   */
  #fitted(
    needed: readonly Hurdle[],
    rooms: RaisedLimits,
    ask: Ask,
    starts: (removed: readonly Hurdle[], limits: RaisedLimits) => boolean,
  ): readonly [readonly Hurdle[], RaisedLimits] {
    const part = least(needed, (some) => starts(some, rooms));
    const exact = this.#roomFor(part, ask(part, rooms).starting);
    const isLess = [...exact].some(([gate, limit]) => limit < (rooms.get(gate) as number));
    if (isLess && starts(part, exact)) return this.#fitted(part, exact, ask, starts);
    return [part, rooms];
  }

  #roomFor(needed: readonly Hurdle[], units: readonly Waiter[]): RaisedLimits {
    return new Map(
      limitsIn(needed).map((gate) => [gate, (this.#gates.get(gate)?.held ?? 0) + slotsAt(gate, units)]),
    );
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
function firstAt(gate: string, { starting }: WorldOutcome): string {
  const takes = ({ asks }: Waiter): boolean => asks.some((ask) => ask.gate === gate);
  return (starting.find(takes) as Waiter).id;
}

const slotsAt = (gate: string, units: readonly Waiter[]): number =>
  units.reduce((sum, { asks }) => sum + (asks.find((ask) => ask.gate === gate)?.slots ?? 0), 0);

/** The limit with which it starts, together with all else that is named. Where not all are seen who stand ahead, nobody knows it. */
function roomy(reason: Reason, rooms: RaisedLimits, line: readonly Waiter[]): Reason {
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
