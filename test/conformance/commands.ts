// Random command lists for the differential test: calls to a store as plain data. Times are offsets and
// things are named by position, so that a list means the same on every store.

import fc from "fast-check";
import type { LaneSpec } from "../../src/store/lane.ts";
import { laneOf } from "../../src/store/lane.ts";
import type { LaneState, Recovery } from "../../src/store/store.ts";

const lane = (queue: string, task: string, asks: Record<string, number>): LaneSpec =>
  laneOf(
    queue,
    task,
    Object.entries(asks).map(([gate, slots]) => ({ gate, slots })),
  );

export const LANES: readonly LaneSpec[] = [
  lane("mail", "send", { "pool:smtp": 1, "queue:mail": 1 }),
  lane("mail", "bulk", { cluster: 1, "pool:smtp": 3, "queue:mail": 1 }),
  lane("money", "bill", { cluster: 1, "queue:money": 1 }),
  lane("mail", "send", { "pool:tenant=acme": 2, "queue:mail": 1 }),
  lane("money", "audit", { "semaphore:default/z": 1, "mutex:default/m": 1, "queue:money": 1 }),
];
export const RUN_LANES: readonly LaneSpec[] = [
  lane("@runs", "nightly", { runs: 1, "tag:tenant=acme": 1 }),
  lane("@runs", "hourly", { runs: 1 }),
];

/** The lane of a run's steps. */
export const stepLane = (run: string): LaneSpec =>
  lane("mail", "send", { "pool:smtp": 1, [`run:${run}/steps`]: 1 });

/**
 * `windowOf` is the gate that limits how many items of a step are in flight; `itemLane` is the lane of these
 * items.
 */
export const windowOf = (run: string, step: string): string => `run:${run}/items/${step}`;
export const itemLane = (run: string, step: string): LaneSpec =>
  lane("mail", "send", { "pool:smtp": 1, [windowOf(run, step)]: 1 });

export const QUEUES = ["mail", "money"] as const;
export const TASKS = ["send", "bulk", "bill", "audit"] as const;
export const GATES = [
  "cluster",
  "mutex:default/m",
  "pool:smtp",
  "pool:tenant=*",
  "pool:tenant=acme",
  "queue:mail",
  "queue:money",
  "semaphore:default/z",
] as const;

/** A position among the things that exist by then, taken modulo their number. */
type Ref = number;

export interface NewUnit {
  readonly lane: number;
  readonly priority: number;
  readonly key: string | null;
  readonly when: { readonly delayMs: number } | { readonly in: number } | null;
  readonly good: { readonly forMs: number } | { readonly in: number } | null;
}

export interface NewRunOf extends Omit<NewUnit, "good"> {
  readonly direct: boolean;
  readonly graph: number;
}

/** The decisions about every run that is seen. */
export interface Moving {
  readonly start: boolean;
  readonly limit: number;
  readonly timeoutMs: number | null;
  readonly open: number;
  readonly claimTimeoutMs: number | null;
  readonly delayMs: number | null;
  readonly read: boolean;
  readonly finish: "succeeded" | "failed" | "cancelled" | null;
  /** The number of items of a new step over a list. Half of them are put in line at once. */
  readonly items: number | null;
  /** Puts the other half in line. */
  readonly more: boolean;
  readonly endItems: { readonly inFlight: boolean } | null;
  readonly endLine: boolean;
  readonly again: boolean;
}

export interface EndReport {
  readonly claim: Ref;
  /**
   * True: `claim` picks from all claims ever made, so mostly a stale one. False: from those not yet reported.
   */
  readonly ofAll: boolean;
  readonly to: "succeeded" | "failed" | "retry" | "returned" | "stopped";
  readonly delayMs: number;
  /** The unit's code keeps running. */
  readonly stopping: boolean;
}

interface Reporting {
  readonly session: Ref;
  readonly ends: readonly EndReport[];
  readonly began: readonly Ref[];
}

