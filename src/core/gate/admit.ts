/**
 * `admit` decides a whole line against one snapshot, and explains it: the claim pass, the run queue, the lock
 * manager and the answer to "why is it waiting?" all call this one function.
 *
 * It walks the line once, in total order. A unit takes everything it asks for or nothing. One that has to wait
 * may reserve: at its strict gates when its skip gates have room, at its pools once it was overtaken too often or
 * too long. What is reserved is out of reach for those behind. The oldest reserving unit is first at each of its
 * gates, so two reserving units never wait for each other.
 *
 * A unit that waits for a gate that is paused, unset or smaller than its ask stands in no line: no slot that
 * comes free could end its wait, so nobody is held back for it.
 */
import type { Ask, Gate, Line, Obstacle } from "./gate.ts";
import { obstacle } from "./gate.ts";
import type { Place } from "./order.ts";
import { compare, inOrder } from "./order.ts";
import type { Reason } from "./reason.ts";
import type { Slots, Worker } from "./workers.ts";
import { slotsOf } from "./workers.ts";

/** How often the head of a lane was overtaken at a pool, and since when; it lapses when another unit is head. */
export interface Mark {
  readonly unit: string;
  readonly passed: number;
  readonly since: number;
}

/** A unit that asks for admission. */
export interface Waiter extends Place {
  readonly lane: string;
  readonly asks: readonly Ask[];
  /** The mark of its lane; counts only when it names this unit. */
  readonly mark?: Mark | undefined;
  /** The last unit the snapshot knows of a longer lane: never admitted now, but nobody passes it unseen. */
  readonly frontier?: boolean;
  /** Which of the snapshot's workers serve it; absent where workers play no part. */
  readonly workers?: readonly number[];
  readonly queue?: string;
  readonly name?: string;
  /** Waiting units ahead of it per gate, where the snapshot does not hold them all. */
  readonly ahead?: Readonly<Record<string, number>>;
}

export interface Bypass {
  readonly passes: number;
  readonly ms: number;
}

export const BYPASS: Bypass = { passes: 100, ms: 60_000 };

export interface Snapshot {
  readonly now: number;
  readonly gates: Iterable<Gate>;
  readonly line: readonly Waiter[];
  readonly workers?: readonly Worker[];
  /** Index of the worker that is claiming; nobody when a wait is only explained. */
  readonly me?: number;
  /** The snapshot is not complete from here on, so nothing at or behind this place is decided. */
  readonly horizon?: Place | undefined;
  readonly bypass?: Bypass;
}

export interface Plan {
  /** Units admitted, in order; with a claimer, those that it takes. */
  readonly admitted: readonly Waiter[];
  /** Units that could start now on another worker: their slots are left to it. */
  readonly left: readonly Waiter[];
  /** Everybody else that was decided, with what is in the way. */
  readonly waiting: ReadonlyMap<string, readonly Reason[]>;
  /** New marks by lane, where they changed. */
  readonly marks: ReadonlyMap<string, Mark>;
  /** Slots held per gate once the plan is carried out, without what was left to others. */
  readonly held: ReadonlyMap<string, number>;
  /** There may be more to admit than this snapshot could show. */
  readonly more: boolean;
}

/** The head of a lane while those behind it take from its pools. */
interface Watch {
  readonly lane: string;
  readonly mark: Mark;
  readonly isNew: boolean;
  overtakes: number;
  /** The last that overtook it: a unit that takes from several of its pools counts once. */
  last: Waiter | undefined;
}

/** A gate while the line walks past it. */
interface Door {
  readonly gate: Gate;
  taken: number;
  left: number;
  ahead: number;
  waiting: number;
  front: Waiter | undefined;
  reserved: boolean;
  readonly watching: Watch[];
}

interface Hurdle {
  readonly ask: Ask;
  readonly door: Door;
  readonly what: Obstacle;
}

export function admit(snapshot: Snapshot): Plan {
  return new Walk(snapshot).run();
}

class Walk {
  readonly #snapshot: Snapshot;
  readonly #doors = new Map<string, Door>();
  readonly #slots: Slots | undefined;
  readonly #bypass: Bypass;
  readonly #headsSeen = new Set<string>();
  readonly #admitted: Waiter[] = [];
  readonly #left: Waiter[] = [];
  readonly #waiting = new Map<string, readonly Reason[]>();
  readonly #watches: Watch[] = [];
  #more = false;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
    this.#bypass = snapshot.bypass ?? BYPASS;
    this.#slots = snapshot.workers && slotsOf(snapshot.workers, snapshot.me);
    for (const gate of snapshot.gates) this.#doors.set(gate.key, open(gate));
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
    const held = new Map<string, number>();
    for (const [key, door] of this.#doors) held.set(key, door.taken);
    return {
      admitted: this.#admitted,
      left: this.#left,
      waiting: this.#waiting,
      marks: this.#marks(),
      held,
      more: this.#more,
    };
  }

