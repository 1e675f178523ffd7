/**
 * The order in which the hurdles of a unit are removed one by one. The unit cannot start before the last of
 * them is gone. Until then, other units may take what the removal of the first ones frees. These units are its
 * rivals.
 *
 * So the last hurdle must be one that stops every rival too: while it is there, no rival can start. It may be
 * a pool that each of them asks for, a worker that is missing for each of them, or the cluster cap. The other
 * hurdles can then be removed in any order. If no hurdle stops every rival, then no order is sure. The reasons
 * say so (`contested`).
 *
 * A unit in line at a mutex keeps its place there while only pools and mutexes are in its way. Rivals that
 * wait only for that mutex do no harm then, so pools come last.
 */
import type { Snapshot, Waiter } from "./admit.ts";
import { BYPASS, Overtakes } from "./bypass.ts";
import type { Ask, Gate } from "./gate.ts";
import { lineOf, obstacle, UNLIMITED } from "./gate.ts";
import { parseKey, pausedWith } from "./key.ts";
import { isWholeLine } from "./kind.ts";
import { compare } from "./order.ts";
import type { Contested, Reason } from "./reason.ts";
import { isMutex } from "./reason.ts";

/** A waiting unit of any place in line. One stands for all units with the same asks and the same workers. */
export type Rival = Pick<Waiter, "asks" | "workers">;

/** The reasons of this unit, in the order in which it is safest to remove them. */
export function inTurn(
  snapshot: Snapshot,
  id: string,
  reasons: readonly Reason[],
  rivals: readonly Rival[],
): readonly Reason[] {
  const unit = snapshot.line.find((one) => one.id === id);
  if (!unit || reasons.length < 2) return reasons;
  return new Turns(snapshot, unit, reasons).sort([...rivals, ...unseen(unit)]);
}

/** Units that could arrive at any moment: they ask only for what most units ask for. */
const unseen = ({ asks, workers }: Waiter): Rival[] =>
  asks
    .filter(({ gate }) => isWholeLine(gate) && !parseKey(gate).name)
    .map((ask) => ({ asks: [ask], ...(workers ? { workers } : {}) }));

class Turns {
  readonly #unit: Waiter;
  readonly #reasons: readonly Reason[];
  /** The units ahead of it, as far as the snapshot shows them. */
  readonly #ahead: readonly Waiter[];
  readonly #gates: ReadonlyMap<string, Gate>;
  readonly #free: ReadonlySet<number>;

  /** True if a unit in line has been overtaken too often or for too long, and reserves slots of its pools. */
  readonly #isReserved: boolean;

  constructor(
    { now, gates, line, workers = [], bypass = BYPASS }: Snapshot,
    unit: Waiter,
    reasons: readonly Reason[],
  ) {
    const overtakes = new Overtakes(bypass, now);
    this.#isReserved = line.some(({ id, mark }) => mark?.unit === id && overtakes.isOver(mark));
    this.#unit = unit;
    this.#reasons = reasons;
    this.#ahead = line.filter((one) => compare(one, unit) < 0);
    this.#gates = new Map([...gates].map((gate) => [gate.key, gate]));
    this.#free = new Set(workers.flatMap(({ slots, used }, index) => (slots > used ? [index] : [])));
  }