export type Command =
  | { readonly kind: "enqueue"; readonly units: readonly NewUnit[] }
  | (Reporting & {
      readonly kind: "exchange";
      readonly appetite: number;
      readonly hinted: boolean;
      readonly ownTurn: boolean;
      readonly draining: boolean;
    })
  | (Reporting & {
      readonly kind: "pass";
      readonly lanes: readonly number[];
      readonly want: number;
      readonly shared: boolean;
      readonly intake: boolean;
      readonly parked: boolean;
      readonly prefetching: number;
      readonly take: number;
      readonly held: boolean;
      readonly leaseMs: number | null;
      /** Also looks at the lanes of steps. */
      readonly steps: boolean;
      readonly start: boolean;
      readonly recover: Recovery["to"] | null;
      readonly move: {
        readonly to: LaneState;
        readonly age: number;
        readonly mark: boolean;
        readonly blocked: boolean;
      } | null;
    })
  | { readonly kind: "submit"; readonly runs: readonly NewRunOf[] }
  | { readonly kind: "letIn"; readonly take: number }
  | (Moving & { readonly kind: "move" })
  | { readonly kind: "cancelRun"; readonly run: Ref }
  | { readonly kind: "failRun"; readonly run: Ref }
  | { readonly kind: "pauseRun"; readonly run: Ref; readonly paused: boolean }
  | { readonly kind: "reprioritize"; readonly unit: Ref; readonly priority: number }
  | { readonly kind: "failWaiting"; readonly unit: Ref }
  | { readonly kind: "renewClaims"; readonly session: Ref }
  | { readonly kind: "resetTimers"; readonly afterMs: number | null }
  | { readonly kind: "readRun"; readonly run: Ref; readonly limit: number }
  | { readonly kind: "cancel"; readonly task: Ref }
  | { readonly kind: "retry"; readonly task: Ref }
  | { readonly kind: "limit"; readonly gate: number; readonly limit: number; readonly leaseMs: number | null }
  | { readonly kind: "gate"; readonly gate: number; readonly to: "declared" | "paused" | "resumed" }
  | {
      readonly kind: "declare";
      readonly app: string;
      readonly occasion: "deploy" | "start";
      readonly gates: readonly { readonly gate: number; readonly limit: number }[];
      readonly rank: number | null;
    }
  | { readonly kind: "deleteGate"; readonly gate: number }
  | { readonly kind: "tend" }
  | { readonly kind: "advance"; readonly ms: number }
  | { readonly kind: "open"; readonly leaseMs: number; readonly slots: number; readonly prefetch: number }
  | { readonly kind: "renew"; readonly session: Ref }
  | { readonly kind: "close"; readonly session: Ref }
  | { readonly kind: "progress"; readonly claim: Ref }
  | { readonly kind: "note"; readonly claims: readonly Ref[] }
  | { readonly kind: "read"; readonly task: Ref; readonly session: Ref };

const ref = fc.nat(40);
const oneOfList = <T>(list: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...list);
const span = fc.integer({ min: 1, max: 60 });
/** A value once in `every` times, null otherwise. */
const seldom = <T>(every: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: every - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });

const unit: fc.Arbitrary<NewUnit> = fc.record({
  lane: fc.nat(LANES.length - 1),
  priority: fc.integer({ min: -1, max: 2 }),
  key: seldom(4, oneOfList(["k0", "k1", "k2", "k3", "k4", "k5"])),
  when: seldom(
    5,
    fc.oneof(fc.record({ delayMs: span }), fc.record({ in: fc.integer({ min: -20, max: 60 }) })),
  ),
  good: seldom(4, fc.oneof(fc.record({ forMs: span }), fc.record({ in: span }))),
});

const run: fc.Arbitrary<NewRunOf> = fc.record({
  lane: fc.nat(RUN_LANES.length - 1),
  priority: fc.integer({ min: -1, max: 2 }),
  key: seldom(4, oneOfList(["k0", "k1", "k2"])),
  when: seldom(5, fc.record({ delayMs: span })),
  direct: fc.boolean(),
  graph: fc.nat(2),
});

const moving = {
  start: fc.nat(3).map((n) => n > 0),
  limit: fc.integer({ min: 1, max: 3 }),
  timeoutMs: fc.option(span),
  open: fc.nat(2),
  claimTimeoutMs: fc.option(span),
  delayMs: seldom(4, span),
  read: fc.boolean(),
  finish: seldom(4, oneOfList(["succeeded", "failed", "cancelled"] as const)),
  items: seldom(3, fc.nat(4)),
  more: fc.boolean(),
  endItems: seldom(4, fc.record({ inFlight: fc.boolean() })),
  endLine: fc.integer({ min: 0, max: 9 }).map((draw) => draw === 0),
  again: fc.boolean(),
};

const end: fc.Arbitrary<EndReport> = fc.record({
  claim: ref,
  ofAll: fc.boolean(),
  to: oneOfList(["succeeded", "failed", "retry", "returned", "stopped"] as const),
  stopping: fc.boolean(),
  delayMs: fc.oneof(fc.constant(0), span),
});

const reporting = {
  session: ref,
  ends: fc.array(end, { maxLength: 3 }),
  began: fc.array(ref, { maxLength: 2 }),
};

