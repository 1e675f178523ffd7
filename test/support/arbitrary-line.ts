// Random gates and lines for the properties of `admit`. The numbers are small on purpose: a failure then
// involves about three units and two gates, which a person can read.

import fc from "fast-check";
import type { Bypass, Mark, Snapshot, Waiter } from "../../src/core/gate/admit.ts";
import type { Ask, Gate, Limit, Line } from "../../src/core/gate/gate.ts";
import type { Place } from "../../src/core/gate/order.ts";
import { inOrder } from "../../src/core/gate/order.ts";
import type { GateWorker } from "../../src/core/gate/workers.ts";

export interface Case extends Snapshot {
  readonly gates: readonly Gate[];
  readonly bypass: Bypass;
}

export interface Shape {
  /** True if some lanes may be longer than the snapshot shows. */
  readonly frontiers?: boolean;
  readonly workers?: boolean;
  /** True if some snapshots may be incomplete from some place on. */
  readonly horizon?: boolean;
  /** Small limits and many lanes, so that units block each other at more than one gate. */
  readonly tight?: boolean;
  /** True if some units may ask at strict gates to be passed over. */
  readonly skips?: boolean;
}

const NOW = 10_000;
const GATES = ["g0", "g1", "g2", "g3"] as const;
/** One of the bounds is reached at once, so that reserving is not rare. */
const BOUNDS: readonly Bypass[] = [
  { passes: 3, ms: 300 },
  { passes: 0, ms: 300 },
];

const limit = fc.constantFrom<Limit>(
  ...[1, 2, 3, 3, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, -1, -1],
  ...[0, null],
);
const smallLimit = fc.constantFrom<Limit>(1, 1, 2, 2, 3);
const kind = fc.constantFrom<Line>("skip", "strict", "strict", "bypass", "bypass");
const seldom = fc.nat(39).map((n) => n === 39);
const gateShape = fc.tuple(limit, kind, fc.nat(19), seldom);
const smallGateShape = fc.tuple(smallLimit, kind, fc.nat(18), fc.constant(false));
const slots = fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 4);
const smallSlots = fc.constantFrom(0, 0, 1, 1, 1, 2);
const laneShape = lanesOf(slots);
const smallLaneShape = lanesOf(smallSlots);
const unitShape = fc.tuple(fc.nat(7), fc.nat(1), fc.nat(1), fc.nat(3), fc.nat(7));
const bound = fc.constantFrom(undefined, undefined, 0, 1, 2, 3);
const workerShape = fc.tuple(fc.nat(9), fc.nat(2), bound, bound);

function lanesOf(asked: fc.Arbitrary<number>) {
  return fc.tuple(
    fc.tuple(asked, asked, asked, asked),
    fc.tuple(fc.nat(5), fc.nat(4), fc.nat(4)),
    fc.nat(7),
    fc.nat(15),
  );
}

/**
 * Snapshots in which anything may happen: unset, paused and draining gates, unknown gates, old and new marks.
 */
export function snapshots(shape: Shape = {}): fc.Arbitrary<Case> {
  const gate = shape.tight ? smallGateShape : gateShape;
  return fc
    .tuple(
      fc.tuple(gate, gate, gate, gate),
      shape.tight ? fc.constant(false) : seldom,
      shape.tight
        ? fc.array(smallLaneShape, { minLength: 4, maxLength: 8 })
        : fc.array(laneShape, { minLength: 1, maxLength: 4 }),
      fc.array(unitShape, { minLength: 2, maxLength: 12 }),
      shape.workers ? fc.array(workerShape, { maxLength: 3 }) : fc.constant([]),
      fc.tuple(fc.nat(3), fc.nat(29), fc.nat(1)),
    )
    .map(([gates, unknown, lanes, units, workers, [me, horizon, bound]]): Case => {
      const lines = gates.map(([, kind]) => kind);
      const line = lineOf(shape, lines, lanes, units, workers.length);
      const end = line[horizon];
      return {
        now: NOW,
        bypass: BOUNDS[bound] as Bypass,
        gates: gates.map(gateOf).slice(0, unknown ? 3 : 4),
        line,
        ...(shape.workers && workers.length > 0 && { workers: workers.map(workerOf) }),
        ...(shape.workers && me < workers.length && { me }),
        ...(shape.horizon && end && { horizon: placeOf(end) }),
      };
    });
}

type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never;

function gateOf([limit, line, filled, paused]: Drawn<typeof gateShape>, index: number): Gate {
  const drains = filled === 19;
  const most = Math.max(limit ?? 0, 0);
  const held = drains ? most + 1 : Math.min(filled % 4, most);
  return { key: GATES[index] as string, limit, paused, line, held };
}

function workerOf([slots, used, inAll, perQueue]: Drawn<typeof workerShape>, index: number): GateWorker {
  return { id: `w${index}`, slots, used: Math.min(used, slots), claims: { inAll, perQueue } };
}

export function placeOf({ rank, priority, at, id }: Place): Place {
  return { rank, priority, at, id };
}

/** By definition, units with the same asks are one lane. */
export function laneOf(asks: readonly Ask[]): string {
  return asks.map(({ gate, slots, line = "" }) => `${gate}:${slots}${line}`).join(" ");
}

function lineOf(
  shape: Shape,
  lines: readonly Line[],
  lanes: readonly Drawn<typeof laneShape>[],
  units: readonly Drawn<typeof unitShape>[],
  workers: number,
): Waiter[] {
  const facts = new Map<string, Drawn<typeof laneShape>>();
  const line = units.map(([which, rank, priority, at, serving], index): Waiter => {
    const lane = lanes[which % lanes.length] as Drawn<typeof laneShape>;
    const asks = lane[0].flatMap((n, i): Ask[] => {
      const skips = shape.skips && lines[i] === "strict" && lane[3] & (1 << i);
      return n > 0 ? [{ gate: GATES[i] as string, slots: n, ...(skips ? { line: "skip" } : {}) }] : [];
    });
    const key = laneOf(asks);
    if (!facts.has(key)) facts.set(key, lane);
    return {
      id: `u${index}`,
      rank: rank + 1,
      priority,
      at,
      lane: key,
      asks,
      ...(shape.workers && { workers: served(serving, workers), queue: `q${which % 2}`, name: "n" }),
    };
  });
  const found = new Map<string, Partial<Waiter>>();
  for (const [key, [, [whom, passed, age], longer]] of facts) {
    const mates = inOrder(line.filter(({ lane }) => lane === key));
    const named = whom === 1 ? "gone" : mates[Math.max(0, whom - 3)]?.id;
    const mark: Mark | undefined =
      whom > 0 && named ? { unit: named, passed, since: NOW - age * 100 } : undefined;
    for (const mate of mates) if (mark) found.set(mate.id, { mark });
    const last = mates.at(-1);
    if (last && shape.frontiers && longer === 7)
      found.set(last.id, { ...found.get(last.id), frontier: true });
  }
  return line.map((unit) => ({ ...unit, ...found.get(unit.id) }));
}

function served(bits: number, workers: number): number[] {
  return [0, 1, 2].filter((index) => index < workers && bits & (1 << index));
}

/** A repeatable random generator: each call returns a number from 0 up to 1. */
export function chance(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const copy = [...list];
  for (let last = copy.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [copy[last], copy[other]] = [copy[other] as T, copy[last] as T];
  }
  return copy;
}