  sort(all: readonly Rival[]): readonly Reason[] {
    const rivals = all.filter((rival) => !this.#isAfter(rival) && !this.#isStuck(rival));
    const forced = this.#reasons.filter((reason) => this.#needsTheOthers(reason));
    let best: { order: readonly Reason[]; harm: number } | undefined;
    for (const last of (forced.length > 0 ? forced : this.#reasons).toReversed()) {
      const order = this.#orderTo(last, forced);
      const harm = rivals.filter((rival) => this.#doesHarm(rival, order)).length;
      if (!best || harm < best.harm) best = { order, harm };
    }
    const { order, harm } = best as { order: readonly Reason[]; harm: number };
    if (harm === 0) return order;
    const contested = this.#shelter(rivals);
    return order.map(
      (reason, index): Reason => (index < order.length - 1 ? { ...reason, contested } : reason),
    );
  }

  /** Any order will do for the others, but places at mutexes are kept only while nothing but pools follows. */
  #orderTo(last: Reason, forced: readonly Reason[]): readonly Reason[] {
    const turn = (reason: Reason): number => {
      if (reason === last) return 4;
      if (!("gate" in reason)) return -1;
      if (forced.includes(reason)) return 3;
      if (!this.#isInLine(last) || !this.#isInLine(reason)) return 0;
      return this.#lineAt(reason) === "strict" ? 1 : 2;
    };
    return [...this.#reasons].sort((a, b) => turn(a) - turn(b));
  }

  /** True if this rival may start before the last hurdle is gone, and take slots that the unit needs. */
  #doesHarm(rival: Rival, order: readonly Reason[]): boolean {
    const last = order.at(-1) as Reason;
    if (this.#stops(last, rival)) return false;
    if (this.#isHeldBack(rival)) return true;
    return order
      .slice(0, -1)
      .some((reason, index) => this.#isMet(reason, rival) && !this.#isKept(order.slice(index)));
  }

  /**
   * True if the unit is the first in line at the first of these hurdles. Once this one is gone, the unit keeps
   * its place there until all of them are gone.
   */
  #isKept(rest: readonly Reason[]): boolean {
    const [reason] = rest;
    if (reason?.kind !== "full" && reason?.kind !== "behind") return false;
    const isFirst = reason.ahead === 0 && this.#ahead.every(({ asks }) => slotsAt(asks, reason.gate) === 0);
    return isFirst && this.#lineAt(reason) === "strict" && rest.every((one) => this.#isInLine(one));
  }

  /**
   * True if only a kept place holds the rival back, at a gate that is no hurdle of the unit. The place may be
   * given up meanwhile: a unit that waits for nothing but a worker keeps none.
   */
  #isHeldBack(rival: Rival): boolean {
    return rival.asks.some(({ gate: key, slots }) => {
      const gate = this.#gates.get(key);
      const isShared = slotsAt(this.#unit.asks, key) > 0;
      if (!gate || !isShared || obstacle(gate, gate.held, 0, slots)) return false;
      return (
        gate.limit !== UNLIMITED && (gate.line === "strict" || (gate.line === "bypass" && this.#isReserved))
      );
    });
  }

  /** True if this hurdle alone keeps the rival from starting. */
  #stops(reason: Reason, rival: Rival): boolean {
    if (!("gate" in reason)) return this.#isUnserved(rival);
    return rival.asks.some(({ gate: key, slots }) => {
      const gate = this.#gates.get(key);
      if (isPause(reason)) return pausedWith(key) === reason.gate && gate?.paused === true;
      if (key !== reason.gate) return false;
      return !gate || obstacle({ ...gate, paused: false }, gate.held, 0, slots) !== undefined;
    });
  }

  /** True if the rival can use what the removal of this hurdle frees. */
  #isMet(reason: Reason, rival: Rival): boolean {
    if (!("gate" in reason)) return this.#isUnserved(rival);
    return rival.asks.some(({ gate }) => (isPause(reason) ? pausedWith(gate) : gate) === reason.gate);
  }

  readonly #isUnserved = ({ workers = [] }: Rival): boolean =>
    !workers.some((index) => this.#free.has(index));

  /** True if it asks for all that the unit asks for. Behind the unit, it cannot start before the unit does. */
  #isAfter(rival: Rival): boolean {
    const { workers = [] } = rival;
    if (this.#ahead.some((one) => this.#asksAsMuch(one) && !this.#endsFirst(one))) return false;
    const isServedAlike = String(workers) === String(this.#unit.workers ?? []);
    return isServedAlike && this.#asksAsMuch(rival);
  }

  /** True if the unit waits for its end, at a mutex. */
  #endsFirst({ asks }: Rival): boolean {
    const isHurdle = (gate: string): boolean =>
      this.#reasons.some((reason) => "gate" in reason && reason.gate === gate);
    return asks.some(({ gate }) => isMutex(gate) && isHurdle(gate));
  }

  readonly #asksAsMuch = ({ asks }: Rival): boolean =>
    this.#unit.asks.every(({ gate, slots }) => slotsAt(asks, gate) >= slots);

  /** True if something that does not pass by itself, and is no hurdle of the unit, keeps the rival waiting. */
  #isStuck(rival: Rival): boolean {
    const gone = new Set(this.#reasons.map((reason) => ("gate" in reason ? reason.gate : "")));
    const isShut = ({ gate: key, slots }: Ask): boolean => {
      if (gone.has(key) || gone.has(pausedWith(key))) return false;
      const gate = this.#gates.get(key);
      const what = gate ? obstacle(gate, gate.held, 0, slots) : undefined;
      return what === "unset" || what === "paused" || what === "never";
    };
    return rival.asks.some(isShut) || (rival.workers?.length === 0 && !gone.has(""));
  }

  /** Full or behind others at a gate that is not passed over: the unit keeps its places elsewhere. */
  #isInLine(reason: Reason): boolean {
    return (reason.kind === "full" || reason.kind === "behind") && this.#lineAt(reason) !== "skip";
  }

  /** The line in which the unit itself waits there. */
  #lineAt(reason: Reason): Gate["line"] {
    if (!("gate" in reason)) return "skip";
    const gate = this.#gates.get(reason.gate);
    return gate ? lineOf(this.#unit.asks.find((ask) => ask.gate === reason.gate) ?? {}, gate) : "skip";
  }

  /**
   * A mutex becomes free only once the units ahead have started and ended. If one of them waits for another
   * hurdle of this unit, that hurdle has to go first.
   */
  #needsTheOthers(reason: Reason): boolean {
    if ((reason.kind !== "full" && reason.kind !== "behind") || !isMutex(reason.gate)) return false;
    const others = this.#reasons.filter((other) => other !== reason);
    return this.#ahead.some(
      (one) =>
        one.asks.some(({ gate }) => gate === reason.gate) && others.some((other) => this.#stops(other, one)),
    );
  }

  /** While its queue is paused, no rival of the same queue starts. If there are others, nothing is sure. */
  #shelter(rivals: readonly Rival[]): Contested {
    const pause = this.#unit.asks.find(({ gate }) => parseKey(gate).kind === "queue")?.gate;
    const isHurdle = this.#reasons.some((reason) => "gate" in reason && reason.gate === pause);
    if (pause === undefined || isHurdle) return {};
    const outside = rivals.filter(({ asks }) => !asks.some(({ gate }) => gate === pause));
    return outside.some((rival) => this.#reasons.some((reason) => this.#isMet(reason, rival)))
      ? {}
      : { pause };
  }
}

const slotsAt = (asks: readonly Ask[], key: string): number =>
  asks.find(({ gate }) => gate === key)?.slots ?? 0;

/** A pause, not a limit of 0. */
const isPause = (reason: Reason): boolean => reason.kind === "paused" && !reason.zero;
