/**
 * `admit` decides a whole line against one snapshot, and explains the result. The pass, the run queue and the
 * answer to "why does it wait?" all call this one function.
 *
 * It walks the line once, in total order. A unit takes everything it asks for or nothing. A unit that has to
 * wait may reserve slots: at its strict gates if its skip gates have room, and at its pools once it was
 * overtaken too often or for too long. Units behind it cannot take reserved slots. The oldest reserving unit
 * is first at each of its gates, so two reserving units never wait for each other.
 *
 * A unit stands in the line of its pools even if one of its skip gates is full. Otherwise a unit that needs a
 * slot of its queue and slots of a pool would starve, because they come free at different moments. So it
 * gathers the pool's slots first, and keeps them until its queue has a slot. The price is that gathered slots
 * may be idle for one turn of the queue. They are not idle for many turns: a unit gathers only while no unit
 * ahead of it would take the queue's next slot.
 *
 * A unit may ask at a strict gate with the line "skip". It reserves nothing there. While this ask is in its way, it
 * stands in no strict line at all, so it holds nobody back at its other locks.
 *
 * A unit that waits for a gate that is paused, unset or smaller than its ask stands in no line. No free slot
 * could end its wait, so it holds no unit back.
 */
import type { Bypass } from "./bypass.ts";
import { BYPASS, Overtakes } from "./bypass.ts";
import type { Entry } from "./door.ts";
import { Doors } from "./door.ts";
import type { Gate, Line } from "./gate.ts";
import { lineOf, obstacle } from "./gate.ts";
import type { Place } from "./order.ts";
import { compare, inOrder } from "./order.ts";
import type { Reason } from "./reason.ts";
import type { Mark, Waiter } from "./waiter.ts";
import type { GateWorker, Slots } from "./workers.ts";
import { slotsOf } from "./workers.ts";

export type { Bypass, Mark, Waiter };
export { BYPASS };

export interface Snapshot {
  readonly now: number;
  readonly gates: Iterable<Gate>;
  readonly line: readonly Waiter[];
  readonly workers?: readonly GateWorker[];
  /** Index of the claiming worker. Absent when a wait is only explained. */
  readonly me?: number;
  /** The snapshot is incomplete from this place on, so nothing at or behind it is decided. */
  readonly horizon?: Place | undefined;
  readonly bypass?: Bypass;
  /** The tasks that a worker of each app runs. They are used only to explain, never to decide. */
  readonly apps?: readonly { readonly app: string; readonly tasks: readonly string[] }[];
}

export interface Plan {
  /** Admitted units, in order. If a worker is claiming, only the units that it takes. */
  readonly admitted: readonly Waiter[];
  /** Units that could start now on another worker. Their slots are left to it. */
  readonly left: readonly Waiter[];
  /** All other decided units, with their obstacles. */
  readonly waiting: ReadonlyMap<string, readonly Reason[]>;
  /** The marks that changed, by lane. */
  readonly marks: ReadonlyMap<string, Mark>;
  /** Slots held per gate once the plan is carried out, without those left to other workers. */
  readonly held: ReadonlyMap<string, number>;
  /** Slots that are then neither held nor reserved. Some of them may be left to other workers. */
  readonly free: ReadonlyMap<string, number>;
  /** Gates at which a unit was not decided, because units that are not shown may be ahead of it. */
  readonly unseen: ReadonlySet<string>;
  /** There may be more to admit than this snapshot shows, or than the claimer may take at once. */
  readonly more: boolean;
  /**
   * Some units were left to other workers only because the claimer took its share of this pass. It may look
   * again in a moment.
   */
  readonly postponed: boolean;
}

interface Reservation {
  readonly at: readonly Entry[];
  /** Gates that had room for the unit. The reservation stands only if they still have it. */
  readonly needs: readonly Entry[];
}

export function admit(snapshot: Snapshot): Plan {
  return new Walk(snapshot).run();
}

