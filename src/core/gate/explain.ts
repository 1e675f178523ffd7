/**
 * Explains why a unit does not start, as a set of hurdles whose removal starts it. It calls `admit`
 * repeatedly, each time without the hurdles found so far, until the unit is admitted. Then it puts back every
 * hurdle that was not needed. So the answer is complete (the unit starts if all of it is removed) and minimal
 * (the unit does not start if one of them is left). Of up to 5 hurdles, it is the smallest such set. Nothing
 * here knows the rules of `admit`. A limit is removed by raising it to `room`, which includes the units ahead
 * that then start too. Only all named hurdles together start the unit.
 *
 * Explaining many units of a line asks for the same worlds repeatedly, so the plans of a world are kept
 * (`worlds.ts`). A page of a line costs little more than its last unit.
 *
 * A hurdle is described as it is now: `full` means held by real holders. If there is room, but others would
 * take it first, the unit is `behind` them.
 */
import type { Snapshot, Waiter } from "./admit.ts";
import { Askers } from "./askers.ts";
import type { Gate } from "./gate.ts";
import { parseKey, pausedWith } from "./key.ts";
import { isWholeLine } from "./kind.ts";
import { inOrder } from "./order.ts";
import type { Reason } from "./reason.ts";
import { MANY } from "./reason.ts";
import type { Hurdle, RaisedLimits, WorldOutcome } from "./worlds.ts";
import { gatesAsked, isLimit, limitOf, limitsIn, pauseOf, WORKERS, Worlds } from "./worlds.ts";

/** Fronts have fronts of their own. They are followed this deep; deeper ones are only named. */
const DEEPEST = 4;
/** Up to this many hurdles, every subset is tried. With more, only the subsets that leave one out. */
const FEW = 5;

type Found = ReadonlyMap<Hurdle, Reason>;
/** The outcome for the unit, and for the units ahead of it, in a world without these hurdles. */
type Ask = (removed: Iterable<Hurdle>, limits?: RaisedLimits) => WorldOutcome;

export class Explainer {
  readonly #snapshot: Snapshot;
  readonly #line: readonly Waiter[];
  readonly #places: ReadonlyMap<string, number>;
  readonly #gates: ReadonlyMap<string, Gate>;
  readonly #askers: Askers;
  readonly #worlds: Worlds;
  readonly #known = new Map<string, readonly Reason[]>();
  readonly #told = new Map<string, readonly Reason[]>();

  /** `narrow` is for tests: the part of the line below which a gate's askers are decided by themselves. */
  constructor(snapshot: Snapshot, narrow?: number) {
    this.#snapshot = snapshot;
    this.#line = inOrder(snapshot.line);
    this.#places = new Map(this.#line.map(({ id }, index) => [id, index]));
    this.#gates = gatesAsked(snapshot.gates, this.#line);
    this.#askers = new Askers(this.#line);
    this.#worlds = new Worlds(snapshot, this.#line, [...this.#gates.values()], this.#askers, narrow);
  }

  /** Returns the reasons, or none if the unit starts in the next pass. */
  reasonsOf(id: string): readonly Reason[] {
    return this.#tell(id, 0);
  }

  /** Adds the reasons of the units in front, up to a depth that counts from the unit that was asked about. */
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