const move = fc.record({
  to: oneOfList(["open", "parked", "parked", "idle"] as const),
  age: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) }),
  mark: fc.boolean(),
  blocked: fc.boolean(),
});

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("enqueue" as const),
      units: fc.array(unit, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("exchange" as const),
      ...reporting,
      appetite: fc.integer({ min: 1, max: 5 }),
      hinted: fc.boolean(),
      ownTurn: fc.boolean(),
      draining: fc.nat(9).map((n) => n === 0),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      ...reporting,
      lanes: fc.uniqueArray(fc.nat(LANES.length - 1), { maxLength: LANES.length }),
      want: fc.integer({ min: 1, max: 5 }),
      shared: fc.boolean(),
      intake: fc.nat(3).map((n) => n > 0),
      parked: fc.boolean(),
      prefetching: fc.nat(3),
      take: fc.nat(4),
      held: fc.nat(2).map((n) => n > 0),
      leaseMs: seldom(3, span),
      steps: fc.boolean(),
      start: fc.boolean(),
      recover: fc.option(oneOfList(["waiting", "retry", "failed", "quarantined", "expired"] as const), {
        freq: 4,
      }),
      move: fc.option(move, { freq: 2 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("submit" as const),
      runs: fc.array(run, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("letIn" as const), take: fc.nat(3) }) },
  { weight: 9, arbitrary: fc.record({ kind: fc.constant("move" as const), ...moving }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancelRun" as const), run: ref }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("failRun" as const), run: ref }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("pauseRun" as const), run: ref, paused: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("reprioritize" as const),
      unit: ref,
      priority: fc.integer({ min: -2, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("failWaiting" as const), unit: ref }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("renewClaims" as const), session: ref }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("resetTimers" as const), afterMs: fc.option(span) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("readRun" as const),
      run: ref,
      limit: fc.integer({ min: 1, max: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("cancel" as const), task: ref }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("retry" as const), task: ref }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("limit" as const),
      gate: fc.nat(GATES.length - 1),
      limit: oneOfList([-1, 0, 1, 2, 3, 5, 9]),
      leaseMs: seldom(4, span),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("gate" as const),
      gate: fc.nat(GATES.length - 1),
      to: oneOfList(["declared", "paused", "resumed"] as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("declare" as const),
      app: oneOfList(["shop", "web"]),
      occasion: oneOfList(["deploy", "start"] as const),
      gates: fc.uniqueArray(
        fc.record({ gate: fc.nat(GATES.length - 1), limit: fc.integer({ min: 1, max: 6 }) }),
        {
          maxLength: 4,
          selector: ({ gate }) => gate,
        },
      ),
      rank: seldom(4, fc.integer({ min: 1, max: 3 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("deleteGate" as const),
      gate: fc.nat(GATES.length - 1),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("tend" as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("advance" as const), ms: fc.integer({ min: 1, max: 50 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("open" as const),
      leaseMs: fc.integer({ min: 20, max: 150 }),
      slots: fc.integer({ min: 1, max: 4 }),
      prefetch: oneOfList([0, 0, 2]),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("renew" as const), session: ref }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("close" as const), session: ref }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("progress" as const), claim: ref }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("note" as const), claims: fc.array(ref, { maxLength: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("read" as const), task: ref, session: ref }) },
);

/**
 * Every list begins with a worker, some tasks and a run, so that half of it does not run on an empty store.
 */
export const commandList = (length: number): fc.Arbitrary<Command[]> =>
  fc
    .tuple(
      fc.array(unit, { minLength: 3, maxLength: 8 }),
      fc.array(run, { minLength: 1, maxLength: 3 }),
      fc.array(command, { minLength: Math.ceil(length / 2), maxLength: length }),
    )
    .map(([units, runs, rest]) => [
      { kind: "open", leaseMs: 150, slots: 3, prefetch: 0 },
      { kind: "limit", gate: GATES.indexOf("pool:smtp"), limit: 4, leaseMs: null },
      { kind: "limit", gate: GATES.indexOf("pool:tenant=*"), limit: 3, leaseMs: null },
      { kind: "enqueue", units },
      {
        kind: "exchange",
        session: 0,
        appetite: 3,
        ends: [],
        began: [],
        hinted: true,
        ownTurn: true,
        draining: false,
      },
      { kind: "submit", runs },
      {
        kind: "move",
        start: true,
        limit: 2,
        timeoutMs: 40,
        open: 2,
        claimTimeoutMs: 20,
        delayMs: null,
        read: false,
        finish: null,
        items: 3,
        more: false,
        endItems: null,
        endLine: false,
        again: true,
      },
      ...rest,
    ]);
