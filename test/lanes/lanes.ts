// Hundreds of lanes on one store, with shared gates and own gates of every kind.

import fc from "fast-check";
import { expect, test } from "vitest";
import { bornAs } from "../../src/core/gate/kind.ts";
import type { Store } from "../../src/store/store.ts";
import type { Gated, Laned, Seated } from "./player.ts";
import { Player, QUEUES } from "./player.ts";

const SHARED = ["tag:shared", "tag:other", "mutex:shared", "pool:shared", "pool:other"] as const;
const OWN = ["tag:own=", "pool:own=", "mutex:own/"] as const;

interface Size {
  readonly lanes: number;
  /**
   * The fraction of running units that end at a time. One by one takes longest, and very long on a server.
   */
  readonly parts?: readonly number[];
}

const PARTS = [0, 0.3, 1];

interface World {
  readonly gates: readonly Gated[];
  readonly lanes: readonly Laned[];
  readonly late: readonly Laned[];
  readonly seats: readonly Seated[];
  readonly part: number;
  /** True if polls happen in between. */
  readonly polls: boolean;
  /** A limit that is raised meanwhile. */
  readonly raise: Gated;
}

const asked = fc.constantFrom(0, 0, 0, 1, 1, 2);
const lane = (index: number): fc.Arbitrary<Laned> =>
  fc
    .tuple(
      fc.tuple(asked, asked, fc.constantFrom(0, 0, 0, 1), asked, asked),
      fc.constantFrom(...OWN, undefined),
      fc.constantFrom(0, 0, 0, 1),
      fc.constantFrom(0, 0, 0, 5, 9),
      fc.constantFrom(1, 1, 1, 2, 5),
    )
    .map(([slots, own, queue, priority, units]) => ({
      asks: Object.fromEntries([
        ...SHARED.flatMap((key, at) => ((slots[at] as number) > 0 ? [[key, slots[at]]] : [])),
        ...(own === undefined ? [] : [[`${own}${index}`, 1]]),
      ]),
      queue,
      priority,
      units,
    }));

const lanesFrom = (from: number, least: number, most: number): fc.Arbitrary<Laned[]> =>
  fc
    .integer({ min: least, max: most })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => lane(from + index))));

const limits = (keys: readonly string[]): fc.Arbitrary<Gated[]> =>
  fc.tuple(...keys.map((key) => fc.constantFrom(2, 2, 3, 5).map((limit): Gated => ({ key, limit }))));

const worlds = ({ lanes: most, parts = PARTS }: Size): fc.Arbitrary<World> =>
  fc
    .tuple(
      limits(SHARED),
      fc.constantFrom(-1, -1, 3),
      fc.constantFrom(-1, 4),
      lanesFrom(0, 60, most),
      lanesFrom(1_000, 0, 60),
      fc.array(
        fc.record({
          slots: fc.constantFrom(2, 8, 100),
          serves: fc.constantFrom("both", "both", "first", "second"),
        }),
        { minLength: 1, maxLength: 3 },
      ),
      fc.constantFrom(...parts),
      fc.boolean(),
      fc.record({ key: fc.constantFrom(...SHARED), limit: fc.constantFrom(-1, 6) }),
    )
    .map(([shared, queue, own, lanes, late, seats, part, polls, raise]) => ({
      gates: [
        ...shared,
        { key: "tag:own=*", limit: own },
        { key: "pool:own=*", limit: 1 },
        { key: "queue:q0", limit: queue },
      ],
      lanes,
      late,
      // The first claimer serves both queues, so every lane is served.
      seats: [{ slots: 8, serves: "both" }, ...seats] as Seated[],
      part,
      polls,
      raise,
    }));

/** The most passes per unit claimed and ended, on average, however many lanes wait. */
const PASSES_A_UNIT = 12;

export function manyLanes(open: () => Promise<Store>, size: Size & { runs: number }): void {
  test(`everybody who can start does, no limit is exceeded, and no pass is made for nothing (${size.runs} worlds)`, {
    timeout: 600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(worlds(size), async (world) => {
        const store = await open();
        try {
          await play(store, world);
        } finally {
          await store.close();
        }
      }),
      { numRuns: size.runs, endOnFailure: true },
    );
  });
}

async function play(store: Store, { gates, lanes, late, seats, part, polls, raise }: World): Promise<void> {
  await store.declare({
    queues: QUEUES.map((name, index) => ({ name, rank: 1 + index })),
    gates: gates.map(({ key, limit }) => ({ key, limit, line: bornAs(key).line })),
  });
  const player = new Player(store);
  await player.sit(seats);
  await player.enqueue(lanes);
  let polled = 0;
  for (let round = 0; player.left > 0; round += 1) {
    await player.rest();
    await player.check();
    if (round === 5)
      await store.changeLimit({ key: raise.key, to: "value", limit: raise.limit, by: "somebody" });
    if (round === 5 || (polls && round % 4 === 0)) {
      const before = player.passes;
      await player.poll();
      await player.rest();
      polled += player.passes - before;
      await player.check();
    }
    if (round === 3) await player.enqueue(late);
    player.finish(part);
  }
  await player.rest();
  const units = player.succeeded;
  const few = seats.length * (lanes.length + late.length);
  expect(player.passes - polled).toBeLessThan(100 + PASSES_A_UNIT * seats.length * units + few);
}