class Walk {
  readonly #snapshot: Snapshot;
  readonly #doors: Doors;
  readonly #slots: Slots | undefined;
  readonly #overtakes: Overtakes;
  readonly #headsSeen = new Set<string>();
  readonly #admitted: Waiter[] = [];
  readonly #left: Waiter[] = [];
  readonly #waiting = new Map<string, readonly Reason[]>();
  readonly #reserved: Reservation[] = [];
  readonly #unseen = new Set<string>();
  #more = false;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
    this.#doors = new Doors(snapshot.gates);
    this.#slots = snapshot.workers && slotsOf(snapshot.workers, snapshot.me);
    this.#overtakes = new Overtakes(snapshot.bypass ?? BYPASS, snapshot.now);
  }

  run(): Plan {
    const { horizon } = this.#snapshot;
    for (const unit of inOrder(this.#snapshot.line)) {
      if (horizon && compare(unit, horizon) >= 0) {
        this.#more = true;
        break;
      }
      if (!this.#decide(unit)) break;
    }
    return {
      admitted: this.#admitted,
      left: this.#left,
      waiting: this.#waiting,
      marks: this.#overtakes.marks(),
      held: this.#doors.taken(),
      free: this.#doors.free(),
      unseen: this.#unseen,
      more:
        this.#more || this.#isOutdated() || (this.#slots?.postponed === "own" && this.#admitted.length > 0),
      postponed: this.#slots?.postponed === "others",
    };
  }

  /** False if the walk must end here, because a unit that the snapshot does not show could start now. */
  #decide(unit: Waiter): boolean {
    const entries = this.#doors.of(unit);
    const hurdles = entries.filter(({ what }) => what);
    if (hurdles.length > 0) {
      if (!unit.frontier) this.#waiting.set(unit.id, this.#reasons(unit, hurdles));
      this.#standInLine(unit, entries, hurdles);
      return true;
    }
    const taker = this.#slots ? this.#slots.takerOf(unit) : "me";
    if (taker === undefined) {
      const reason = this.#slots?.refuse(unit) as Reason;
      if (!unit.frontier) this.#waiting.set(unit.id, [reason]);
      return true;
    }
    if (unit.frontier) {
      this.#more = true;
      return false;
    }
    const hidden = entries.filter(({ door }) => door.gate.hidden && compare(unit, door.gate.hidden) >= 0);
    if (hidden.length > 0) {
      for (const { ask } of hidden) this.#unseen.add(ask.gate);
      this.#keep(entries);
      return true;
    }
    this.#take(unit, entries, taker);
    return true;
  }

  #take(unit: Waiter, entries: readonly Entry[], taker: "me" | "other"): void {
    (taker === "me" ? this.#admitted : this.#left).push(unit);
    for (const { ask, door } of entries) {
      if (taker === "me") door.taken += ask.slots;
      else door.left += ask.slots;
      this.#overtakes.count(unit.id, door);
    }
  }

  /**
   * A unit that is not shown may be ahead. The next pass will see it; until then no unit behind may go first.
   */
  #keep(entries: readonly Entry[]): void {
    this.#more = true;
    for (const { ask, door } of entries) door.kept += ask.slots;
  }

  #standInLine(unit: Waiter, entries: readonly Entry[], hurdles: readonly Entry[]): void {
    for (const { door } of entries) door.waiting += 1;
    if (hurdles.some(({ what }) => what === "unset" || what === "paused" || what === "never")) return;
    if (!hurdles.some(atSkip)) this.#reserveStrict(unit, entries);
    if (!unit.frontier) this.#standAtPools(unit, entries, hurdles);
    if (hurdles.every(atSkip) && this.#isServed(unit)) {
      for (const { door } of entries.filter(atSkip)) door.awaited = true;
    }
  }

  #reserveStrict(unit: Waiter, entries: readonly Entry[]): void {
    const strict = entries.filter(atStrict);
    this.#reserve(unit, strict, entries.filter(atSkip));
    // Units behind the frontier of a lane were not counted.
    if (unit.frontier) for (const { door } of strict) door.ahead = Number.POSITIVE_INFINITY;
  }

  /** The head of a lane counts its overtakers while a pool is in its way. Over the bound, it reserves. */
  #standAtPools(unit: Waiter, entries: readonly Entry[], hurdles: readonly Entry[]): void {
    const isHead = !this.#headsSeen.has(unit.lane);
    this.#headsSeen.add(unit.lane);
    const isBlocked = hurdles.some(atPool);
    const known = unit.mark?.unit === unit.id ? unit.mark : undefined;
    // A unit keeps its gathered slots while only skip gates are in its way. If a strict gate is in its way,
    // it keeps none: strict gates already keep room for it.
    const keeps = known && hurdles.every(atSkip);
    if (!isHead || !(isBlocked || keeps)) return;
    const mark = known ?? this.#overtakes.begin(unit.lane, unit.id);
    const pools = entries.filter(atPool);
    if (!this.#overtakes.isOver(mark)) {
      if (isBlocked) this.#overtakes.watch(unit.lane, mark, pools);
    } else if (!pools.some(({ door }) => door.front) && !hurdles.some(({ door }) => door.awaited)) {
      const needs = entries.filter((entry) => !entry.what && !atPool(entry));
      this.#reserve(unit, pools, needs);
    }
  }

  #reserve(unit: Waiter, at: readonly Entry[], needs: readonly Entry[]): void {
    for (const { door, ask } of at) {
      door.ahead += ask.slots;
      door.front ??= unit;
    }
    if (at.length > 0 && needs.length > 0) this.#reserved.push({ at, needs });
  }

  #isServed({ workers = [] }: Waiter): boolean {
    return this.#slots === undefined || workers.length > 0;
  }

  /**
   * Units behind a reserving unit may fill gates that had room for it, and then it would no longer reserve.
   * The next pass decides about the units it held back. Only slots that this pass takes itself count, so the
   * passes come to an end.
   */
  #isOutdated(): boolean {
    return this.#reserved.some(
      ({ at, needs }) =>
        at.some(({ door }) => door.holdsBack) &&
        needs.some(({ ask, door }) => obstacle(door.gate, door.taken, 0, ask.slots)),
    );
  }

  #reasons(unit: Waiter, hurdles: readonly Entry[]): Reason[] {
    return hurdles.map(({ ask, door, what }): Reason => {
      const gate = ask.gate;
      const ahead = unit.ahead?.[gate] ?? door.waiting;
      if (what === "unset" || what === "paused") return { kind: what, gate, ahead };
      const limit = door.gate.limit as number;
      if (what === "never") return { kind: "never", gate, limit, asked: ask.slots };
      const held = door.taken + door.left;
      if (what === "full") return { kind: "full", gate, limit, held, asked: ask.slots, ahead };
      const front = door.front as Waiter;
      const reasons = this.#waiting.get(front.id) ?? [];
      return {
        kind: "behind",
        gate,
        limit,
        held,
        asked: ask.slots,
        ahead,
        front: { unit: front.id, reasons },
      };
    });
  }
}

/** The only place that says in which line a unit stands. */
const isAt =
  (line: Line) =>
  ({ ask, door }: Entry): boolean =>
    lineOf(ask, door.gate) === line;
const atSkip = isAt("skip");
const atStrict = isAt("strict");
const atPool = isAt("bypass");