  /** The unit's own reasons, without those of its fronts. */
  #reasons(id: string): readonly Reason[] {
    const place = this.#places.get(id);
    const reasons = this.#known.get(id) ?? (place === undefined ? [] : this.#explain(place));
    this.#known.set(id, reasons);
    return reasons;
  }

  #explain(place: number): readonly Reason[] {
    const unit = this.#line[place] as Waiter;
    const ask = (removed: Iterable<Hurdle>, limits?: RaisedLimits): WorldOutcome =>
      this.#worlds.outcome(place, new Set(removed), limits);
    const starts = (removed: readonly Hurdle[], limits?: RaisedLimits): boolean =>
      !ask(removed, limits).reasons;
    const found = this.#search(unit, ask);
    const gone = least([...found.keys()], starts);
    const isFar = gone.filter(isLimit).every((hurdle) => isBehindMany(found.get(hurdle) as Reason));
    // Raising a limit for so many units is no useful advice, so the room is not computed.
    const [needed, rooms] = isFar
      ? [gone, new Map<string, number>()]
      : this.#fitted(gone, this.#rooms(place, gone, ask), ask, starts);
    const reasons = needed.map((hurdle) => this.#roomy(found.get(hurdle) as Reason, rooms, place));
    return inOrderOf(unit, reasons);
  }

  /** Removes hurdles until none is left. Each turn must remove at least one, so the search ends. */
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
      // A broken rule of `admit` becomes an error here, not a process that never answers.
      if (found.size === removed.size)
        throw new Error(`removing ${[...removed].join(", ")} does not remove it`);
    }
  }

  /** A gate can be paused and also have a limit of 0. Once the pause is removed, the limit is the hurdle. */
  #hurdleOf(reason: Reason, removed: ReadonlySet<Hurdle>): Hurdle {
    if (!("gate" in reason)) return WORKERS;
    const pause = pauseOf(reason.gate);
    const isPaused = reason.kind === "paused" && this.#gates.get(reason.gate)?.paused;
    return isPaused && !removed.has(pause) ? pause : limitOf(reason.gate);
  }

  /** Restates a reason from a walk in which some units had already started, as things are now. */
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
    const front = reason.kind === "behind" ? reason.front.unit : (outcome.firstTaking(gate) as Waiter).id;
    return { kind: "behind", gate, limit, held, asked, ahead, front: { unit: front, reasons: [] } };
  }

  /** Workers may have free slots that the units ahead would take. */
  #busy(unit: Waiter, reason: Extract<Reason, { kind: "busy" }>): Reason {
    const serving = (unit.workers ?? []).flatMap((index) => this.#snapshot.workers?.[index] ?? []);
    const free = serving.reduce((sum, { slots, used }) => sum + Math.max(0, slots - used), 0);
    return free > 0 ? { ...reason, free } : reason;
  }

  /** For each gate, the lowest limit with room for the unit and for the units ahead that then start. */
  #rooms(place: number, needed: readonly Hurdle[], ask: Ask): RaisedLimits {
    if (!needed.some(isLimit)) return new Map();
    const exact = this.#roomFor(needed, ask(needed).slotsTaken);
    const suffices = !ask(needed, exact).reasons;
    // Units that wait in a strict line also keep room for themselves.
    return suffices ? exact : this.#roomFor(needed, (gate) => this.#askers.slotsBefore(gate, place + 1));
  }

  /**
   * A limit that is raised, rather than removed, admits fewer of the units ahead, so fewer hurdles may
   * remain. While fewer hurdles suffice, only those are named.
   */
  #fitted(
    needed: readonly Hurdle[],
    rooms: RaisedLimits,
    ask: Ask,
    starts: (removed: readonly Hurdle[], limits: RaisedLimits) => boolean,
  ): readonly [readonly Hurdle[], RaisedLimits] {
    const part = least(needed, (some) => starts(some, rooms));
    const exact = this.#roomFor(part, ask(part, rooms).slotsTaken);
    const isLess = [...exact].some(([gate, limit]) => limit < (rooms.get(gate) as number));
    if (isLess && starts(part, exact)) return this.#fitted(part, exact, ask, starts);
    return [part, rooms];
  }

  #roomFor(needed: readonly Hurdle[], slotsAt: (gate: string) => number): RaisedLimits {
    return new Map(
      limitsIn(needed).map((gate) => [gate, (this.#gates.get(gate)?.held ?? 0) + slotsAt(gate)]),
    );
  }

  /**
   * Adds the limit with which the unit starts, together with everything else that is named. The limit is
   * unknown if not all units ahead were seen.
   */
  #roomy(reason: Reason, rooms: RaisedLimits, place: number): Reason {
    const room = "gate" in reason ? rooms.get(reason.gate) : undefined;
    if (room === undefined || !("gate" in reason) || (reason.kind === "paused" && !reason.zero))
      return reason;
    const seen = this.#askers.before(reason.gate, place + 1);
    const isCut = "ahead" in reason && seen <= reason.ahead;
    return isCut ? reason : ({ ...reason, room } as Reason);
  }
}

export function explain(snapshot: Snapshot, id: string): readonly Reason[] {
  return new Explainer(snapshot).reasonsOf(id);
}

/**
 * A subset of these hurdles whose removal suffices. Removing all of them does. Of a few hurdles, it is the
 * smallest such subset; of many, a subset from which none can be left out.
 */
function least(hurdles: readonly Hurdle[], suffice: (part: readonly Hurdle[]) => boolean): readonly Hurdle[] {
  if (hurdles.length <= 1) return hurdles;
  if (hurdles.length <= FEW) return parts(hurdles).find((part) => suffice(part)) ?? hurdles;
  const fewer = hurdles.map((one) => hurdles.filter((other) => other !== one)).find((part) => suffice(part));
  return fewer ? least(fewer, suffice) : hurdles;
}

/** Every proper subset that is not empty, smaller ones first. */
function parts(hurdles: readonly Hurdle[]): Hurdle[][] {
  const all = Array.from({ length: 2 ** hurdles.length - 2 }, (_, bits) =>
    hurdles.filter((_hurdle, index) => (bits + 1) & (1 << index)),
  );
  return all.sort((a, b) => a.length - b.length);
}

const isBehindMany = (reason: Reason): boolean => "ahead" in reason && reason.ahead > MANY;

/**
 * The more units usually ask for a gate, the later. Reasons about workers come last, and otherwise the order is
 * that of the unit's asks. `in-turn.ts` knows the units that really compete.
 */
function inOrderOf({ asks }: Waiter, reasons: readonly Reason[]): Reason[] {
  const place = (reason: Reason): number => {
    if (!("gate" in reason)) return 3 * asks.length;
    const { gate: blocked } = reason;
    const ask = asks.findIndex(({ gate }) => gate === blocked || pausedWith(gate) === blocked);
    return isWholeLine(blocked) ? (parseKey(blocked).name === "" ? 2 : 1) * asks.length + ask : ask;
  };
  return [...reasons].sort((a, b) => place(a) - place(b));
}
