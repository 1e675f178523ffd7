/**
 * The schedule of faults, made from the seed alone before anything runs. It says when each fault comes, what
 * it is and how long it lasts. What it meets at that time depends on the machine.
 */
import { LEASE_MS } from "./app/limits.ts";
import type { StoreName } from "./place/place.ts";
import { Random } from "./random.ts";

export interface Measure {
  readonly kills: number;
  readonly pauses: number;
  readonly restarts: number;
  readonly cuts: number;
  readonly terms: number;
  readonly cancels: number;
}

export type Fault =
  | { readonly lane: "kill"; readonly at: number; readonly whom: "worker" | "child" | "enqueuer" }
  | {
      readonly lane: "pause";
      readonly at: number;
      readonly how: "anywhere" | "inside a pass" | "line";
      readonly ms: number;
    }
  | {
      readonly lane: "cut";
      readonly at: number;
      readonly how: "answer" | "request" | "all";
      readonly whom: "worker" | "enqueuer";
    }
  | { readonly lane: "term"; readonly at: number; readonly burst: number }
  | { readonly lane: "restart" | "cancel"; readonly at: number };

export interface Plan {
  readonly lastsMs: number;
  readonly faults: readonly Fault[];
}

/** Workers need a moment to do something worth disturbing. */
const KILLS_PER_SECOND = 0.75;
const WARM_UP_MS = 500;

export function planOf(seed: number, store: StoreName, measure: Measure): Plan {
  const hasWire = store !== "sqlite";
  const { kills, pauses, terms } = measure;
  const cuts = hasWire ? measure.cuts : 0;
  const restarts = hasWire ? measure.restarts : 0;
  const seconds = Math.max(12, kills / KILLS_PER_SECOND, pauses * 3, terms * 2, cuts, restarts * 12);
  const lastsMs = WARM_UP_MS + seconds * 1_000;
  const root = new Random(seed).fork(store);
  const lane = <T>(
    name: string,
    count: number,
    make: (random: Random, index: number) => T,
  ): (T & { at: number })[] => {
    const random = root.fork(name);
    return spread(random, count, lastsMs).map((at, index) => ({ ...make(random, index), at }));
  };
  const faults: Fault[] = [
    ...lane("kill", kills, (random) => {
      const at = random.next();
      return {
        lane: "kill" as const,
        whom: at < 0.06 ? ("enqueuer" as const) : at < 0.5 ? ("child" as const) : ("worker" as const),
      };
    }),
    ...lane("pause", pauses, (random, index) => ({
      lane: "pause" as const,
      how: (["inside a pass", "anywhere", hasWire ? "line" : "anywhere", "anywhere"] as const)[
        index % 4
      ] as "anywhere",
      ms: Math.round(LEASE_MS + random.between(1_500, 3_000)),
    })),
    ...lane("cut", cuts, (random, index) => ({
      lane: "cut" as const,
      how: index % 2 === 0 ? ("answer" as const) : ("request" as const),
      whom: random.chance(0.25) ? ("enqueuer" as const) : ("worker" as const),
    })),
    // In addition to the cuts at a commit: all connections of a process at once.
    ...lane("cut all", Math.ceil(cuts / 5), () => ({
      lane: "cut" as const,
      how: "all" as const,
      whom: "worker" as const,
    })),
    ...bursts(root.fork("term"), terms, lastsMs),
    ...lane("cancel", measure.cancels, () => ({ lane: "cancel" as const })),
    ...lane("restart", restarts, () => ({ lane: "restart" as const })),
  ];
  return { lastsMs, faults: faults.sort((a, b) => a.at - b.at) };
}

/** Groups the stops into bursts of workers that are told at the same moment. */
function bursts(random: Random, terms: number, lastsMs: number): Fault[] {
  const sizes: number[] = [];
  for (let left = terms; left > 0; left -= sizes.at(-1) as number)
    sizes.push(Math.min(left, 1 + random.below(3)));
  return spread(random, sizes.length, lastsMs).map((at, index) => ({
    lane: "term",
    at,
    burst: sizes[index] as number,
  }));
}

/** One random time in each of `count` equal parts of the duration. */
function spread(random: Random, count: number, lastsMs: number): number[] {
  const part = (lastsMs - WARM_UP_MS) / Math.max(1, count);
  return Array.from({ length: count }, (_, index) =>
    Math.round(WARM_UP_MS + part * (index + random.next() * 0.8)),
  );
}
