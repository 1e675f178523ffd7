/** The work to enqueue, drawn from a seed, so that two runs with the same seed enqueue the same. */
import type { Random } from "../random.ts";
import { markOf } from "./marks.ts";

export interface Order {
  readonly name: string;
  readonly input: { readonly ms: number; readonly deaf?: boolean; readonly fails?: number };
  readonly key: string | null;
  readonly delay: string | null;
  readonly priority: number;
}

/** `all` is a bit of everything. The others are for schedules aimed at one thing. */
export type Mix = "all" | "quick" | "steady" | "long" | "runs" | "solos";

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
  solos: [["quick", 1, 1, 25]],
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

type Marked = Order["input"] & { readonly mark: string };

/** A run to be submitted. Its input has the errand of each step, and of each item of its list. */
export interface RunOrder {
  readonly workflow: string;
  readonly input: Readonly<Record<string, Marked | readonly Marked[]>>;
  readonly key: string;
  readonly tenant: string;
  /** Its steps have it too. Some come first, or a slow machine would never get to them. */
  readonly priority: number;
}

const TENANTS = ["acme", "bolt", "corn"];

/**
 * Enqueued before anything else, so that every limit gets full once. These tasks fill the cluster cap and the
 * pools.
 */
export const openingTasks = (): Order[] =>
  Array.from({ length: 18 }, (_, index) => ({
    name: index % 9 === 0 ? "single" : "light",
    input: { ms: 400 },
    key: null,
    delay: null,
    priority: 0,
  }));

/**
 * The runs to the same end: several of one tenant, with a list longer than its window, and both mutexes. Items
 * stay long enough for the witness to see them together.
 */
export const openingRuns = (keys: string): RunOrder[] =>
  ["diamond", "solo", "diamond", "diamond", "solo"].map((workflow, index) => ({
    workflow,
    ...ordered(workflow, `${keys}-opening-${index}`, 5, (mark, item) => ({ ms: item ? 600 : 20, mark })),
    tenant: index < 3 ? "acme" : "bolt",
    priority: 9,
  }));

/** How likely the next run is to be submitted soon, and how likely it is a diamond. */
const RUNS: Readonly<Partial<Record<Mix, { readonly chance: number; readonly diamond: number }>>> = {
  all: { chance: 0.35, diamond: 0.75 },
  runs: { chance: 0.9, diamond: 0.75 },
  solos: { chance: 0.9, diamond: 0 },
};

/** The next runs to be submitted, which may be none. */
export function drawRuns(random: Random, keys: string, mix: Mix): RunOrder[] {
  const so = RUNS[mix];
  return so && random.chance(so.chance) ? [drawRun(random, keys, so.diamond)] : [];
}

function drawRun(random: Random, keys: string, diamond: number): RunOrder {
  const workflow = random.chance(diamond) ? "diamond" : "solo";
  const key = `${keys}-${random.below(2 ** 30)}`;
  // Items that stay long are inside together, however slow the machine.
  const most = random.chance(0.3) ? 800 : 120;
  const errand = (mark: string, item: boolean): Marked => ({
    ms: Math.round(random.between(5, item ? most : 150)),
    mark,
  });
  return {
    workflow,
    ...ordered(workflow, key, 3 + random.below(6), errand),
    tenant: random.pick(TENANTS),
    priority: random.chance(0.5) ? 9 : random.below(3),
  };
}

/** The order of a run with this many items in its list, if it has one. */
function ordered(
  workflow: string,
  key: string,
  items: number,
  errand: (mark: string, item: boolean) => Marked,
): Pick<RunOrder, "key" | "input"> {
  const one = (step: string) => [step, errand(markOf(key, step), false)] as const;
  if (workflow === "solo") return { key, input: Object.fromEntries(["one", "two"].map(one)) };
  const list = Array.from({ length: items }, (_, index) => errand(markOf(key, "list", index), true));
  return { key, input: { ...Object.fromEntries(["first", "left", "right", "last"].map(one)), list } };
}
