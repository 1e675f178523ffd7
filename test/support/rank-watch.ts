// Watches a worker's passes: compares what each pass claims with what was ahead of it in line.

import type { Store } from "../../src/index.ts";
import type { LaneSpec } from "../../src/store/lane.ts";
import { asksOf } from "../../src/store/lane.ts";
import type { Moves, View } from "../../src/store/store.ts";

/**
 * Wraps the store and reports every pass that serves a queue although a higher-ranked one could have been
 * served.
 */
export function watchRanks(store: Store, tell: (breach: string) => void): Store {
  const pass: Store["pass"] = (scope, decide) =>
    store.pass(scope, (view) => {
      const moves = decide(view);
      for (const breach of breaches(view, moves)) tell(breach);
      return moves;
    });
  return new Proxy(store, {
    get: (target, verb: keyof Store) => {
      const own = verb === "pass" ? pass : target[verb];
      return typeof own === "function" ? own.bind(target) : own;
    },
  });
}

function breaches(view: View, moves: Moves): string[] {
  const claimed = new Set(moves.claim.map(({ id }) => id));
  const laneOf = new Map(view.lanes.map((lane) => [lane.id, lane]));
  const taken = view.heads.flatMap(({ id, lane }) => (claimed.has(id) ? [laneOf.get(lane)] : []));
  const lowest = Math.max(0, ...taken.map((lane) => lane?.rank ?? 0));
  const held = new Map<string, number>();
  const take = ({ asks }: Pick<LaneSpec, "asks">, units: number): void => {
    for (const { gate, slots } of asksOf(asks)) held.set(gate, (held.get(gate) ?? 0) + units * slots);
  };
  for (const row of view.usage) if (row.held && !row.lost) take(row, row.units);
  for (const lane of taken) if (lane) take(lane, 1);
  const hasRoom = (key: string): boolean => {
    const limit = view.gates.find((gate) => gate.key === key)?.limit ?? 0;
    return limit === -1 || (held.get(key) ?? 0) < limit;
  };
  const isPassedOver = (lane: (typeof view.lanes)[number]): boolean =>
    lane.rank < lowest &&
    // It asks only for its queue and the cluster, and the cluster had room for one of lower rank.
    asksOf(lane.asks).length === 2 &&
    hasRoom(`queue:${lane.queue}`) &&
    view.heads.some((head) => head.lane === lane.id && !claimed.has(head.id));
  return view.lanes
    .filter(isPassedOver)
    .map(({ queue, rank }) => `rank ${lowest} was served while queue ${queue} of rank ${rank} had room`);
}
