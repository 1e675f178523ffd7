/** The work to enqueue, drawn from a seed, so that two runs with the same seed enqueue the same. */
import type { Random } from "../random.ts";

export interface Order {
  readonly name: string;
  readonly input: { readonly ms: number; readonly deaf?: boolean; readonly fails?: number };
  readonly key: string | null;
  readonly delay: string | null;
  readonly priority: number;
}

/** `all` is a bit of everything. The others are for schedules aimed at one thing. */
export type Mix = "all" | "quick" | "steady" | "long" | "runs";

type Parts = readonly (readonly [name: string, part: number, low: number, high: number])[];

const ALL: Parts = [
  ["quick", 0.385, 5, 60],
  ["light", 0.18, 50, 900],
  ["heavy", 0.14, 80, 500],
  ["single", 0.12, 20, 200],
  ["flaky", 0.09, 5, 80],
  ["fleeting", 0.06, 20, 150],
  ["blocking", 0.005, 6_200, 6_600],
  ["long", 0.02, 4_500, 6_000],
];

const MIXES: Readonly<Record<Mix, Parts>> = {
  all: ALL,
  quick: [["quick", 1, 1, 25]],
  steady: [
    ["light", 0.7, 300, 2_000],
    ["quick", 0.3, 100, 900],
  ],
  long: [["long", 1, 4_000, 9_000]],
  runs: [["quick", 1, 1, 25]],
};

export function draw(random: Random, keys: string, mix: Mix = "all"): Order {
  let at = random.next();
  const [name, , low, high] = MIXES[mix].find(([, part]) => {
    at -= part;
    return at < 0;
  }) ?? ["quick", 0, 5, 60];
  const deaf = random.chance(0.4);
  const fails = name === "flaky" ? random.below(4) : 0;
  const keyed = random.chance(0.5);
  const number = random.below(2 ** 30);
  return {
    name,
    input: {
      ms: Math.round(random.between(low, high)),
      ...(deaf ? { deaf } : {}),
      ...(fails ? { fails } : {}),
    },
    key: keyed ? `${keys}-${number}` : null,
    delay: random.chance(0.08) ? `${50 + random.below(900)}ms` : null,
    // Deaf code must run again soon after its holder was lost: only then can the old holder meet the new one.
    priority: deaf ? 9 : random.below(3),
  };
}

/** A run to be submitted. */
export interface RunOrder {
  readonly workflow: string;
  readonly input: { readonly errand: Order["input"]; readonly items: readonly Order["input"][] };
  readonly key: string;
  readonly tenant: string;
}

const TENANTS = ["acme", "bolt", "corn"];

/** Enqueued before anything else, so that every limit gets full once. These tasks fill the cluster cap. */
export const openingTasks = (): Order[] =>
  Array.from({ length: 16 }, () => ({
    name: "light",
    input: { ms: 400 },
    key: null,
    delay: null,
    priority: 0,
  }));

/** The runs to the same end: several of one tenant, with a list longer than its window, and both mutexes. */
export const openingRuns = (keys: string): RunOrder[] =>
  ["diamond", "solo", "diamond", "diamond", "solo"].map((workflow, index) => ({
    workflow,
    input: { errand: { ms: 20 }, items: Array.from({ length: 5 }, () => ({ ms: 60 })) },
    key: `${keys}-opening-${index}`,
    tenant: index < 3 ? "acme" : "bolt",
  }));

export function drawRun(random: Random, keys: string): RunOrder {
  const errand = (most: number) => ({ ms: Math.round(random.between(5, most)) });
  return {
    workflow: random.chance(0.75) ? "diamond" : "solo",
    input: { errand: errand(150), items: Array.from({ length: 3 + random.below(6) }, () => errand(120)) },
    key: `${keys}-${random.below(2 ** 30)}`,
    tenant: random.pick(TENANTS),
  };
}