  /** False when the walk must end here: a unit that the snapshot cannot show could start now. */
  #decide(unit: Waiter): boolean {
    const hurdles = this.#hurdles(unit);
    if (hurdles.length > 0) {
      if (!unit.frontier) this.#waiting.set(unit.id, this.#reasons(unit, hurdles));
      this.#standInLine(unit, hurdles);
      return true;
    }
    const taker = this.#slots ? this.#slots.takerOf(unit) : "me";
    if (taker === undefined) {
      if (!unit.frontier) this.#waiting.set(unit.id, [this.#slots?.reason(unit) as Reason]);
      return true;
    }
    if (unit.frontier) {
      this.#more = true;
      return false;
    }
    this.#take(unit, taker);
    return true;
  }

  #hurdles(unit: Waiter): Hurdle[] {
    const hurdles: Hurdle[] = [];
    for (const ask of unit.asks) {
      const door = this.#doorOf(ask.gate);
      const what = obstacle(door.gate, door.taken + door.left, door.ahead, ask.slots);
      if (what) hurdles.push({ ask, door, what });
    }
    return hurdles;
  }

  #take(unit: Waiter, taker: "me" | "other"): void {
    (taker === "me" ? this.#admitted : this.#left).push(unit);
    for (const ask of unit.asks) {
      const door = this.#doorOf(ask.gate);
      if (taker === "me") door.taken += ask.slots;
      else door.left += ask.slots;
      for (const watch of door.watching) {
        if (watch.last !== unit) watch.overtakes += 1;
        watch.last = unit;
      }
    }
  }

  #standInLine(unit: Waiter, hurdles: readonly Hurdle[]): void {
    for (const ask of unit.asks) this.#doorOf(ask.gate).waiting += 1;
    if (hurdles.some(({ what }) => what === "unset" || what === "paused" || what === "never")) return;
    if (hurdles.some(({ door }) => door.gate.line === "skip")) return;
    this.#reserve(unit, "strict");
    if (unit.frontier) this.#close(unit);
    else this.#countOvertakes(unit, hurdles);
  }

  #countOvertakes(unit: Waiter, hurdles: readonly Hurdle[]): void {
    const isHead = !this.#headsSeen.has(unit.lane);
    this.#headsSeen.add(unit.lane);
    if (!isHead || !hurdles.some(({ door }) => door.gate.line === "bypass")) return;
    const known = unit.mark?.unit === unit.id;
    const mark = known ? (unit.mark as Mark) : { unit: unit.id, passed: 0, since: this.#snapshot.now };
    if (this.#isOver(mark) && this.#isFirstToReserve(unit)) this.#reserve(unit, "bypass");
    // Taking from any of its pools counts: what still had room for it now may lack it in the next pass.
    const watch: Watch = { lane: unit.lane, mark, isNew: !known, overtakes: 0, last: undefined };
    this.#watches.push(watch);
    for (const { door } of this.#doorsOf(unit, "bypass")) door.watching.push(watch);
  }

  #marks(): Map<string, Mark> {
    const marks = new Map<string, Mark>();
    for (const { lane, mark, isNew, overtakes } of this.#watches) {
      if (isNew || overtakes > 0) marks.set(lane, { ...mark, passed: mark.passed + overtakes });
    }
    return marks;
  }

  #isOver(mark: Mark): boolean {
    return mark.passed >= this.#bypass.passes || this.#snapshot.now - mark.since >= this.#bypass.ms;
  }

  #isFirstToReserve(unit: Waiter): boolean {
    return this.#doorsOf(unit, "bypass").every(({ door }) => !door.reserved);
  }

  #reserve(unit: Waiter, line: Line): void {
    for (const { door, ask } of this.#doorsOf(unit, line)) {
      door.ahead += ask.slots;
      door.front ??= unit;
      door.reserved = true;
    }
  }

  /** Behind the frontier of a lane that reserves stand units nobody counted: its strict gates are shut. */
  #close(unit: Waiter): void {
    for (const { door } of this.#doorsOf(unit, "strict")) door.ahead = Number.POSITIVE_INFINITY;
  }

  #doorsOf(unit: Waiter, line: Line): { ask: Ask; door: Door }[] {
    const found: { ask: Ask; door: Door }[] = [];
    for (const ask of unit.asks) {
      const door = this.#doorOf(ask.gate);
      if (door.gate.line === line) found.push({ ask, door });
    }
    return found;
  }

  /** A gate that the snapshot does not know has no limit yet. */
  #doorOf(key: string): Door {
    let door = this.#doors.get(key);
    if (!door) {
      door = open({ key, limit: null, paused: false, line: "skip", held: 0 });
      this.#doors.set(key, door);
    }
    return door;
  }

  #reasons(unit: Waiter, hurdles: readonly Hurdle[]): Reason[] {
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

function open(gate: Gate): Door {
  return {
    gate,
    taken: gate.held,
    left: 0,
    ahead: 0,
    waiting: 0,
    front: undefined,
    reserved: false,
    watching: [],
  };
}
